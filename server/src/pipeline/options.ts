/**
 * Defines the options of the pipeline and of the leader, which come from the configuration and
 * never change, and what else a pipeline needs.
 */
import type { DigestAlg, PeerId } from '@rookery/protocol';
import type { LoginDelays } from '../security/login-delays.js';
import type { SaslServer } from '../security/sasl.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { WatchLimits } from '../state/watches.js';
import type { AuditSink } from './audit.js';
import type { DigestOf, SuperPassword } from './identities.js';
import type { WriteRules } from './prepare.js';
import type { ReaperOptions } from './reaper.js';

export interface PipelineOptions {
  readonly id: PeerId;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /**
   * Requests of this member that may wait for a commit or a sync; beyond it, clients are paused.
   */
  readonly outstandingMax: number;
  /**
   * The bytes of their bodies and identities, because many large writes must not fill the memory.
   * At this bound all clients are paused.
   */
  readonly outstandingBytesMax: number;
  /** Sessions without a connection per address, at which it gets no further session. */
  readonly leftSessionsMax: number;
  /** The operations of one multiRead. */
  readonly multiOpsMax: number;
  /** A watch beyond them is refused; a connection that brings too many along is closed. */
  readonly watchLimits: WatchLimits;
  /** The watch events of a turn from which on watchers give way; by default EVENTS_PER_TURN. */
  readonly eventsPerTurn?: number;
  /**
   * Requests are numbered from here on. No number of an earlier run of this member may come again,
   * because a transaction of that run may still be delivered.
   */
  readonly firstRequest: number;
  /** The requests of each client per second; absent or 0 for no bound. */
  readonly requestsPerSecondMax?: number;
  /** New sessions are local ones. */
  readonly localSessions: boolean;
  /** `Pipeline.onTick` is called this often, in ms. */
  readonly tickMs: number;
  /** No ACL is checked for reads and watch events. */
  readonly skipAcl: boolean;
  /** `super:` and the digest of `super:password`; null if there is no super user. */
  readonly superDigest: string | null;
  /** The algorithms of digests that passwords prove, the preferred one first; default SHA1. */
  readonly digestAlgs?: readonly DigestAlg[];
  /** Further identities that may do everything, as `scheme:id`; absent for none. */
  readonly superIdentities?: ReadonlySet<string>;
  /** Schemes of which a client must have proved one before anything else; absent for none. */
  readonly admission?: ReadonlySet<string>;
}

export interface PipelineDependencies {
  readonly state: ReplicatedState;
  readonly options: PipelineOptions;
  readonly digestOf: DigestOf;
  /** Returns 16 fresh random bytes: the password of a local session. */
  readonly random16: () => Uint8Array;
  /** Absent or null if clients cannot authenticate by SASL. */
  readonly sasl?: SaslServer | null;
  /** See `AuthenticatorParts`. */
  readonly superPassword?: SuperPassword | null | undefined;
  /** Absent where failed logins elsewhere do not matter. */
  readonly logins?: LoginDelays | undefined;
  /** Absent or null if nothing is audited. */
  readonly audit?: AuditSink | null;
}

export interface RequestPreparerOptions extends WriteRules {
  /** How many ephemerals one transaction deletes when a session ends. */
  readonly ephemeralsPerPartMax: number;
  /** Added to the deadline of every session: 2H, see Leases. */
  readonly leaseSlackMs: number;
  readonly reaper: ReaperOptions;
}
