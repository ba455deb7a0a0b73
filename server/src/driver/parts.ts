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
import type { MemberObserver } from './observer.js';

export interface DriverOptions {
  readonly id: PeerId;
  /** The core sees the time this often, ms. */
  readonly tickMs: number;
  readonly heartbeatMs: number;
  /** H of the leases, ms. */
  readonly timeoutMs: number;
  /** How long a snapshot or history on its way to a learner may stand still, ms. */
  readonly transferTimeoutMs: number;
  /** Proposals that wait for the own disk, while leading and while following; see limits.ts. */
  readonly unwrittenBytesMax: number;
  readonly behindBytesMax: number;
  /** Applying takes so much of a turn, ms, and is ended at the end of a part. */
  readonly deliveryMsMax: number;
  /** The counter an epoch starts at: 1, but for tests of the rollover. */
  readonly firstCounter: number;
  readonly checkpoint: Partial<CheckpointOptions>;
  /** For the time that this member leads. */
  readonly writeRules: WriteRules;
  readonly reaper: ReaperOptions;
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
  readonly pipeline: Pipeline;
  readonly counters: Counters;
  readonly timers: Timers;
  readonly logger: Logger;
  wallMs(): number;
  random16(): Uint8Array;
  /** The ports need the driver's handlers, so they are made after it. */
  clientPort(): ClientPort;
  peerPort(): PeerPort;
  readonly observer: MemberObserver | null;
  /** Called once, when the member must end. */
  onFatal(error: unknown): void;
}
