/**
 * Create, set and delete that go on after a lost reply: each is asked again, and when the answer
 * could be the echo of its own first attempt, what stands there is read and decides.
 *
 * All attempts belong to one session, the present one by default. What is decided on: the znode was
 * made, or changed, after everything this client had seen when it began (czxid, mzxid), by the
 * session if it is ephemeral, with the very data, and by nobody since (version). Limits: another
 * client that creates or sets the same data at the same path at that moment cannot be told from
 * us, so these do not elect anybody; what others do between two attempts is not undone: a znode
 * deleted in between is created again, a value written in between is overwritten unless a version
 * is given, a znode created anew in between is deleted. Sequential znodes have no name to look for:
 * put a GUID in it. Called by applications.
 */
import {
  BadArgumentsError,
  BadVersionError,
  CreateFlag,
  isEphemeralFlag,
  isSequentialFlag,
  KeeperError,
  NoAuthError,
  NodeExistsError,
  NoNodeError,
} from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Created, Data, Node, OperationOptions, Stat, VersionOptions } from '../api/values.js';
import { type CreateRecursiveOptions, createAsAsked } from './create-recursive.js';
import { operationOptions } from './options.js';
import { retry } from './retry.js';
import { exponentialBackoff, type RetryPolicy } from './retry-policy.js';

export interface Patience {
  /** By default 10 retries with growing delays up to 2 seconds. */
  readonly policy?: RetryPolicy | undefined;
}

/** Losing so many races in a row is somebody's loop. */
const ROUNDS_MAX = 64;
const POLICY = exponentialBackoff({ baseMs: 50, maxMs: 2_000, attemptsMax: 10 });

/**
 * As `client.create` (with `parents`, as createRecursive). A NodeExistsError that is `ambiguous`
 * may be about our own znode, which somebody has changed since or does not let us read.
 */
export async function idempotentCreate(
  client: Client,
  path: string,
  data: Data = null,
  options: CreateRecursiveOptions & Patience = {},
): Promise<Created> {
  const flag = CreateFlag[options.mode ?? 'persistent'];
  if (isSequentialFlag(flag)) throw new BadArgumentsError(path);
  const since = await zxidSeen(client, path, options);
  return await insist(client, options, async (operation, doubt) => {
    const owner = isEphemeralFlag(flag) ? (operation.session ?? 0n) : 0n;
    const isMade = (stat: Stat) => stat.czxid > since && stat.ephemeralOwner === owner;
    for (let round = 1; ; round++) {
      try {
        return await createAsAsked(client, path, data, { ...options, ...operation });
      } catch (error) {
        if (!doubt || !(error instanceof NodeExistsError)) throw error;
        const found = await readBack(client, path, operation);
        if (found !== null && !isOurs(found, { path, isMade, data })) throw error;
        if (found !== null) return { path, stat: found.stat };
        // Deleted since: it is created again.
        if (round === ROUNDS_MAX) throw error;
      }
    }
  });
}

/**
 * As `client.setData`. Without a version the data is there at the end, though perhaps not by our
 * hand. With one, BadVersionError when another was faster; `ambiguous` when it has been changed
 * more than once, so that the first change may have been ours.
 */
export async function idempotentSet(
  client: Client,
  path: string,
  data: Data,
  options: VersionOptions & Patience = {},
): Promise<Stat> {
  const { version = -1 } = options;
  const since = await zxidSeen(client, path, options);
  return await insist(client, options, async (operation, doubt) => {
    if (doubt) {
      // The member that we are connected to now may not know yet what we have written.
      await client.sync(path, operation);
      const { stat, ...node } = await client.getData(path, operation);
      const isNext = version === -1 || stat.version === nextVersion(version);
      if (isNext && stat.mzxid > since && isSame(node.data, data)) return stat;
      if (version !== -1 && stat.version !== version) {
        throw new BadVersionError(path, { ambiguous: !isNext });
      }
    }
    return await client.setData(path, data, { ...operation, version });
  });
}

/**
 * As `client.delete`, but that the znode is gone already is no error: false then, true when it was
 * deleted by this call, or may have been.
 */
export async function idempotentDelete(
  client: Client,
  path: string,
  options: VersionOptions & Patience = {},
): Promise<boolean> {
  const { version = -1 } = options;
  return await insist(client, options, async (operation, doubt) => {
    try {
      await client.delete(path, { ...operation, version });
      return true;
    } catch (error) {
      if (error instanceof NoNodeError) return doubt;
      throw error;
    }
  });
}

/** A client that has seen nothing yet would take whatever is there for new: it looks first. */
async function zxidSeen(
  client: Client,
  path: string,
  options: OperationOptions & Patience,
): Promise<bigint> {
  if (client.lastZxidSeen === 0n) {
    await insist(client, options, (operation) => client.exists(path, operation));
  }
  return client.lastZxidSeen;
}

/** `doubt`: an earlier attempt may have taken effect. */
async function insist<T>(
  client: Client,
  options: OperationOptions & Patience,
  operation: (options: OperationOptions, doubt: boolean) => Promise<T>,
): Promise<T> {
  const { policy = POLICY, timeoutMs, ...bounds } = options;
  const deadline = timeoutMs === undefined ? {} : { timeoutMs };
  let doubt = false;
  const attempt = async (_: number, given: OperationOptions) => {
    try {
      return await operation({ ...operationOptions(given), ...deadline }, doubt);
    } catch (error) {
      doubt ||= error instanceof KeeperError && error.ambiguous;
      throw error;
    }
  };
  const { signal, session } = operationOptions(bounds);
  return await retry(client, policy, attempt, {
    ...(signal === undefined ? {} : { signal }),
    ...(session === undefined ? {} : { session }),
    idempotent: true,
  });
}

interface Suspicion {
  readonly path: string;
  /** Whether it was made at our time and for us. */
  readonly isMade: (stat: Stat) => boolean;
  readonly data: Data;
}

/** Throws an ambiguous error if nobody can tell. */
function isOurs(node: Node, { path, isMade, data }: Suspicion): boolean {
  if (!isMade(node.stat)) return false;
  if (node.stat.version === 0) return isSame(node.data, data);
  throw new NodeExistsError(path, { ambiguous: true });
}

async function readBack(
  client: Client,
  path: string,
  operation: OperationOptions,
): Promise<Node | null> {
  try {
    return await client.getData(path, operation);
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    if (!(error instanceof NoAuthError)) throw error;
    throw new NodeExistsError(path, { ambiguous: true, cause: error });
  }
}

function isSame(found: Buffer | null, data: Data): boolean {
  if (found === null || data === null) return found === null && data === null;
  return found.equals(typeof data === 'string' ? Buffer.from(data) : data);
}

/** Behind the largest comes the smallest, and -1, which means any, is passed over (ZK-4743). */
function nextVersion(version: number): number {
  const next = (version + 1) | 0;
  return next === -1 ? 0 : next;
}
