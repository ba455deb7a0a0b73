/**
 * What the composition root hands to the driver; nothing in it is created by the driver itself.
 */
import type { PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ClientPort } from '../net/client-port.js';
import type { PeerPort } from '../net/peer-port.js';
import type { Timers } from '../net/timers.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { WriteRules } from '../pipeline/prepare.js';
import type { ReaperOptions } from '../pipeline/reaper.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { CheckpointOptions } from '../storage/checkpointer.js';
import type { Storage } from '../storage/storage.js';
import type { Zab } from '../zab/index.js';
import type { Counters } from './counters.js';
import type { LevelOptions } from './ensemble-level.js';
import type { KnownStarts } from './known-starts.js';
import type { MemberObserver } from './observer.js';
import type { TreeBound } from './tree-bound.js';

export interface DriverOptions {
  readonly id: PeerId;
  /** All that are configured, this one included. */
  readonly members: number;
  /** Wall clocks of members that differ by no more agree, ms. */
  readonly clockToleranceMs: number;
  /** The core sees the time this often, ms. */
  readonly tickMs: number;
  readonly heartbeatMs: number;
  /** H of the leases, ms. */
  readonly timeoutMs: number;
  /** How long a snapshot or history on its way to a learner may stand still, ms. */
  readonly transferTimeoutMs: number;
  /** Proposals that wait for the own disk, while leading and while following: MemoryBudget. */
  readonly unwrittenBytesMax: number;
  readonly behindBytesMax: number;
  /** Proposals that wait behind an incoming snapshot. */
  readonly snapshotWaitingBytesMax: number;
  /** Applying takes so much of a turn, ms, and is ended at the end of a part. */
  readonly deliveryMsMax: number;
  /** What members ask of their leader takes so much of a turn, ms, and ends with a request. */
  readonly askedMsMax: number;
  /** Records of what is prepared and not applied, beyond which a leader prepares no request. */
  readonly inFlightMax: number;
  /** The counter an epoch starts at: 1, but for tests of the rollover. */
  readonly firstCounter: number;
  readonly checkpoint: Partial<CheckpointOptions>;
  /** For the time that this member leads. */
  readonly writeRules: Omit<WriteRules, 'treeBound'>;
  readonly reaper: ReaperOptions;
  readonly levels: LevelOptions;
  /** Ephemerals that one transaction deletes for the end of a session. */
  readonly ephemeralsPerPartMax: number;
  /** The text of /zookeeper/config. */
  readonly membership: string;
  /** Without a quorum for so long, reads are served to clients that allow it; null for never. */
  readonly readOnlyAfterMs: number | null;
}

export interface DriverParts {
  readonly options: DriverOptions;
  readonly zab: Zab;
  readonly storage: Storage;
  /** What storage recovered. */
  readonly state: ReplicatedState;
  /** An empty one, within the bounds of this member. */
  newState(): ReplicatedState;
  readonly pipeline: Pipeline;
  readonly counters: Counters;
  readonly treeBound: TreeBound;
  readonly timers: Timers;
  readonly logger: Logger;
  wallMs(): number;
  random16(): Uint8Array;
  /** The ports need the driver's handlers, so they are made after it. */
  clientPort(): ClientPort;
  peerPort(): PeerPort;
  readonly observer: MemberObserver | null;
  readonly starts: KnownStarts;
  /** Keeps lines in a file of this name for the operator, as the function keepAside does. */
  keepAside(name: string, lines: AsyncIterable<string>, filesMax: number): Promise<string>;
  /** Called once, when the member must end. */
  onFatal(error: unknown): void;
}
