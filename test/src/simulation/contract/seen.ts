/**
 * Everything that is recorded in a run, under one name: `import type * as Seen from ...`.
 *
 * It is for code that handles all of it, the recorder and its trace; checkers import what they
 * watch.
 */
export type * from './history.js';
export type * from './observation.js';
