/**
 * Limits that follow from others, so that what is admitted always fits all that is behind it.
 *
 * A client's frame becomes a request to the leader, a transaction in peer messages and log records,
 * and a znode record in checkpoints and snapshots. All sizes are in bytes. Called where a member is
 * put together (member-parts.ts).
 */

import { IDENTITY_BYTES_MAX } from '../pipeline/identities.js';

/** What a message, a transaction or a record adds to what a client sent, an ACL list included. */
const OVERHEAD_BYTES = 2 << 20;
/** Proposals or requests that the driver gathers before one more that may be of any size. */
const GATHERED_BYTES = 1 << 20;
const PEER_FRAME_BYTES_MIN = 32 << 20;
const PEER_QUEUE_BYTES_MIN = 64 << 20;
/**
 * The number of a snapshot's chunks in flight, each of which may have a znode of the largest size.
 */
const CHUNKS_QUEUED = 8;
/**
 * Recent proposals kept in memory, for learners that lost their link; tuning may say otherwise.
 * With so few, most batches are garbage by the next collection of the young generation. With more
 * they would survive it; then only a full collection frees their memory, which is outside the heap,
 * and that memory makes full collections more frequent.
 */
const WINDOW_BYTES = 1 << 20;
const OUTSTANDING_BYTES_MIN = 1 << 20;
/**
 * The unanswered requests of all members together: the leader may have to queue so much for one
 * follower at once. Pings overtake it, but all other messages to that follower wait behind it, so
 * it must pass in a fraction of the peer timeout.
 */
const OUTSTANDING_BYTES = 12 << 20;

/**
 * Sessions per address and member that have lost their connection and not yet expired. By the
 * tree's estimate they take 8 MB on each member. A hundred clients a second that never close their
 * sessions of 40 s leave 4,000.
 */
export const LEFT_SESSIONS_MAX = 10_000;

/**
 * All members write the same log. So that they do not all take a checkpoint, or begin a new log
 * segment, at the same moment (a quorum that is fast should be left), each takes its first one
 * after a part of the usual way, by its place among the members: checkpoints 1/n, 2/n ... 1,
 * segments in between. (ZooKeeper draws each member's snapCount at random for the same reason.)
 */
export function firstPartsOf(members: readonly { readonly id: number }[], id: number) {
  const place = 1 + members.filter((member) => member.id < id).length;
  return { checkpoint: place / members.length, segment: (place - 0.5) / members.length };
}

export interface DerivedLimits {
  /** The size of a message between members. */
  readonly peerFrameBytesMax: number;
  /** What may wait to be sent on one link; with more, the link is dropped. */
  readonly peerQueueBytesMax: number;
  /** Requests of a member's clients, identities included, that it took in and did not answer. */
  readonly outstandingBytesMax: number;
  /** The bytes that all connections of a member may have read and not delivered. */
  readonly heldInputBytesMax: number;
  /** Proposals kept in memory for learners; more while one is brought up from disk. */
  readonly windowBytesMax: number;
}

export function derivedLimits(given: {
  readonly frameBytesMax: number;
  readonly members: number;
  readonly inputBytesMax: number;
  readonly windowBytes?: number | undefined;
}): DerivedLimits {
  const { frameBytesMax, members, inputBytesMax } = given;
  const { windowBytes: windowBytesMax = WINDOW_BYTES } = given;
  // Paths, data and ids may each be repeated in UTF-8 that is longer than what came.
  const itemBytesMax = 2 * frameBytesMax + IDENTITY_BYTES_MAX + OVERHEAD_BYTES;
  const peerFrameBytesMax = Math.max(PEER_FRAME_BYTES_MIN, GATHERED_BYTES + itemBytesMax);
  const outstandingBytesMax = Math.max(
    OUTSTANDING_BYTES_MIN,
    Math.floor(OUTSTANDING_BYTES / members),
  );
  // A member that is full has still taken the whole request that made it so. Twice, because a link
  // to a slow member may still hold all of these requests as proposals when a quorum without that
  // member has logged them, so that they are answered and as many new ones come.
  const inFlight = 2 * members * (outstandingBytesMax + frameBytesMax + IDENTITY_BYTES_MAX);
  return {
    peerFrameBytesMax,
    peerQueueBytesMax: Math.max(PEER_QUEUE_BYTES_MIN, inFlight + CHUNKS_QUEUED * itemBytesMax),
    outstandingBytesMax,
    // `inputBytesMax` is also for unanswered requests. At least half of it is for what connections
    // hold, however small it is.
    heldInputBytesMax: Math.max(inputBytesMax - outstandingBytesMax, inputBytesMax / 2),
    windowBytesMax,
  };
}
