/** Majority arithmetic. Pure functions; an oracle test compares them with a plain count. */

/** How many of `voters` make a quorum. */
export function majorityOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/**
 * The highest value that a quorum has reached: `values` holds one number for each voter that has
 * reported, missing voters count as minus infinity.
 */
export function quorumValue(values: readonly number[], voters: number): number {
  const needed = majorityOf(voters);
  if (values.length < needed) return Number.NEGATIVE_INFINITY;
  const sorted = [...values].sort((a, b) => b - a);
  return sorted[needed - 1] ?? Number.NEGATIVE_INFINITY;
}
