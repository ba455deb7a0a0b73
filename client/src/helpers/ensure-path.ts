/**
 * Ensures that a path exists: creates the znode and its missing ancestors, one by one.
 *
 * It checks for existence before it creates, so that a client without the permission to create in a
 * directory can still use what is there. Others may create and delete the same paths meanwhile, for
 * instance the server when it removes empty containers. In a namespace (and under a chroot) the
 * znodes of the prefix are created too. It can be repeated any number of times and does not depend
 * on a session.
 */
import {
  KeeperError,
  keeperError,
  NoAuthError,
  NodeExistsError,
  NoNodeError,
  parentOf,
  UnimplementedError,
} from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, OperationOptions } from '../api/values.js';
import { absolute } from './namespaced-client.js';

/**
 * The mode of parents. The server removes a container some time after its last child was deleted.
 */
export type ParentMode = 'persistent' | 'container';

export interface EnsurePathOptions extends OperationOptions {
  /** 'persistent' by default. */
  readonly mode?: ParentMode | undefined;
  /** The ACL of the znodes that are created; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

/** Losing so many races in a row means that somebody deletes the path on purpose. */
const ROUNDS_MAX = 64;

/**
 * Rejects with NoAuthError, BadArgumentsError and others. ConnectionLossError and the like are
 * never `ambiguous`.
 */
export async function ensurePath(
  client: Client,
  path: string,
  options: EnsurePathOptions = {},
): Promise<void> {
  const { client: base, path: full } = absolute(client, path);
  try {
    await ensure(base, full, options);
  } catch (error) {
    throw unambiguous(error);
  }
}

/**
 * Runs an operation that creates something in a parent. If the parent is missing, creates it and
 * runs the operation again.
 */
export async function withParent<T>(
  parent: { readonly client: Client; readonly path: string },
  options: EnsurePathOptions,
  create: () => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof NoNodeError) || round === ROUNDS_MAX) throw error;
    }
    await ensurePath(parent.client, parent.path, options);
  }
}

async function ensure(base: Client, path: string, options: EnsurePathOptions): Promise<void> {
  const { mode = 'persistent', acl, ...operation } = options;
  if (path === '/' || (await isThere(base, path, operation))) return;
  const given = acl === undefined ? operation : { ...operation, acl };
  for (let round = 1; ; round++) {
    try {
      await createAs(base, path, { ...given, mode });
      return;
    } catch (error) {
      if (error instanceof NodeExistsError) return;
      const parent = parentOf(path);
      if (!(error instanceof NoNodeError) || parent === '/' || round === ROUNDS_MAX) throw error;
      await ensure(base, parent, options);
    }
  }
}

async function isThere(base: Client, path: string, options: OperationOptions): Promise<boolean> {
  try {
    return (await base.exists(path, options)) !== null;
  } catch (error) {
    // A znode that may not be read exists.
    if (error instanceof NoAuthError) return true;
    throw error;
  }
}

/** Servers before 3.5.1 do not support containers. */
async function createAs(base: Client, path: string, options: EnsurePathOptions): Promise<void> {
  try {
    await base.create(path, null, options);
  } catch (error) {
    if (!(error instanceof UnimplementedError) || options.mode !== 'container') throw error;
    await base.create(path, null, { ...options, mode: 'persistent' });
  }
}

/** It does not matter whether a parent was created, because it is needed in either case. */
function unambiguous(error: unknown): unknown {
  if (!(error instanceof KeeperError) || !error.ambiguous) return error;
  return keeperError(error.code, error.path, { ambiguous: false, cause: error });
}
