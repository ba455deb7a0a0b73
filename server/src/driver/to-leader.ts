/**
 * What a turn collected for the leader, as messages in the order in which they must arrive.
 *
 * Writes first, then syncs, then attaches: a session that comes back by a new connection attaches
 * behind all that its older connection here had sent on, which the leader takes no more afterwards.
 * Owns nothing. Called by the driver at each end of a turn.
 */
import { chunksByBytes } from '@rookery/protocol';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Counters } from './counters.js';
import type { DeskMessage } from './desk-queue.js';

/** Requests of one peer message; a frame holds any single one of them. */
const MESSAGE_BYTES_MAX = 1 << 20;

interface Parts {
  readonly pipeline: Pick<Pipeline, 'takeForwards' | 'takeSyncs' | 'takeAttaches'>;
  readonly counters: Pick<Counters, 'resumes'>;
}

export function forwardToLeader(
  { pipeline, counters }: Parts,
  toLeader: (message: DeskMessage) => void,
): void {
  const items = pipeline.takeForwards();
  const syncs = pipeline.takeSyncs();
  const attaches = pipeline.takeAttaches();
  counters.resumes += attaches.length;
  // A turn that brought reads alone makes no iterator.
  if (items.length > 0) {
    for (const chunk of chunksByBytes(items, MESSAGE_BYTES_MAX, (one) => one.bytes)) {
      toLeader({ kind: 'requests', items: chunk });
    }
  }
  for (const sync of syncs) toLeader(sync);
  for (const attach of attaches) toLeader(attach);
}
