/**
 * Deletes a znode with a name that others use too, when the recipe that kept it ends. An ephemeral
 * znode is deleted only if it belongs to this session, and never before a create that is still in
 * flight. It continues across lost connections. Used by the recipes that keep a znode.
 */
import { NoNodeError, NotEmptyError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { bounds, persist, type Within } from './persist.js';

export interface OwnedNode {
  readonly path: string;
  readonly isEphemeral: boolean;
}

/** Resolves when no znode of the session is there, or, for a container, when others use it. */
export async function removeOwn(client: Client, node: OwnedNode, within: Within): Promise<void> {
  const { path, isEphemeral } = node;
  const options = bounds(within);
  await persist(client, within, async () => {
    try {
      // A create that was sent before a lost connection, and has taken effect, must be visible.
      await client.sync(path, options);
      const stat = await client.exists(path, options);
      if (stat === null || (isEphemeral && stat.ephemeralOwner !== within.session.id)) return;
      await client.delete(path, options);
    } catch (error) {
      if (!(error instanceof NoNodeError || error instanceof NotEmptyError)) throw error;
    }
  });
}
