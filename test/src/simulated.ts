/**
 * The internal interface of a member (server/src/simulated), for the simulator, its checkers and
 * the mutants.
 *
 * It is imported by its path, since the package that users install does not contain it. The tests
 * run its sources: vitest.config.ts says so.
 */
export * from '../../server/dist/simulated/index.js';
