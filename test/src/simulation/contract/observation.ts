/**
 * What checkers see of a member, besides its clients' history.
 *
 * `order` and `atMs` are as in `history.ts`. An incarnation is one run of a member's process,
 * numbered from 1 for each member. `ownMs` is the member's own monotonic clock, which may run fast
 * or slow.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import type { Recovered, ReplicatedState, Txn, ZabInput, ZabOutput } from '../../simulated.js';

export interface OfMember {
  readonly order: number;
  readonly atMs: number;
  readonly member: PeerId;
  readonly incarnation: number;
  readonly ownMs: number;
}

export interface Started extends OfMember {
  readonly recovered: Recovered;
}

/** The process is gone. `disk` says what was done to its disk after that. */
export interface Gone extends OfMember {
  readonly how: 'stopped' | 'crashed' | 'failed';
}

/** What a fault did to a disk, mostly while its member was down. */
export interface DiskStruck extends OfMember {
  /**
   * `lastFlipped` is damage to the newest write of the log, and nothing else; `restored` means that
   * an earlier copy replaced everything that was on it, `forged` that what another
   * leadership of its newest epoch has left did, and `decayed` that it was damaged under a member
   * that runs.
   */
  readonly how: 'wiped' | 'flipped' | 'lastFlipped' | 'restored' | 'forged' | 'decayed';
  /**
   * For `lastFlipped`: the last proposal in front of the damage, where nothing on the disk says
   * that what is damaged was durable.
   */
  readonly keeps?: Zxid | undefined;
}

/** A step of the core; none of the outputs has been carried out. */
export interface Step extends OfMember {
  readonly input: ZabInput;
  readonly outputs: readonly ZabOutput[];
}

/** A transaction is in this member's tree; `state` may only be read, and only now. */
export interface Applied extends OfMember {
  readonly zxid: Zxid;
  readonly txn: Txn;
  readonly state: ReplicatedState;
}

/** Cuts of the network changed: the members that this one can reach now, without itself. */
export interface Reach {
  readonly order: number;
  readonly atMs: number;
  readonly member: PeerId;
  /** In both directions, over links that no fault holds back. */
  readonly reaches: readonly PeerId[];
  /** What another member had sent while only its way to this one was cut arrives now. */
  readonly late?: LateArrival | undefined;
}

export interface LateArrival {
  readonly from: PeerId;
  /** Until when the other member ran and heard this one. */
  readonly heardMs: number;
}

/** A fault set the wall clock of a member's machine, running or not. */
export interface ClockSet {
  readonly order: number;
  readonly atMs: number;
  readonly member: PeerId;
  /** How far it is ahead of the true time now; negative if behind. Drift is not included. */
  readonly errorMs: number;
}

/** All faults were healed and the ensemble has converged: this is the last observation. */
export interface End {
  readonly order: number;
  readonly atMs: number;
  readonly members: readonly {
    readonly member: PeerId;
    readonly state: ReplicatedState;
    readonly applied: Zxid;
  }[];
}
