/**
 * What faults may do to a simulated ensemble, and see of it. `world/` implements it.
 *
 * Every method takes effect at once, in simulated time; none waits. A method on a member that is
 * not in the required state (a crash of one that is down) does nothing and returns false.
 */
import type { PeerId } from '@rookery/protocol';

/** The direction of what passes between a client and a member. */
export type ClientWay = 'toMember' | 'toClient';

export interface FileChange {
  /** The servers that its file lists. */
  readonly members?: readonly PeerId[];
  readonly peerTimeoutMs?: number;
}

export interface World {
  /** The run's clock, ms from its start; no fault affects it. */
  readonly nowMs: number;
  readonly ids: readonly PeerId[];
  /** The number of members, which are numbered from 1. */
  readonly clients: number;
  /** The leader that serves; 0 for none. */
  readonly leader: PeerId;
  /** Whether it believes that it leads; a leader that was overtaken may, for a while. */
  leads(id: PeerId): boolean;
  /**
   * Runs the action once this many more actions of the run (a timer, a message, a change of a disk,
   * of any member) have completed, so that something can happen between any two of them.
   */
  afterActions(count: number, action: () => void): void;
  isUp(id: PeerId): boolean;
  /** Up, and in sync with a leader since its last start. */
  serves(id: PeerId): boolean;
  /** Members whose disk was struck, or whose file was changed, and that have not served since. */
  readonly struck: ReadonlySet<PeerId>;

  /**
   * The process ends between two of its steps. A suffix of what its disk has not synced is lost;
   * with `inFlight` the write in progress when it died took effect nevertheless.
   */
  crash(id: PeerId, how: { readonly inFlight: boolean }): boolean;
  /** It dies at its n-th change of a disk from now (from 1), before or after that took effect. */
  crashAtChange(id: PeerId, count: number, when: 'before' | 'after'): boolean;
  /** A clean stop, as by SIGTERM. */
  stop(id: PeerId): boolean;
  start(id: PeerId): boolean;
  /**
   * The process is stalled for this time: nothing of it runs, while its wall clock advances, and
   * its monotonic clock mostly does, too.
   */
  stall(id: PeerId, durationMs: number, monotonic?: 'runs' | 'stands'): boolean;
  /** Ends a stall now. */
  wake(id: PeerId): boolean;

  /** The wall clock jumps, forward or back. */
  jumpWallClock(id: PeerId, byMs: number): void;
  /** Both clocks run at this rate from now on; 1 is right. Within RunFacts.clockDrift of it. */
  setClockRate(id: PeerId, rate: number): void;

  /** Nothing passes from one to the other, and nobody is told; what is sent waits, as in TCP. */
  cut(from: PeerId, to: PeerId): void;
  heal(from: PeerId, to: PeerId): void;
  /** The connections between the two break, and what was in flight is lost. */
  resetLink(a: PeerId, b: PeerId): void;
  /** Each message from one to the other takes this much longer; 0 ends the delay. */
  delay(from: PeerId, to: PeerId, byMs: number): void;

  /** Like `cut`, between a client and a member. */
  cutClient(client: number, id: PeerId, way: ClientWay): void;
  healClient(client: number, id: PeerId, way: ClientWay): void;

  /** Each change of the member's disk takes this much longer; 0 ends the delay. */
  slowDisk(id: PeerId, byMs: number): void;
  /** The next synced write fails with an input/output error: the member must end. */
  failNextSync(id: PeerId): void;
  /** The n-th write from now (from 1) finds no space; those after it would. The member must end. */
  failWrite(id: PeerId, count: number): void;
  /** While it is full, every write fails: the member must end, and cannot start. */
  fillDisk(id: PeerId, full: boolean): void;
  /**
   * What the member measures of its disk from now on: so much of its reserve is free, or enough for
   * null. Nothing fails because of it.
   */
  leaveRoom(id: PeerId, shareOfReserve: number | null): void;
  /** Only while it is down. Everything that it had is lost. */
  wipe(id: PeerId): boolean;
  /**
   * Only while it is down: one bit of a stored record changes, but never in the last record of the
   * log. `dice` in [0, 1) choose the database, the record and the bit. False if there is none.
   */
  flipBit(id: PeerId, dice: readonly [number, number, number]): boolean;
  /**
   * Only while it is down: one bit of the newest write in its log changes. `dice` in [0, 1) choose
   * the record and the bit. False if there is none.
   */
  flipLast(id: PeerId, dice: readonly [number, number]): boolean;
  /**
   * Only while it is down: the newest part of its log is lost, in complete records, where the disk
   * shows that it existed. `how` in [0, 1) determines how much is left. False if the disk does not
   * show it.
   */
  cutLog(id: PeerId, how: number): boolean;

  /**
   * Only while it is up: damages what only a later reading finds, as `flipBit` does, but never the
   * meta record. The member counts as struck until it has repaired it, or has served after a
   * restart. False if there is nothing to damage.
   */
  decay(id: PeerId, dice: readonly [number, number, number]): boolean;

  /** Only while it is down: puts a copy of its directories aside, replacing an earlier one. */
  keepCopy(id: PeerId): boolean;
  /** Whether every other member durably knows of the last start of this one. */
  isLastStartKnown(id: PeerId): boolean;
  /**
   * Only while it is down: its directories become the copy that was put aside. False if there is
   * none, or if it is from before the directory was last emptied or given up.
   */
  restoreCopy(id: PeerId): boolean;

  /** Whether all other members serve, and durably have all proposals of this one, which is down. */
  othersHaveAllOf(id: PeerId): boolean;
  /**
   * Only while it is down: its directories become those of a process that has followed another
   * leadership of its newest epoch. `dice` in [0, 1) choose the identity of that leadership, and
   * how much longer its history is. False if it has none.
   */
  forgeHistory(id: PeerId, dice: readonly [number, number]): boolean;

  /** Members whose file differs from that of the others. */
  readonly misconfigured: ReadonlySet<PeerId>;
  /** Only while it is down: how its file differs from that of the others, or nothing. */
  setFile(id: PeerId, differs: FileChange | null): boolean;

  /** Its resolver stops answering, or answers again; pending queries fail after some seconds. */
  hangResolver(id: PeerId, hangs: boolean): void;
}
