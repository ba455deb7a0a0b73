/**
 * Watches znodes by a client of the caller's identities, until the stream of changes ends.
 */
import type { WatchEvent } from '@rookery/client';
import type { Hearing, OpenWatch } from '@rookery/server/http';
import { hex } from '../command/values.js';
import type { ClientPool } from './client-pool.js';
import { asProblem } from './keeper-problem.js';

export function clientWatches(pool: ClientPool): OpenWatch {
  return ({ path, isRecursive, caller }, hearing) =>
    asProblem(async () => {
      const { client, release } = await pool.lease(caller);
      try {
        // Without the right to read it, the servers would tell of nothing.
        await client.getData(path);
        const onEvent = (event: WatchEvent): void => tell(event, hearing);
        const watch = await client.addWatch(path, onEvent, { recursive: isRecursive });
        return () => {
          void watch
            .remove()
            .catch(() => undefined)
            .finally(release);
        };
      } catch (error) {
        release();
        throw error;
      }
    }, path);
}

function tell(event: WatchEvent, hearing: Hearing): void {
  switch (event.type) {
    case 'created':
    case 'deleted':
    case 'dataChanged':
    case 'childrenChanged': {
      const zxid = event.zxid === null ? null : hex(event.zxid);
      hearing.onChange({ kind: event.type, path: event.path, zxid });
      return;
    }
    case 'resync':
      hearing.onLost({ zxid: null });
      return;
    default:
      hearing.onEnd();
  }
}
