/**
 * The parents of recipes' znodes are containers. The server removes them some time after they have
 * become empty, so unused locks leave nothing behind.
 *
 * A container may be removed at any moment between its creation and that of a child. So its
 * existence is not ensured beforehand: the child is created, and if its parent is missing, the
 * parent is created and then the child again (kazoo #61, #563).
 */
import { NodeExistsError, NoNodeError, parentOf, UnimplementedError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, OperationOptions } from '../../api/values.js';
import { ensurePath } from '../../helpers/ensure-path.js';
import { absolute } from '../../helpers/namespaced-client.js';

export interface ParentOptions extends OperationOptions {
  /** The ACL of the parents; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

/**
 * The server looks for empty containers once a minute and spares those that never had a child, so
 * even a second attempt is rare. Beyond this number somebody else deletes the parent, and the
 * caller gets NoNodeError.
 */
const ATTEMPTS_MAX = 10;

/**
 * Runs an operation that creates something in `parent`. If the parent is missing, creates it and
 * runs the operation again. The root of a namespace or chroot is created with persistent znodes,
 * because it belongs to the application and must not vanish while no recipe uses it.
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

/**
 * Creates the path and its missing ancestors as containers. It may be repeated any number of times.
 */
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

/** For servers before 3.5.1, which do not support containers. */
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
