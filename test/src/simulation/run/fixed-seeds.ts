/**
 * The seeds with which every campaign begins, so that two campaigns compare and a bug that was once
 * found by a seed is searched for again. The meaning of a seed changes when the draw does; the
 * trace or the test of a bug is kept elsewhere.
 */
const FIRST: readonly number[] = Array.from({ length: 24 }, (_, at) => at + 1);

/**
 * 221: test/traces/offers-are-no-votes-for-another.txt and bridge-is-elected.txt. 3354439002: a
 * learner that restarted refuses the epoch that it has promised, and its leader waits for
 * initLimit.
 */
const FOUND: readonly number[] = [221, 3_354_439_002];

export const FIXED_SEEDS: readonly number[] = [...FIRST, ...FOUND];
