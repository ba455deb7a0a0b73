/** Starts a whole ensemble inside a user's test process: `@rookery/server/testing`. */
// Declarations use Node's types, which TypeScript 6 and later include only where they are named.
/// <reference types="node" preserve="true" />
export type { Tuning } from '../config/tuning.js';
export { startEnsemble, type TestEnsemble, type TestMember } from './ensemble.js';
export { EnsembleError, type EnsembleErrorCode } from './ensemble-error.js';
export type { TestEnsembleOptions, TestSettings } from './options.js';
export type { TestMemberState } from './seat.js';
