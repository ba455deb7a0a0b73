/**
 * Puts entries into a queue: either all of one call or none, exactly once, in the current session.
 *
 * The names of entries cannot contain a GUID, so each put is committed with a marker (see
 * commit-once.ts). An error without `ambiguous` means that nothing was put. Used by the queues.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { TransactionError } from '../../api/errors.js';
import type { Acl, Data } from '../../api/values.js';
import { withAmbiguity } from '../shared/doubt.js';
import type { WaitOptions } from '../shared/wait-scope.js';
import { commitOnce } from './commit-once.js';

export interface PutPlan {
  readonly directory: string;
  readonly marks: string;
  readonly acl: readonly Acl[] | undefined;
}

export interface NewEntry {
  /** Its name without the number. */
  readonly head: string;
  readonly data: Data;
}

export async function putEntries(
  client: Client,
  plan: PutPlan,
  entries: readonly NewEntry[],
  options: WaitOptions,
): Promise<void> {
  if (entries.length === 0) return;
  await withAmbiguity(client, plan.directory, options, async (within, doubt) => {
    const { acl, directory, marks } = plan;
    const given = acl === undefined ? {} : { acl };
    const ops = entries.map(({ head, data }) => {
      const path = joinPath(directory, head);
      return { kind: 'create', path, data, mode: 'persistentSequential', ...given } as const;
    });
    try {
      await commitOnce(client, { ops, marks, acl }, within, doubt);
    } catch (error) {
      throw error instanceof TransactionError ? error.error : error;
    }
  });
}
