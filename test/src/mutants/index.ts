/**
 * The catalogue of all mutants, in the order in which they are run and reported.
 *
 * The list only: areas are files of their own.
 */
import type { Mutant } from './mutant.js';
import { namedMutants } from './named/index.js';

export const allMutants: readonly Mutant[] = [...namedMutants];
