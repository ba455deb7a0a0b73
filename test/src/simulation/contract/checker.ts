/**
 * A checker: one property of the ensemble, watched over one run.
 *
 * It is notified of events in the order in which they happen, and throws PropertyBroken at the
 * first contradiction. A method that is missing costs nothing. It keeps what it needs and no more:
 * a run may have a million requests. It never changes the world.
 */
import type {
  Invocation,
  Overheard,
  ReadOnlySeen,
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
  /** A sentence: "acknowledged writes are never lost". */
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
  onReadOnly?(seen: ReadOnlySeen): void;
  onSession?(seen: SessionSeen): void;
  onEnd?(seen: End): void;
}

/** What a checker may know about the run before it begins. */
export interface RunFacts {
  readonly members: number;
  /** peerTimeoutMs, from which H of the leases is computed. */
  readonly peerTimeoutMs: number;
  readonly heartbeatMs: number;
  /** Clocks of members run at most this much faster or slower than the run's, e.g. 0.01. */
  readonly clockDrift: number;
  /** Wall clocks of members that differ by no more than this agree. */
  readonly clockToleranceMs: number;
  /** The interval in ms at which containers and TTL znodes are examined. */
  readonly reapEveryMs: number;
  /** The maximum delay of a message when nothing is held back, in ms. */
  readonly latencyMaxMs: number;
  /** By how much faults may delay a message between members; 0 if absent. */
  readonly delayMaxMs?: number;
  /**
   * The additional time for which the answer to a client's handshake may be held back; 0 if absent.
   */
  readonly clientsHeldMaxMs?: number;
}

/** A new one is made for each run. */
export type NewChecker = (facts: RunFacts) => Checker;

export class PropertyBroken extends Error {
  override readonly name = 'PropertyBroken';
  readonly property: string;

  /**
   * `what` says which member or client saw what, with zxids and orders, so that the trace can be
   * read beside it.
   */
  constructor(property: string, what: string) {
    super(`${property}: ${what}`);
    this.property = property;
  }
}
