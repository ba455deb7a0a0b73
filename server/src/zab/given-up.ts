/**
 * Remembers the transfers that this member gave up for want of room, and when a leader may retry.
 *
 * | given up | when | the same leader may try again |
 * |---|---|---|
 * | snapshot | room is scarce, or the member steps out | when the disk is not full any more |
 * | second snapshot that began with room | the same | after a minute |
 * | log | room is scarce, and the leader has a quorum already | when room is not scarce any more |
 *
 * Each row ends after a minute at the latest, and the last one with the term of the leader, which
 * may need this member for its next quorum. The second row prevents a loop: removing the received
 * part makes room that was too little before. Another leader may try at once, because its log may
 * reach back far enough for a DIFF, unless this member needs a snapshot from any leader. The member
 * forgets all of it when it serves. Owned by `Replica`.
 */
import type { PeerId } from '@rookery/protocol';
import type { DiskRoom } from './types.js';

/** The longest wait after a leader failed to hand over, or a member gave up a transfer. */
export const TRY_AGAIN_MS = 60_000;

export type Transfer = 'snapshot' | 'log';

interface Attempt {
  readonly transfer: Transfer;
  readonly atMs: number;
  /** Whether the disk was not full when the transfer began. */
  readonly hadRoom: boolean;
  /** Whether this is a second snapshot that began with room. */
  readonly isRepeated: boolean;
}

export interface Situation {
  readonly nowMs: number;
  readonly room: DiskRoom;
  /** Whether no leader can bring this member up to date without a snapshot. */
  readonly needsSnapshot: boolean;
}

export class GivenUp {
  /** The last attempt of each leader. */
  readonly #attempts = new Map<PeerId, Attempt>();

  onGivenUp(leader: PeerId, attempt: Omit<Attempt, 'isRepeated'>): void {
    const before = this.#attempts.get(leader);
    const hadRoomBefore = before?.transfer === 'snapshot' && before.hadRoom;
    const isRepeated = attempt.hadRoom && hadRoomBefore;
    this.#attempts.set(leader, { ...attempt, isRepeated });
  }

  /** This peer does not lead, or does not any more. */
  onNotLeading(peer: PeerId): void {
    if (this.#attempts.get(peer)?.transfer === 'log') this.#attempts.delete(peer);
  }

  onServing(): void {
    this.#attempts.clear();
  }

  /** The transfer for which this leader has to wait; null if it may try. */
  waitsFor(leader: PeerId, situation: Situation): Transfer | null {
    for (const [whose, attempt] of this.#attempts) {
      const concerns =
        whose === leader || (situation.needsSnapshot && attempt.transfer === 'snapshot');
      if (concerns && waits(attempt, situation)) return attempt.transfer;
    }
    return null;
  }
}

function waits({ transfer, atMs, isRepeated }: Attempt, { nowMs, room }: Situation): boolean {
  if (nowMs - atMs >= TRY_AGAIN_MS) return false;
  return transfer === 'log' ? room === 'scarce' : isRepeated || room !== 'enough';
}
