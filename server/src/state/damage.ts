/**
 * Reports a checkpoint that this program cannot have written. The member must not guess: it refuses
 * to vote and rejoins by a snapshot. Thrown only within `load` and `finishLoad` of ReplicatedState.
 */
export class DamagedCheckpointError extends Error {
  override readonly name = 'DamagedCheckpointError';
}

/** Throws a DamagedCheckpointError with `problem` unless the condition holds. */
export function must(condition: boolean, problem: string): asserts condition {
  if (!condition) {
    throw new DamagedCheckpointError(problem);
  }
}
