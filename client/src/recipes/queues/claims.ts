/**
 * How a queue's entry is got: by removing it, at most once, or by locking it, at least once (see
 * held-entry.ts). Both are safe against lost replies: a removal is committed with a mark
 * (commit-once.ts), a lock's znode begins with a GUID and is watched for as long as it is held.
 */
import { BadVersionError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, Node } from '../../api/values.js';
import { TransactionError } from '../../errors.js';
import type { Doubt } from '../shared/doubt.js';
import { bounds, persist, untilOver, type Within } from '../shared/persist.js';
import { commitOnce } from './commit-once.js';
import type { Entry } from './entry-source.js';

export interface ClaimPlan {
  /** Where marks are made. */
  readonly marks: string;
  readonly acl: readonly Acl[] | undefined;
  /** Data of the locks behind the GUID, for people. */
  readonly holderName?: string | undefined;
  /** Where entries are below a queue's path; the path itself by default. */
  readonly entriesIn?: string | undefined;
  /** Told when an entry that was locked has been given back here. */
  readonly onGivenBack?: (() => void) | undefined;
}

/**
 * The data of the entry, which is then removed; null when there is no such entry. The caller's
 * signal ends it until the removal is sent; after that the outcome is waited for as long as the
 * session lives, for an entry that is removed must be given to somebody.
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
