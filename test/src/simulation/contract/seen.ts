/**
 * Everything that is recorded of a run, under one name: `import type * as Seen from ...`.
 *
 * For those who deal with all of it, the recorder and its trace; checkers name what they watch.
 */
export type * from './history.js';
export type * from './observation.js';
