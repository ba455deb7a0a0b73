/**
 * The limits under which the pipeline and the leader work; from the configuration, never changed.
 */
import type { PeerId } from '@rookery/protocol';
import type { WatchLimits } from '../state/watches.js';
import type { WriteRules } from './prepare.js';
import type { ReaperOptions } from './reaper.js';
import type { SessionEndsOptions } from './session-ends.js';

export interface PipelineOptions {
  readonly id: PeerId;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /**
   * Requests of this member that may wait for a commit or a sync; beyond it, clients are paused.
   */
  readonly outstandingMax: number;
  /** The same for the bytes of their bodies: many large writes must not fill the memory. */
  readonly outstandingBytesMax: number;
  /** The operations of one multiRead. */
  readonly multiOpsMax: number;
  /** A watch beyond them is refused; a connection that brings too many along is closed. */
  readonly watchLimits: WatchLimits;
  /**
   * Requests are numbered from here on. No number of an earlier run of this member may come again,
   * because a transaction of that run may still be delivered.
   */
  readonly firstRequest: number;
  /** New sessions are local ones. */
  readonly localSessions: boolean;
  /** `Pipeline.onTick` is called this often, in ms. */
  readonly tickMs: number;
  /** No ACL is checked for reads and watch events. */
  readonly skipAcl: boolean;
  /** `super:` and the base64 SHA-1 of `super:password`; null if there is no super user. */
  readonly superDigest: string | null;
  /** Further identities that may do everything, as `scheme:id`; absent for none. */
  readonly superIdentities?: ReadonlySet<string>;
  /** Schemes of which a client must have proved one before anything else; absent for none. */
  readonly admission?: ReadonlySet<string>;
}

export interface RequestPreparerOptions extends WriteRules, SessionEndsOptions {
  readonly id: PeerId;
  readonly epoch: number;
  /** The last zxid of the history from which this leadership starts; all of it is applied. */
  readonly lastZxid: number;
  /** The counter of the epoch's first proposal; above 1 only in tests of the rollover. */
  readonly firstCounter: number;
  /** H, which is added to every deadline because touches are reported at most this late. */
  readonly leaseSlackMs: number;
  readonly reaper: ReaperOptions;
}
