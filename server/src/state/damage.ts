/**
 * A checkpoint that cannot be what this program wrote. The member must not guess: it refuses to
 * vote and rejoins by a snapshot. Thrown by `load` and `finishLoad` only.
 */
export class DamagedCheckpointError extends Error {
  override readonly name = 'DamagedCheckpointError';
}

/** Throws DamagedCheckpointError, with `problem`, unless it is so. */
export function must(condition: boolean, problem: string): asserts condition {
  if (!condition) {
    throw new DamagedCheckpointError(problem);
  }
}
