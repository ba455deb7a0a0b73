/**
 * What faults may do to a simulated ensemble, and see of it. `world/` implements it.
 *
 * Every method takes effect at once, in simulated time; none waits. A method on a member that is
 * not in the state it needs (crash of one that is down) does nothing and returns false.
 */
import type { PeerId } from '@rookery/protocol';

/** Of what passes between a client and a member. */
export type ClientWay = 'toMember' | 'toClient';

export interface FileChange {
  /** The servers that it lists. */
  readonly members?: readonly PeerId[];
  readonly peerTimeoutMs?: number;
}

export interface World {
  /** The run's clock, ms from its start; no fault touches it. */
  readonly nowMs: number;
  readonly ids: readonly PeerId[];
  /** How many there are; their numbers are from 1. */
  readonly clients: number;
  /** The leader that serves; 0 for none. */
  readonly leader: PeerId;
  /**
   * Runs the action once so many more actions of the run (a timer, a message, a change of a disk,
   * of anyone) are through: so something can happen between any two of them.
   */
  afterActions(count: number, action: () => void): void;
  isUp(id: PeerId): boolean;
  /** Up, and in sync with a leader since it last started. */
  serves(id: PeerId): boolean;
  /** Members whose disk was struck, or whose file was changed, and that have not served since. */
  readonly struck: ReadonlySet<PeerId>;

  /**
   * The process ends between two of its steps. Of what its disk has not synced, a suffix is lost;
   * `inFlight`: the write under way when it died took effect all the same.
   */
  crash(id: PeerId, how: { readonly inFlight: boolean }): boolean;
  /** It dies at its n-th change of a disk from now (from 1), before or after that took effect. */
  crashAtChange(id: PeerId, count: number, when: 'before' | 'after'): boolean;
  /** A clean stop, as by SIGTERM. */
  stop(id: PeerId): boolean;
  start(id: PeerId): boolean;
  /** The process stands still for so long: nothing of it runs, its clock goes on. */
  stall(id: PeerId, durationMs: number): boolean;
  /** Ends a stall now. */
  wake(id: PeerId): boolean;

  /** The wall clock jumps, forward or back. */
  jumpWallClock(id: PeerId, byMs: number): void;
  /** Both clocks run at this rate from now on; 1 is right. Within RunFacts.clockDrift of it. */
  setClockRate(id: PeerId, rate: number): void;

  /** Nothing passes from one to the other, nobody is told; what is sent waits, as in TCP. */
  cut(from: PeerId, to: PeerId): void;
  heal(from: PeerId, to: PeerId): void;
  /** The connections between the two break, and what was on its way is lost. */
  resetLink(a: PeerId, b: PeerId): void;
  /** Each message from one to the other takes this much longer; 0 ends it. */
  delay(from: PeerId, to: PeerId, byMs: number): void;

  /** As `cut`, between a client and a member. */
  cutClient(client: number, id: PeerId, way: ClientWay): void;
  healClient(client: number, id: PeerId, way: ClientWay): void;

  /** Each change of the member's disk takes this much longer; 0 ends it. */
  slowDisk(id: PeerId, byMs: number): void;
  /** The next synced write fails with an input/output error: the member must end. */
  failNextSync(id: PeerId): void;
  /** While full, every write fails: the member must end, and cannot start. */
  fillDisk(id: PeerId, full: boolean): void;
  /** Only while it is down. All it had is gone. */
  wipe(id: PeerId): boolean;
  /**
   * Only while it is down: one bit of a stored record changes. Never in the last record of the log.
   * `dice` in [0, 1) chooses the database, the record and the bit. False if there is none.
   */
  flipBit(id: PeerId, dice: readonly [number, number, number]): boolean;
  /**
   * Only while it is down: the newest part of its log is gone, whole records of it, where the disk
   * tells that it was there. `how` in [0, 1): how much is left. False if the disk does not tell.
   */
  cutLog(id: PeerId, how: number): boolean;

  /** Only while it is down: puts a copy of its directories aside, in place of an earlier one. */
  keepCopy(id: PeerId): boolean;
  /** Whether every other member knows durably of the last start of this one. */
  isLastStartKnown(id: PeerId): boolean;
  /** Only while it is down: its directories are what was put aside. False if nothing was. */
  restoreCopy(id: PeerId): boolean;

  /** Members whose file is not that of the others. */
  readonly misconfigured: ReadonlySet<PeerId>;
  /** Only while it is down: what its file says otherwise than those of the others, or nothing. */
  setFile(id: PeerId, differs: FileChange | null): boolean;

  /** Its resolver answers no more, or again; what was asked meanwhile fails after some seconds. */
  hangResolver(id: PeerId, hangs: boolean): void;
}
