/**
 * Mutants of the named bugs: each has a consistency bug that ZooKeeper had.
 *
 * The list only; one small file each. They are run like all others, and by the tests of the named
 * bugs, which must fail on them.
 */
import type { Mutant } from '../mutant.js';

export const namedMutants: readonly Mutant[] = [];
