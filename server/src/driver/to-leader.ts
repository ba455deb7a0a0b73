/**
 * Sends what a turn has collected to the leader, in the order in which it must arrive.
 *
 * Writes come first, then syncs, then attaches. A session that returns on a new connection thus
 * attaches after everything that its old connection sent through this member; the leader accepts
 * nothing from the old attachment afterwards. Keeps nothing. Called by the driver at the end of
 * each turn.
 */
import { chunksByBytes } from '@rookery/protocol';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Counters } from './counters.js';
import type { LeaderMessage } from './leader-queue.js';

/** Bytes of requests in one message. A single request always fits into a frame. */
const MESSAGE_BYTES_MAX = 1 << 20;

interface Parts {
  readonly pipeline: Pick<Pipeline, 'takeForwards' | 'takeSyncs' | 'takeAttaches'>;
  readonly counters: Pick<Counters, 'resumes'>;
}

export function forwardToLeader(
  { pipeline, counters }: Parts,
  toLeader: (message: LeaderMessage) => void,
): void {
  const items = pipeline.takeForwards();
  const syncs = pipeline.takeSyncs();
  const attaches = pipeline.takeAttaches();
  counters.resumes += attaches.length;
  // Avoids an iterator in turns that brought only reads.
  if (items.length > 0) {
    for (const chunk of chunksByBytes(items, MESSAGE_BYTES_MAX, (one) => one.bytes)) {
      toLeader({ kind: 'requests', items: chunk });
    }
  }
  for (const sync of syncs) toLeader(sync);
  for (const attach of attaches) toLeader(attach);
}
