/**
 * A checker: one property of the ensemble, watched over one run.
 *
 * It is told of what happens in the order in which it happens, and throws PropertyBroken at the
 * first contradiction. A method that is missing costs nothing. It keeps what it needs and no more:
 * a run may have a million requests. Never touches the world.
 */
import type {
  Invocation,
  Overheard,
  Reply,
  SessionSeen,
  Unanswered,
  WatchEventSeen,
} from './history.js';
import type {
  Applied,
  ClockSet,
  DiskStruck,
  End,
  Gone,
  Reach,
  Started,
  Step,
} from './observation.js';

export interface Checker {
  /** A sentence's subject: "acknowledged writes are never lost". */
  readonly property: string;
  onStarted?(seen: Started): void;
  onGone?(seen: Gone): void;
  onDiskStruck?(seen: DiskStruck): void;
  onStep?(seen: Step): void;
  onApplied?(seen: Applied): void;
  onReach?(seen: Reach): void;
  onClockSet?(seen: ClockSet): void;
  onInvocation?(seen: Invocation): void;
  onReply?(seen: Reply): void;
  onUnanswered?(seen: Unanswered): void;
  onWatchEvent?(seen: WatchEventSeen): void;
  onOverheard?(seen: Overheard): void;
  onSession?(seen: SessionSeen): void;
  onEnd?(seen: End): void;
}

/** What a checker may know of the run before it begins. */
export interface RunFacts {
  readonly members: number;
  /** peerTimeoutMs: H of the leases is made of it. */
  readonly peerTimeoutMs: number;
  readonly heartbeatMs: number;
  /** Clocks of members run at most this much faster or slower than the run's, e.g. 0.01. */
  readonly clockDrift: number;
  /** Wall clocks of members that differ by no more agree. */
  readonly clockToleranceMs: number;
  /** Containers and TTL znodes are looked through this often, ms. */
  readonly reapEveryMs: number;
  /** The longest way of a message when nothing is held back, ms. */
  readonly latencyMaxMs: number;
  /** How much longer the answer to a client's handshake may be held back; 0 if left out. */
  readonly clientsHeldMaxMs?: number;
}

/** Made anew for each run. */
export type NewChecker = (facts: RunFacts) => Checker;

export class PropertyBroken extends Error {
  override readonly name = 'PropertyBroken';
  readonly property: string;

  /** `what`: who saw what, with zxids and orders, so that the trace can be read beside it. */
  constructor(property: string, what: string) {
    super(`${property}: ${what}`);
    this.property = property;
  }
}
