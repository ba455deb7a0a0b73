/**
 * `@rookery/client/testing`: a client of a server in memory, with faults and a clock at hand, for
 * the unit tests of whoever builds on the `Client` interface. For tests with real servers there is
 * `startEnsemble` of `@rookery/server/testing`.
 */
export { FakeClient, type FakeClientOptions, type Fault } from './fake-client.js';
export { FakeOperations, type FakeRequest, type Sent } from './fake-operations.js';
export {
  type FakeChange,
  type FakeCreate,
  FakeServer,
  type MultiOutcome,
} from './fake-server.js';
export { FakeSurroundings } from './fake-surroundings.js';
