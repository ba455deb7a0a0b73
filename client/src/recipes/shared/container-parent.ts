/**
 * Parents of recipes' znodes: containers, which the server removes some time after they have become
 * empty, so that locks that nobody uses any more leave nothing behind.
 *
 * A container may be removed at any moment between making sure of it and creating a child in it;
 * therefore nothing is made sure of beforehand: the child's creation is tried, and when its parent
 * is missing that is created and the child's creation tried again (kazoo #61, #563).
 */
import { NodeExistsError, NoNodeError, parentOf, UnimplementedError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, OperationOptions } from '../../api/values.js';
import { ensurePath } from '../../helpers/ensure-path.js';
import { absolute } from '../../helpers/namespaced-client.js';

export interface ParentOptions extends OperationOptions {
  /** Of the parents; open by default. */
  readonly acl?: readonly Acl[] | undefined;
}

/**
 * The reaper passes once a minute and spares what was never used, so a second time is rare already.
 * More often than this it is something else that deletes the parent; then NoNodeError is the
 * answer.
 */
const ATTEMPTS_MAX = 10;

/**
 * Runs what creates something in `parent`; whenever that is missing, creates it and runs again.
 * The root of a namespace or chroot is created as persistent znodes: it is the application's own,
 * and must not vanish while no recipe uses it.
 */
export async function inContainer<T>(
  client: Client,
  parent: string,
  options: ParentOptions,
  create: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof NoNodeError) || attempt === ATTEMPTS_MAX) throw error;
      if (parent !== '/') await createContainers(client, parent, options);
      else if (absolute(client, '/').path !== '/') await ensurePath(client, '/', options);
      else throw error;
    }
  }
}

/** Creates the path, and what is missing above it, as containers; may be repeated at will. */
export async function createContainers(
  client: Client,
  path: string,
  options: ParentOptions,
): Promise<void> {
  await inContainer(client, parentOf(path), options, () => createContainer(client, path, options));
}

async function createContainer(
  client: Client,
  path: string,
  options: ParentOptions,
): Promise<void> {
  const { acl, ...operation } = options;
  const given = acl === undefined ? operation : { ...operation, acl };
  try {
    await client.create(path, null, { ...given, mode: 'container' });
  } catch (error) {
    if (error instanceof NodeExistsError) return;
    if (!(error instanceof UnimplementedError)) throw error;
    await createPersistent(client, path, given);
  }
}

/** For servers before 3.5.1, which know no containers. */
async function createPersistent(
  client: Client,
  path: string,
  options: Omit<ParentOptions, 'acl'> & { readonly acl?: readonly Acl[] },
): Promise<void> {
  try {
    await client.create(path, null, options);
  } catch (error) {
    if (!(error instanceof NodeExistsError)) throw error;
  }
}
