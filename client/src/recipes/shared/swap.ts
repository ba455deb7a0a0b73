/**
 * A write that takes effect only if the znode is still what it was when it was read, and whose
 * result is certain even after lost replies.
 *
 * After a lost reply the znode is read after a sync. If it still has the version, the write was not
 * applied and never will be, so it is tried again. If another write with different data has used
 * the version, ours was refused. Otherwise the outcome is unknown, because a znode does not tell
 * who wrote it: another client's identical write would be taken for ours, and a count would be
 * lost. Used by values and counters.
 */
import { BadVersionError, NodeExistsError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, Node, Stat } from '../../api/values.js';
import { ambiguousOf } from './ambiguous.js';
import { inContainer } from './container-parent.js';
import { bounds, isAmbiguous, isTrouble, pauseBetween, persist, type Within } from './persist.js';

export interface Swap {
  readonly path: string;
  readonly data: Buffer | null;
  /** The znode as it was read; if null, it is created. */
  readonly expected: Stat | null;
  readonly acl: readonly Acl[] | undefined;
}

export type Swapped =
  | { readonly kind: 'done'; readonly stat: Stat }
  /** Another write came first. */
  | { readonly kind: 'refused' }
  /** It cannot be determined; the error is `ambiguous`. */
  | { readonly kind: 'doubtful'; readonly error: unknown };

/** Throws errors that are not problems of the connection; then nothing was written. */
export async function swap(client: Client, wanted: Swap, within: Within): Promise<Swapped> {
  for (let attempt = 0; ; attempt++) {
    try {
      return { kind: 'done', stat: await write(client, wanted, within) };
    } catch (error) {
      if (isRefusal(error, wanted)) return { kind: 'refused' };
      const fate = isAmbiguous(error) ? await fateOf(client, wanted, within) : 'not-applied';
      if (fate === 'refused') return { kind: 'refused' };
      if (fate === 'doubtful') {
        const { aborted, reason } = within.signal;
        return { kind: 'doubtful', error: ambiguousOf(aborted ? reason : error, wanted.path) };
      }
      within.signal.throwIfAborted();
      if (!isTrouble(error)) throw error;
      await pauseBetween(client, attempt, within.signal);
    }
  }
}

/**
 * Resolves with null if there is none. The result is as new as everything that was committed when
 * it was called.
 */
export async function readNewest(
  client: Client,
  path: string,
  within: Within,
): Promise<Node | null> {
  return await persist(client, within, async () => {
    try {
      await client.sync(path, bounds(within));
      return await client.getData(path, bounds(within));
    } catch (error) {
      if (error instanceof NoNodeError) return null;
      throw error;
    }
  });
}

async function write(client: Client, wanted: Swap, within: Within): Promise<Stat> {
  const { path, data, expected, acl } = wanted;
  const options = bounds(within);
  if (expected !== null) {
    return await client.setData(path, data, { ...options, version: expected.version });
  }
  const given = acl === undefined ? options : { ...options, acl };
  const created = await inContainer(client, parentOf(path), { ...options, acl }, () =>
    client.create(path, data, given),
  );
  return created.stat;
}

function isRefusal(error: unknown, { expected }: Swap): boolean {
  if (expected === null) return error instanceof NodeExistsError;
  return error instanceof BadVersionError || error instanceof NoNodeError;
}

async function fateOf(
  client: Client,
  wanted: Swap,
  within: Within,
): Promise<'not-applied' | 'refused' | 'doubtful'> {
  const { data, expected } = wanted;
  let found: Node | null;
  try {
    found = await readNewest(client, wanted.path, within);
  } catch {
    // The session is over, the caller has given up, or it may not be read, so it stays unknown.
    return 'doubtful';
  }
  // If it was created and is already gone, a second one cannot be a duplicate.
  if (found === null) return expected === null ? 'not-applied' : 'doubtful';
  const { czxid, version } = found.stat;
  if (expected !== null) {
    if (czxid !== expected.czxid) return 'doubtful';
    if (version === expected.version) return 'not-applied';
  }
  const isNext = version === (expected === null ? 0 : nextVersion(expected.version));
  return isNext && !isSame(found.data, data) ? 'refused' : 'doubtful';
}

/**
 * After the largest version comes the smallest, and -1, which means any version, is skipped
 * (ZOOKEEPER-4743).
 */
function nextVersion(version: number): number {
  const next = (version + 1) | 0;
  return next === -1 ? 0 : next;
}

function isSame(left: Buffer | null, right: Buffer | null): boolean {
  return left === null || right === null ? left === right : left.equals(right);
}
