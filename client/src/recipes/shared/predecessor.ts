/**
 * Waiting for one znode to go: for the next in line before us, never for the directory, so that a
 * release wakes one waiter and not the herd.
 *
 * The watch is left by getData and not by exists: on a znode that is gone already getData leaves
 * none, while exists would leave one on the server for a name that never comes back. The wait ends
 * with the deletion, the scope's signal, the session or the client; its watcher is then removed.
 * The client carries the watch over lost connections; nothing is polled.
 */
import { NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { WatchEvent } from '../../api/values.js';
import { ClientClosedError } from '../../errors.js';
import { bounds, persist, type Within } from './persist.js';
import { unlessAborted } from './wait-scope.js';

/** Resolves when there is no znode at the path; looks again after each event that is not that. */
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
