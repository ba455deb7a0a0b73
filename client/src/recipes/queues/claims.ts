/**
 * The two ways in which a consumer gets an entry: removing it (at most once), or locking it (at
 * least once, see held-entry.ts). Both tolerate lost replies: a removal is committed with a marker
 * (commit-once.ts), and the data of a lock's znode begins with a GUID, and the lock is watched for
 * as long as it is held.
 */
import { BadVersionError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { TransactionError } from '../../api/errors.js';
import type { Acl, Node } from '../../api/values.js';
import type { Doubt } from '../shared/doubt.js';
import { bounds, persist, untilOver, type Within } from '../shared/persist.js';
import { commitOnce } from './commit-once.js';
import type { Entry } from './entry-source.js';

export interface ClaimPlan {
  /** The directory of the markers. */
  readonly marks: string;
  readonly acl: readonly Acl[] | undefined;
  /** The data of locks after the GUID, for people. */
  readonly holderName?: string | undefined;
  /** The directory of the entries below the path of a queue; by default the path itself. */
  readonly entriesIn?: string | undefined;
  /** Called when an entry that was locked here has been given back. */
  readonly onGivenBack?: (() => void) | undefined;
}

/**
 * Removes the entry and resolves with its data, or null if there is no such entry. The caller's
 * signal ends it only until the removal is sent. After that it waits for the outcome for as long as
 * the session lives, because an entry that is removed must be delivered to somebody.
 */
export async function removeEntry(
  client: Client,
  entry: Entry,
  plan: ClaimPlan,
  { within, doubt }: { readonly within: Within; readonly doubt: Doubt },
): Promise<{ readonly data: Buffer | null } | null> {
  for (;;) {
    const node = await readOrNull(client, entry.path, within);
    if (node === null) return null;
    within.signal.throwIfAborted();
    const ops = [{ kind: 'delete', path: entry.path, version: node.stat.version } as const];
    try {
      await commitOnce(client, { ops, ...plan }, untilOver(within.session), doubt);
      return { data: node.data };
    } catch (error) {
      if (!(error instanceof TransactionError)) throw error;
      if (error.error instanceof NoNodeError) return null;
      if (!(error.error instanceof BadVersionError)) throw error.error;
    }
  }
}

export async function readOrNull(
  client: Client,
  path: string,
  within: Within,
): Promise<Node | null> {
  try {
    return await persist(client, within, () => client.getData(path, bounds(within)));
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}
