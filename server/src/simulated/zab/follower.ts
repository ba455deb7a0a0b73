/**
 * The core of member 1 alone, for tests of what a follower does: it is told what a leader 3 says.
 * Its disk is done at once, unless it is slow.
 */
import {
  type CoreMessage,
  makeZxid,
  type PeerId,
  WIRE_VERSION_MAX,
  type Zxid,
} from '@rookery/protocol';
import type { Ticket, ZabInput, ZabOutput } from '../../zab/types.js';
import { Zab } from '../../zab/zab.js';

/** H of the follower, ms. */
export const OWN_LEASE_MS = 12_000;
export const LEADER = 3;

export class TestFollower {
  readonly outputs: ZabOutput[] = [];
  /** Nothing becomes durable before `finishWriting`. */
  isDiskSlow = false;
  readonly #zab: Zab;
  #unwritten: Ticket | null = null;

  constructor(members: readonly PeerId[] = [1, 2, 3], { isWiped = false } = {}) {
    const epoch = isWiped ? 0 : 1;
    this.#zab = new Zab(
      {
        id: 1,
        members,
        heartbeatMs: 100,
        peerTimeoutMs: OWN_LEASE_MS,
        settleMs: 200,
        initTimeoutMs: 20_000,
        syncTimeoutMs: 10_000,
        windowBytesMax: 1000,
        learnerWindowBytesMax: 1000,
        deliveryBytesMax: 1000,
        chunkBytesMax: 1000,
        newIdentity: 7,
        newEnsembleId: 'new',
        foundWithQuorum: false,
      },
      {
        acceptedEpoch: epoch,
        currentEpoch: epoch,
        ensembleId: isWiped ? '' : 'E',
        founded: !isWiped,
        sound: true,
        applied: 0,
        history: { base: 0, ranges: [] },
        suffix: [],
        lineage: [],
      },
    );
  }

  get role(): string {
    return this.#zab.role;
  }
  get delivered(): number {
    return this.#zab.replica.delivered;
  }

  step(input: ZabInput): void {
    for (const output of this.#zab.step(input)) {
      this.outputs.push(output);
      if (!('ticket' in output)) continue;
      if (this.isDiskSlow) this.#unwritten = output.ticket;
      else this.step({ kind: 'persisted', ticket: output.ticket });
    }
  }

  finishWriting(): void {
    const ticket = this.#unwritten;
    this.#unwritten = null;
    if (ticket !== null) this.step({ kind: 'persisted', ticket });
  }

  hear(message: CoreMessage): void {
    this.step({ kind: 'message', peer: LEADER, link: 1, message });
  }

  tick(nowMs: number): void {
    this.step({ kind: 'tick', nowMs });
  }

  /** At 1,000 ms it has acknowledged NEWLEADER of epoch 2, and waits for UPTODATE. */
  synchronize(leaseMs = 0): void {
    this.tick(1_000);
    this.followInEpoch(2, 0, leaseMs);
  }

  /** The link to the leader ends, and with it the term. */
  leaveLeader(): void {
    this.step({ kind: 'disconnected', peer: LEADER, link: 1 });
  }

  /** It has acknowledged NEWLEADER of a leader whose history ends as its own, with `last`. */
  followInEpoch(epoch: number, last: Zxid, leaseMs = 0): void {
    this.beginSync(epoch, last);
    this.hear({ kind: 'newLeader', epoch, last, ensembleId: 'E', leaseMs });
  }

  /** It waits for a snapshot, or for proposals of a leader that knows its history, up to `last`. */
  beginSync(epoch: number, last: Zxid = 0, mode: 'diff' | 'snap' = 'diff'): void {
    this.step({ kind: 'connected', peer: LEADER, link: 1, version: WIRE_VERSION_MAX });
    const vote = { round: 1, leader: LEADER, epoch, zxid: makeZxid(epoch - 1, 0), ensembleId: 'E' };
    this.hear({ kind: 'vote', state: 'leading', ...vote, founded: true, sound: true });
    this.hear({ kind: 'newEpoch', epoch, established: false });
    this.hear({ kind: 'syncStart', mode, after: last, lineage: [], diverged: false });
  }
}
