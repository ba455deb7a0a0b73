/**
 * The simulated clients of a run: what the rest of the simulator uses of them.
 */
export { type ClientOptions, drawClientOptions, type Work, WORKS } from './options.js';
