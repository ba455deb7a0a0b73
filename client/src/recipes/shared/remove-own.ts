/**
 * Deleting a znode with a name that others use as well, at the end of whoever kept it: an ephemeral
 * one only if it is this session's, and a create on its way is not overtaken. In the background,
 * over lost connections. Used by the recipes that keep a znode.
 */
import { NoNodeError, NotEmptyError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { bounds, persist, type Within } from './persist.js';

export interface OwnedNode {
  readonly path: string;
  readonly isEphemeral: boolean;
}

/** Resolves when none of the session's is there, or for a container when it is in use by others. */
export async function removeOwn(client: Client, node: OwnedNode, within: Within): Promise<void> {
  const { path, isEphemeral } = node;
  const options = bounds(within);
  await persist(client, within, async () => {
    try {
      // What was sent before a lost connection, and has taken effect, is to be seen.
      await client.sync(path, options);
      const stat = await client.exists(path, options);
      if (stat === null || (isEphemeral && stat.ephemeralOwner !== within.session.id)) return;
      await client.delete(path, options);
    } catch (error) {
      if (!(error instanceof NoNodeError || error instanceof NotEmptyError)) throw error;
    }
  });
}
