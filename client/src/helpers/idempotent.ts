/**
 * Versions of create, set and delete that continue after a lost reply. The operation is sent again;
 * if its error could be caused by the success of an earlier attempt, the znode is read to decide.
 *
 * All attempts belong to one session, the current one by default. The znode counts as ours if it
 * was created, or changed, after everything this client had seen at the start (czxid, mzxid), by
 * this session if it is ephemeral, with exactly this data, and was not changed since (version).
 * There are limits. If another client creates or sets the same data at the same path at that
 * moment, both believe that it was theirs, so do not elect leaders with these. Changes that others
 * make between two attempts are overridden: a deleted znode is created again, a value is
 * overwritten unless a version is given, a znode that was created again is deleted. Sequential
 * znodes are refused, because nothing in their names shows who has created them. As in
 * deleteRecursive, `timeoutMs` applies to each operation, and the signal to the whole call. Called
 * by applications.
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
import { exponentialBackoff, type RetryPolicy } from '../api/retry-policy.js';
import type { Created, Data, Node, OperationOptions, Stat, VersionOptions } from '../api/values.js';
import { type CreateRecursiveOptions, createAsAsked } from './create-recursive.js';
import { operationOptions } from './options.js';
import { retry } from './retry.js';

export interface Patience {
  /** By default 10 retries with growing delays of up to 2 seconds. */
  readonly policy?: RetryPolicy | undefined;
}

/** Losing so many races in a row means that another client does the same in a loop. */
const ROUNDS_MAX = 64;
const POLICY = exponentialBackoff({ baseMs: 50, maxMs: 2_000, attemptsMax: 10 });

/**
 * Like `client.create`, or createRecursive if `parents` is given. If a NodeExistsError is
 * `ambiguous`, the znode may be ours, but somebody has changed it since, or it may not be read.
 * Rejects with BadArgumentsError for sequential modes.
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
        // It was deleted since, so it is created again.
        if (round === ROUNDS_MAX) throw error;
      }
    }
  });
}

/**
 * Like `client.setData`. Without a version, the znode has the data at the end, though another
 * client may have written it. With a version, rejects with BadVersionError if somebody else's write
 * came first; it is `ambiguous` if there were several changes, because the first of them may have
 * been ours.
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
      // The member to which the client is connected now may not have applied our write yet.
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
 * Like `client.delete`, but a missing znode is not an error: resolves with false then, and with
 * true if this call deleted the znode or may have.
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

/**
 * A client that has seen no zxid yet would take any existing znode for a new one, so it reads
 * first.
 */
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

/** `doubt` means that an earlier attempt may have taken effect. */
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
  /** Whether the znode was created or changed since we began, and by this client. */
  readonly isMade: (stat: Stat) => boolean;
  readonly data: Data;
}

/** Throws an ambiguous error if it cannot be determined. */
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

/**
 * After the largest version comes the smallest, and -1, which means any version, is skipped
 * (ZOOKEEPER-4743).
 */
function nextVersion(version: number): number {
  const next = (version + 1) | 0;
  return next === -1 ? 0 : next;
}
