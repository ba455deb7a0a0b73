/** An ensemble for the tests of whoever uses one: `@rookery/server/testing`. */
export type { Tuning } from '../tuning.js';
export { startEnsemble, type TestEnsemble, type TestMember } from './ensemble.js';
export { EnsembleError, type EnsembleErrorCode } from './ensemble-error.js';
export type { TestEnsembleOptions, TestSettings } from './options.js';
export type { TestMemberState } from './seat.js';
