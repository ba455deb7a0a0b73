/**
 * Sizes that only tests set, so that they meet in seconds what production meets in weeks.
 *
 * Read from the environment by the command line; without it the defaults of the parts hold.
 */
import { OperatorError } from './operator-error.js';

export interface Tuning {
  /** Log kept behind the checkpoint, bytes. */
  readonly logKeepBytes?: number;
  /** Size of a log segment, bytes. */
  readonly logSegmentBytes?: number;
  /** A checkpoint is taken after this many bytes of log. */
  readonly checkpointLogBytes?: number;
  /** Records of a checkpoint that are captured in one turn. */
  readonly checkpointSliceCount?: number;
  /** Of a pack of records, bytes. */
  readonly checkpointPackBytes?: number;
  /** Of a chunk of a snapshot, and of proposals that a learner has missed. */
  readonly chunkBytes?: number;
  /** A client's output, bytes, past which what can wait waits. */
  readonly clientOutputBytes?: number;
  /** The counter that each new epoch starts at. */
  readonly firstCounter?: number;
  /** Proposals kept in memory for learners, bytes. */
  readonly windowBytes?: number;
  /** Proposals applied at a time, bytes. */
  readonly deliveryBytes?: number;
  /** For so long in one turn, ms: 0 is once. */
  readonly deliveryMs?: number;
  /** Proposals waiting for a leader's disk, bytes, past which it proposes no more. */
  readonly unwrittenBytes?: number;
  /** Proposals waiting for a follower's disk, bytes, past which it gives its leader up. */
  readonly behindBytes?: number;
  /** Containers and TTL znodes are looked through this often, ms. */
  readonly containerCheckMs?: number;
}

const VARIABLES = {
  logKeepBytes: 'ROOKERY_LOG_KEEP_BYTES',
  logSegmentBytes: 'ROOKERY_LOG_SEGMENT_BYTES',
  checkpointLogBytes: 'ROOKERY_CHECKPOINT_LOG_BYTES',
  checkpointSliceCount: 'ROOKERY_CHECKPOINT_SLICE_COUNT',
  checkpointPackBytes: 'ROOKERY_CHECKPOINT_PACK_BYTES',
  chunkBytes: 'ROOKERY_CHUNK_BYTES',
  clientOutputBytes: 'ROOKERY_CLIENT_OUTPUT_BYTES',
  firstCounter: 'ROOKERY_FIRST_COUNTER',
  windowBytes: 'ROOKERY_WINDOW_BYTES',
  deliveryBytes: 'ROOKERY_DELIVERY_BYTES',
  deliveryMs: 'ROOKERY_DELIVERY_MS',
  unwrittenBytes: 'ROOKERY_UNWRITTEN_BYTES',
  behindBytes: 'ROOKERY_BEHIND_BYTES',
  containerCheckMs: 'ROOKERY_CONTAINER_CHECK_MS',
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
  const { chunkBytes: chunkBytesMax } = tuning;
  return {
    ...(segmentBytesMax === undefined ? {} : { segmentBytesMax }),
    ...(retainedBytesMin === undefined ? {} : { retainedBytesMin }),
    ...(chunkBytesMax === undefined ? {} : { chunkBytesMax }),
  };
}

/** What of it is a checkpointer's, under the names of its options. */
export function checkpointTuning(tuning: Tuning = {}) {
  const { checkpointLogBytes: logBytesMax, checkpointSliceCount: sliceCount } = tuning;
  const { checkpointPackBytes: packBytes } = tuning;
  return {
    ...(logBytesMax === undefined ? {} : { logBytesMax }),
    ...(sliceCount === undefined ? {} : { sliceCount }),
    ...(packBytes === undefined ? {} : { packBytes }),
  };
}
