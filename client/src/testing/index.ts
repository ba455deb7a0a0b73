/**
 * `@rookery/client/testing`: a client of a server in memory, with control over faults and the
 * clock, for unit tests of code that uses the `Client` interface. For tests with real servers, use
 * `startEnsemble` of `@rookery/server/testing`.
 */
// Declarations use Node's types, which TypeScript 6 and later include only where they are named.
/// <reference types="node" preserve="true" />
export { FakeClient, type FakeClientOptions, type Fault } from './fake-client.js';
export { FakeOperations, type FakeRequest, type Sent } from './fake-operations.js';
export {
  type FakeChange,
  type FakeCreate,
  FakeServer,
  type MultiOutcome,
} from './fake-server.js';
export { FakeSurroundings } from './fake-surroundings.js';
