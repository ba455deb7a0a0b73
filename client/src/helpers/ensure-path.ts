/**
 * Making sure that a path exists: it and what is missing above it are created, one by one.
 *
 * Looks before it creates: who may not create in a directory may still use what is there. Others
 * may create and delete the same paths meanwhile, a container's reaper for one. In a namespace (and
 * under a chroot) the znodes of the prefix itself are created as well. May be repeated at will;
 * depends on no session.
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

/** Of parents: the server removes containers some time after their last child. */
export type ParentMode = 'persistent' | 'container';

export interface EnsurePathOptions extends OperationOptions {
  /** 'persistent' by default. */
  readonly mode?: ParentMode | undefined;
  /** Of the znodes created; open by default. */
  readonly acl?: readonly Acl[] | undefined;
}

/** Losing so many races in a row is no race any more, but somebody who deletes on purpose. */
const ROUNDS_MAX = 64;

/** NoAuthError, BadArgumentsError...; ConnectionLossError and the like are never `ambiguous`. */
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

/** Runs what creates something in a parent; whenever that is missing, creates it and runs again. */
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
    // It may not be read, so it is there.
    if (error instanceof NoAuthError) return true;
    throw error;
  }
}

/** Servers before 3.5.1 know no containers. */
async function createAs(base: Client, path: string, options: EnsurePathOptions): Promise<void> {
  try {
    await base.create(path, null, options);
  } catch (error) {
    if (!(error instanceof UnimplementedError) || options.mode !== 'container') throw error;
    await base.create(path, null, { ...options, mode: 'persistent' });
  }
}

/** Whether a parent was created does not matter to anybody: it is needed either way. */
function unambiguous(error: unknown): unknown {
  if (!(error instanceof KeeperError) || !error.ambiguous) return error;
  return keeperError(error.code, error.path, { ambiguous: false, cause: error });
}
