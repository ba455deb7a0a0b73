/**
 * Sizes that only tests set, so that they meet in seconds what production meets in weeks.
 *
 * Read from the environment by the command line; without it the defaults of the parts hold.
 */
import { OperatorError } from './operator-error.js';

export interface Tuning {
  /** Log from before the checkpoint to keep, bytes. */
  readonly logKeepBytes?: number;
  /** Size of a log segment, bytes. */
  readonly logSegmentBytes?: number;
  /** A checkpoint is taken after this many bytes of log. */
  readonly checkpointLogBytes?: number;
  /** Records of a checkpoint that are captured in one turn. */
  readonly checkpointSliceCount?: number;
  /** The size of a block of records, bytes. */
  readonly checkpointBlockBytes?: number;
  /** The size of a chunk of a snapshot, and of proposals that a learner has missed, bytes. */
  readonly chunkBytes?: number;
  /** The bytes of a client's output past which answers that can wait do so. */
  readonly clientOutputBytes?: number;
  /** The counter that each new epoch starts at. */
  readonly firstCounter?: number;
  /** Proposals kept in memory for learners, bytes. */
  readonly windowBytes?: number;
  /** Proposals applied at a time, bytes. */
  readonly deliveryBytes?: number;
  /** The time in which one turn applies them, ms: with 0 it applies one part. */
  readonly deliveryMs?: number;
  /** The time in which one turn of a leader decides requests, ms: with 0 it decides one. */
  readonly leaderShareMs?: number;
  /** The size of a leader's overlay, in entries, at which it prepares no further request. */
  readonly inFlight?: number;
  /** Proposals waiting for a leader's disk, bytes, past which it proposes no more. */
  readonly unwrittenBytes?: number;
  /** Proposals waiting for a follower's disk, bytes, past which it leaves its leader. */
  readonly behindBytes?: number;
  /** Ephemerals that one transaction deletes for the end of a session. */
  readonly ephemeralsPerPart?: number;
  /** Containers and TTL znodes are looked through this often, ms. */
  readonly containerCheckMs?: number;
  /** Wall clocks that differ by no more agree, ms; at least four peer timeouts. */
  readonly clockToleranceMs?: number;
  /** The memory that the member may use, in place of what the system says, bytes. */
  readonly memoryBytes?: number;
  /** The pace of the scrub. */
  readonly scrubBytesPerSecond?: number;
  /** The time between two rounds of it, ms. */
  readonly scrubRestMs?: number;
  /** The highest wire version spoken: this member is like an older release. */
  readonly wireVersionMax?: number;
  /** The highest ensemble level known: this member is like an older release. */
  readonly levelMax?: number;
}

const VARIABLES = {
  logKeepBytes: 'ROOKERY_LOG_KEEP_BYTES',
  logSegmentBytes: 'ROOKERY_LOG_SEGMENT_BYTES',
  checkpointLogBytes: 'ROOKERY_CHECKPOINT_LOG_BYTES',
  checkpointSliceCount: 'ROOKERY_CHECKPOINT_SLICE_COUNT',
  checkpointBlockBytes: 'ROOKERY_CHECKPOINT_BLOCK_BYTES',
  chunkBytes: 'ROOKERY_CHUNK_BYTES',
  clientOutputBytes: 'ROOKERY_CLIENT_OUTPUT_BYTES',
  firstCounter: 'ROOKERY_FIRST_COUNTER',
  windowBytes: 'ROOKERY_WINDOW_BYTES',
  deliveryBytes: 'ROOKERY_DELIVERY_BYTES',
  deliveryMs: 'ROOKERY_DELIVERY_MS',
  leaderShareMs: 'ROOKERY_LEADER_SHARE_MS',
  inFlight: 'ROOKERY_IN_FLIGHT',
  unwrittenBytes: 'ROOKERY_UNWRITTEN_BYTES',
  behindBytes: 'ROOKERY_BEHIND_BYTES',
  ephemeralsPerPart: 'ROOKERY_EPHEMERALS_PER_PART',
  containerCheckMs: 'ROOKERY_CONTAINER_CHECK_MS',
  clockToleranceMs: 'ROOKERY_CLOCK_TOLERANCE_MS',
  memoryBytes: 'ROOKERY_MEMORY_BYTES',
  scrubBytesPerSecond: 'ROOKERY_SCRUB_BYTES_PER_SECOND',
  scrubRestMs: 'ROOKERY_SCRUB_REST_MS',
  wireVersionMax: 'ROOKERY_WIRE_VERSION_MAX',
  levelMax: 'ROOKERY_LEVEL_MAX',
} as const;

/** Throws OperatorError for a value that is no whole number. */
export function tuningFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Tuning {
  const tuning: Record<string, number> = {};
  for (const [key, variable] of Object.entries(VARIABLES)) {
    const text = environment[variable];
    if (text === undefined || text === '') continue;
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new OperatorError(`${variable}=${text}: expected a whole number`);
    }
    tuning[key] = value;
  }
  return tuning;
}

/** What of it is storage's, under the names of its options. */
export function storageTuning(tuning: Tuning = {}) {
  const { logSegmentBytes: segmentBytesMax, logKeepBytes: retainedBytesMin } = tuning;
  const { chunkBytes: chunkBytesMax, levelMax } = tuning;
  return {
    ...(segmentBytesMax === undefined ? {} : { segmentBytesMax }),
    ...(retainedBytesMin === undefined ? {} : { retainedBytesMin }),
    ...(chunkBytesMax === undefined ? {} : { chunkBytesMax }),
    ...(levelMax === undefined ? {} : { levelMax }),
  };
}

/** What of it is a checkpointer's, under the names of its options. */
export function checkpointTuning(tuning: Tuning = {}) {
  const { checkpointLogBytes: logBytesMax, checkpointSliceCount: sliceCount } = tuning;
  const { checkpointBlockBytes: blockBytes } = tuning;
  return {
    ...(logBytesMax === undefined ? {} : { logBytesMax, logPerChanged: 0 }),
    ...(sliceCount === undefined ? {} : { sliceCount }),
    ...(blockBytes === undefined ? {} : { blockBytes }),
  };
}
