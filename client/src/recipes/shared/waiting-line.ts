/**
 * Waits in line for a lease: creates a znode at the end of the line, then waits for the znode that
 * blocks it, until none does. The recipe's rule decides which of the earlier znodes block.
 *
 * No earlier znode can be missed: each with a lower number was created before ours, and no read in
 * our session is older than our own create. So an outdated list shows too many znodes before ours,
 * never too few, and no sync is needed. Only the blocking znode is watched. An attempt that ends
 * without a lease leaves no znode. Used by the locks and the semaphore.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, Data } from '../../api/values.js';
import { abandonContender, type ContenderPlan, createContender } from './contender.js';
import { LockTimeoutError } from './errors.js';
import { LeaseHolder, type LeaseTerms } from './lease-holder.js';
import { bounds, persist, type Within } from './persist.js';
import { waitUntilGone } from './predecessor.js';
import { inLine, type Place } from './sequence.js';
import type { WaitOptions } from './wait-scope.js';
import { inSession } from './waiting.js';

export interface Line<Marker extends string = string> {
  readonly directory: string;
  /**
   * The markers in the names of znodes in line. If two have the same number, their order decides.
   */
  readonly markers: readonly Marker[];
  /** The prefix of a name, for a new UUID. */
  readonly prefix: (uuid: string) => string;
  readonly data: Data;
  readonly acl?: readonly Acl[] | undefined;
  readonly mode?: ContenderPlan['mode'];
  /** The znode in line that must be gone before `own` is first; null if `own` is first. */
  readonly blocker: (line: readonly Place<Marker>[], own: Place<Marker>) => Place<Marker> | null;
}

export interface SessionLossOptions {
  /**
   * What happens to a wait whose session is lost: 'fail' rejects with SessionExpiredError, because
   * the caller may hold other things that are lost too, and 'rejoin' goes to the end of the line in
   * the client's next session. By default a single wait fails, and loops rejoin.
   */
  readonly onSessionLost?: 'fail' | 'rejoin' | undefined;
}

/** Runs an acquire in the client's session; rejects with LockTimeoutError when its time is up. */
export function acquiring<T>(
  client: Client,
  path: string,
  options: WaitOptions & SessionLossOptions,
  attempt: (within: Within) => Promise<T>,
): Promise<T> {
  const timeoutError = () => new LockTimeoutError(path, options.timeoutMs ?? 0);
  return inSession(client, { ...options, timeoutError }, attempt);
}

/** Resolves with the lease once the contender is first in line. */
export async function leaseInLine<Marker extends string>(
  client: Client,
  line: Line<Marker>,
  within: Within,
  terms: LeaseTerms,
): Promise<LeaseHolder> {
  for (;;) {
    const result = await standInLine(client, line, within, { ...terms, mayWait: true });
    // Otherwise somebody deleted our znode while we waited, so we only lost our place.
    if (result instanceof LeaseHolder) return result;
  }
}

/** Resolves with the lease if the contender is first in line at once, else with null. */
export async function leaseIfFirst<Marker extends string>(
  client: Client,
  line: Line<Marker>,
  within: Within,
  terms: LeaseTerms,
): Promise<LeaseHolder | null> {
  for (;;) {
    const result = await standInLine(client, line, within, { ...terms, mayWait: false });
    if (result === 'blocked') return null;
    if (result instanceof LeaseHolder) return result;
  }
}

async function standInLine<Marker extends string>(
  client: Client,
  line: Line<Marker>,
  within: Within,
  terms: LeaseTerms & { readonly mayWait: boolean },
): Promise<LeaseHolder | 'deleted' | 'blocked'> {
  const { directory: parent, data, acl, mode } = line;
  const prefix = line.prefix(client.surroundings.uuid());
  const contender = await createContender(client, { parent, prefix, data, acl, mode }, within);
  let lease: LeaseHolder | null = null;
  try {
    for (;;) {
      const places = await placesIn(client, line, within);
      const own = places.find(({ name }) => name === contender.name);
      if (own === undefined) return 'deleted';
      const blocker = line.blocker(places, own);
      if (blocker === null) {
        lease = await LeaseHolder.begin(client, contender, within, terms);
        return lease ?? 'deleted';
      }
      if (!terms.mayWait) return 'blocked';
      await waitUntilGone(client, joinPath(parent, blocker.name), within);
    }
  } finally {
    if (lease === null) abandonContender(client, contender);
  }
}

async function placesIn<Marker extends string>(
  client: Client,
  line: Line<Marker>,
  within: Within,
): Promise<Place<Marker>[]> {
  try {
    const { children } = await persist(client, within, () =>
      client.getChildren(line.directory, bounds(within)),
    );
    return inLine(children, line.markers);
  } catch (error) {
    // Somebody has deleted the directory, and with it every place in line.
    if (error instanceof NoNodeError) return [];
    throw error;
  }
}

/** The rule of an exclusive lock: the znode directly before blocks, whatever its kind. */
export function nextBefore<Marker extends string>(
  line: readonly Place<Marker>[],
  own: Place<Marker>,
): Place<Marker> | null {
  const index = line.indexOf(own);
  return line[index - 1] ?? null;
}
