/**
 * The API of @rookery/bench: one run of load, and how to read its numbers. The commands are
 * main.ts (load), compare.ts (Rookery next to ZooKeeper), client-cost.ts (what @rookery/client
 * costs its process) and profile.ts (what a profile says).
 */
export type { Host } from './connection.js';
export { Histogram } from './histogram.js';
export { type LoadOptions, type LoadResult, runLoad } from './load.js';
export { OPERATIONS, type OperationName } from './requests.js';
