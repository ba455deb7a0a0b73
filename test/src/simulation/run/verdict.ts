/** The result of a run, and how two failures are recognized as the same. */
import type { Mark } from './marks.js';
import type { RecordedCounts } from './recorder.js';

export interface Failure {
  /**
   * What does not hold: a checker's property, the text of an invariant, or the convergence of all
   * members.
   */
  readonly property: string;
  /** Which member or client saw what. */
  readonly message: string;
}

export interface RunResult {
  /** Null if the run passed. */
  readonly failure: Failure | null;
  /** The number of requests that clients made. */
  readonly requests: number;
  readonly simulatedMs: number;
  /** The time from the healing of everything until all had converged; 0 if that was not reached. */
  readonly convergedAfterMs: number;
  /**
   * The time from the healing of a quorum until it had served; 0 if that was not requested or
   * reached.
   */
  readonly quorumServedAfterMs: number;
  /** The number of the last record. */
  readonly orders: number;
  /** Equal for equal runs. */
  readonly digest: string;
  readonly counts: RecordedCounts;
  /** Faults begun, and left out, by kind. */
  readonly begun: ReadonlyMap<string, number>;
  readonly leftOut: ReadonlyMap<string, number>;
  /** How often each named event was seen. */
  readonly marks: ReadonlyMap<Mark, number>;
}

export const QUORUM_SERVES =
  'a healed quorum serves a write, and a read behind a sync, whatever the rest do';
export const CONVERGES = 'once all faults are healed, the ensemble converges';

/**
 * A member ended with an error that no fault explains. The property is the error's message without
 * its numbers, so that the same assertion is the same failure in a shorter run.
 */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) {
    return { property: 'members do not fail', message: String(error) };
  }
  const words = error.message.replace(/0x[0-9a-f]+|\d+/g, '#');
  const cause = error.cause === undefined ? '' : `\ncaused by ${textOf(error.cause)}`;
  return { property: `invariant: ${words}`, message: `${textOf(error)}${cause}` };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
