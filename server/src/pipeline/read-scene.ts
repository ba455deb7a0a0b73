/**
 * Where a read runs: the state and watches of the member, the connection that asks.
 */
import type { ReplicatedState } from '../state/replicated-state.js';
import type { WatcherId, WatchTable } from '../state/watches.js';
import type { Output } from './output.js';

export interface ReadScene {
  readonly state: ReplicatedState;
  readonly watches: WatchTable;
  readonly watcher: WatcherId;
  readonly output: Output;
}
