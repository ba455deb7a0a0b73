/**
 * Writes that may be repeated after lost replies: ensuring that a znode exists or does not exist.
 * Only for names that nobody else creates and deletes at the same time, or if it does not matter
 * who did it. They continue until answered, within one session.
 */
import { NodeExistsError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { CreateOptions, Data } from '../../api/values.js';
import { inContainer } from './container-parent.js';
import { bounds, persist, type Within } from './persist.js';

/**
 * Creates the znode, with containers above it, unless it exists. Resolves with whether this call
 * may have created it.
 */
export async function ensureThere(
  client: Client,
  path: string,
  { data = null, ...options }: Pick<CreateOptions, 'acl' | 'mode' | 'ttlMs'> & { data?: Data },
  within: Within,
): Promise<boolean> {
  const parents = { ...bounds(within), acl: options.acl };
  try {
    await persist(client, within, () =>
      inContainer(client, parentOf(path), parents, () =>
        client.create(path, data, { ...bounds(within), ...options }),
      ),
    );
    return true;
  } catch (error) {
    if (error instanceof NodeExistsError) return false;
    throw error;
  }
}

/** Deletes the znode unless it is already gone; with `version`, only if it has that version. */
export async function ensureGone(
  client: Client,
  path: string,
  within: Within,
  version = -1,
): Promise<void> {
  try {
    await persist(client, within, () => client.delete(path, { ...bounds(within), version }));
  } catch (error) {
    if (!(error instanceof NoNodeError)) throw error;
  }
}
