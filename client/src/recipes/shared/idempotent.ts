/**
 * Writes that may be repeated, so that lost replies are no trouble: a znode that shall be there, a
 * znode that shall not. Only for names that nobody else creates and deletes at the same time, or
 * where it does not matter whose doing it was. Go on until answered, within one session.
 */
import { NodeExistsError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { CreateOptions, Data } from '../../api/values.js';
import { inContainer } from './container-parent.js';
import { bounds, persist, type Within } from './persist.js';

/** Creates it, with containers above it, unless it is there; whether it may have been this call. */
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

/** Deletes it unless it is gone already, with `version` only if it has that. */
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
