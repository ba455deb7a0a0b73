/**
 * The leases of a semaphore: creates the znodes of one acquire, and waits until there are not too
 * many.
 *
 * Called only while the semaphore's gate is held, so that one client at a time watches the
 * directory. It would be safe even if two did, because each counts all znodes that existed when its
 * own did. Either all znodes become leases or none remains: an acquire that fails deletes what it
 * has created (CURATOR-335, CURATOR-595).
 */
import { NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { SuspendedPolicy } from '../../api/lease.js';
import type { Acl, Data } from '../../api/values.js';
import { onAbort } from '../../calls/abort-followers.js';
import { abandonContender, type Contender, createContender } from './contender.js';
import { CuratorName, curatorPrefix } from './curator.js';
import type { LeaseCount } from './lease-count.js';
import { LeaseHolder } from './lease-holder.js';
import { bounds, persist, type Within } from './persist.js';
import { inLine } from './sequence.js';
import { unlessAborted } from './wait-scope.js';

export interface LeaseSpace {
  readonly directory: string;
  readonly count: LeaseCount;
  readonly data: Data;
  readonly acl: readonly Acl[] | undefined;
  readonly onSuspended: SuspendedPolicy | undefined;
}

export interface Taking {
  readonly count: number;
  readonly gate: LeaseHolder;
  readonly within: Within;
}

/**
 * Resolves with the leases, or null if somebody deleted a znode of the acquire or of its place at
 * the gate.
 */
export async function takeLeases(
  client: Client,
  space: LeaseSpace,
  taking: Taking,
): Promise<LeaseHolder[] | null> {
  const contenders: Contender[] = [];
  const leases: LeaseHolder[] = [];
  try {
    await createAll(client, space, taking, contenders);
    if (!(await fits(client, space, taking, contenders))) return null;
    const { within } = taking;
    const terms = { onSuspended: space.onSuspended };
    for (const contender of contenders) {
      const lease = await LeaseHolder.begin(client, contender, within, terms);
      if (lease === null) return null;
      leases.push(lease);
    }
    return leases.every(({ held }) => held) ? leases : null;
  } finally {
    const isComplete = leases.length === taking.count && leases.every(({ held }) => held);
    if (!isComplete) giveBack(client, contenders, leases);
  }
}

/** Adds each znode to `made` as soon as it exists, so that none is forgotten. */
async function createAll(
  client: Client,
  space: LeaseSpace,
  { count, within }: Taking,
  made: Contender[],
): Promise<void> {
  const { directory: parent, data, acl } = space;
  const creations = Array.from({ length: count }, async () => {
    const prefix = curatorPrefix(client.surroundings.uuid(), CuratorName.lease);
    made.push(await createContender(client, { parent, prefix, data, acl }, within));
  });
  for (const result of await Promise.allSettled(creations)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

/** Waits until the znodes exist and are not too many; false if one has been deleted. */
async function fits(
  client: Client,
  space: LeaseSpace,
  { gate, within }: Taking,
  contenders: readonly Contender[],
): Promise<boolean> {
  let wake = () => {};
  const watcher = () => wake();
  // When the place at the gate is lost, others may wait for leases.
  const unfollow = onAbort(gate.signal, watcher);
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const options = { ...bounds(within), watcher };
      const [{ children }, countMax] = await persist(client, within, async () => [
        await client.getChildren(space.directory, options),
        await space.count.read(within, watcher),
      ]);
      const names = new Set(children);
      if (!gate.held || !contenders.every(({ name }) => names.has(name))) return false;
      // Znodes of others in the directory take no lease from anybody.
      if (inLine(children, [CuratorName.lease]).length <= countMax) return true;
      await unlessAborted(changed, within.signal);
    }
  } catch (error) {
    // Somebody has deleted the directory.
    if (error instanceof NoNodeError) return false;
    throw error;
  } finally {
    unfollow();
    client.removeWatcher(space.directory, watcher);
    space.count.unwatch(watcher);
  }
}

function giveBack(
  client: Client,
  contenders: readonly Contender[],
  leases: readonly LeaseHolder[],
): void {
  const leased = new Set(leases.map(({ path }) => path));
  for (const lease of leases) lease.release().catch(() => {}); // no caller has it yet
  for (const contender of contenders) {
    if (!leased.has(contender.path)) abandonContender(client, contender);
  }
}
