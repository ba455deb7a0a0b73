/**
 * Work that continues in the background while a caller waits for it only as long as that is useful:
 * the end of a recipe (release, close, leave) never waits for a connection.
 */
import type { Client } from '../../api/client.js';

/**
 * Settles with the work, or resolves at once while there is no connection. The work then continues,
 * and its later rejection is not reported.
 */
export async function ignoreIfDisconnected(client: Client, work: Promise<unknown>): Promise<void> {
  work.catch(() => {
    // A caller that still waits receives the error; otherwise nobody needs it.
  });
  if (client.state !== 'connected') return;
  let stop = () => {};
  const away = new Promise<void>((resolve) => {
    stop = client.onState(({ state }) => {
      if (state !== 'connected') resolve();
    });
  });
  try {
    await Promise.race([work, away]);
  } finally {
    stop();
  }
}
