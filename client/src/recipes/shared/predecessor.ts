/**
 * Waits for one znode to be deleted. A waiter watches only the next in line before it, never the
 * directory, so a release wakes one waiter and not all of them.
 *
 * The watch is left by getData and not by exists: if the znode is already gone, getData leaves
 * none, while exists would leave one on the server for a name that is never reused. The wait ends
 * with the deletion, the scope's signal, the session or the client, and its watcher is then
 * removed. The client keeps the watch across lost connections; nothing is polled.
 */
import { NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { ClientClosedError } from '../../api/errors.js';
import type { WatchEvent } from '../../api/values.js';
import { bounds, persist, type Within } from './persist.js';
import { unlessAborted } from './wait-scope.js';

/**
 * Resolves when there is no znode at the path. Checks again after each event that is not the
 * deletion.
 */
export async function waitUntilGone(client: Client, path: string, within: Within): Promise<void> {
  while (!(await isGoneAfterEvent(client, path, within)));
}

async function isGoneAfterEvent(client: Client, path: string, within: Within): Promise<boolean> {
  let onEvent: (event: WatchEvent) => void = () => {};
  const changed = new Promise<WatchEvent>((resolve) => {
    onEvent = resolve;
  });
  const watcher = (event: WatchEvent) => onEvent(event);
  try {
    await persist(client, within, () => client.getData(path, { ...bounds(within), watcher }));
    const event = await unlessAborted(changed, within.signal);
    if (event.type === 'lost') throw new SessionExpiredError(path);
    if (event.type === 'closed') throw new ClientClosedError();
    return event.type === 'deleted';
  } catch (error) {
    if (error instanceof NoNodeError) return true;
    throw error;
  } finally {
    client.removeWatcher(path, watcher);
  }
}
