/**
 * Work that goes on in the background while somebody waits for it as long as that makes sense: an
 * end (release, close, leave) never waits for a connection. Used by the recipes' ends.
 */
import type { Client } from '../../api/client.js';

/**
 * Settles as the work does, or resolves at once while there is no connection: the work goes on.
 * What it rejects with later is not reported.
 */
export async function unlessAway(client: Client, work: Promise<unknown>): Promise<void> {
  work.catch(() => {
    // Whoever is still here is told; nobody has to be.
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
