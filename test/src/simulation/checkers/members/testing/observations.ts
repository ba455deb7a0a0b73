/**
 * For tests of checkers: observations made by hand, stamped and passed to one checker.
 *
 * Storage outputs get their tickets here, in order, per member and incarnation. When a checker
 * rejects an observation, the call that passed it throws.
 */
import {
  type CoreMessage,
  type HistorySummary,
  makeZxid,
  type PeerId,
  ProposalBatch,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import {
  type NoteFacts,
  type Recovered,
  ReplicatedState,
  type Txn,
  type TxnOp,
  type ZabInput,
  type ZabOutput,
} from '../../../../simulated.js';
import type { Checker, NewChecker } from '../../../contract/checker.js';
import type { DiskStruck } from '../../../contract/observation.js';

const FACTS = {
  peerTimeoutMs: 1000,
  heartbeatMs: 100,
  clockDrift: 0.01,
  latencyMaxMs: 2,
  clockToleranceMs: 10_000,
  reapEveryMs: 60_000,
};

const EMPTY: Recovered = {
  ensembleId: '',
  founded: false,
  acceptedEpoch: 0,
  currentEpoch: 0,
  checkpointZxid: 0,
  history: { base: 0, ranges: [] },
  suffix: [],
  last: 0,
  damaged: null,
  lineage: [],
  servedWith: null,
};

export class Told {
  readonly #checker: Checker;
  readonly #lives = new Map<PeerId, number>();
  #order = 0;
  #waitedMs = 0;

  constructor(newChecker: NewChecker, members = 3) {
    this.#checker = newChecker({ ...FACTS, members });
  }

  started(member: PeerId, recovered: Partial<Recovered> = {}): this {
    this.#lives.set(member, (this.#lives.get(member) ?? 0) + 1);
    const full = { ...EMPTY, ...recovered };
    this.#checker.onStarted?.({ ...this.#stamp(member), recovered: full });
    return this;
  }

  struck(member: PeerId, how: DiskStruck['how'], keeps?: Zxid): this {
    this.#checker.onDiskStruck?.({ ...this.#stamp(member), how, keeps });
    return this;
  }

  gone(member: PeerId): this {
    this.#checker.onGone?.({ ...this.#stamp(member), how: 'crashed' });
    return this;
  }

  reach(member: PeerId, ...reaches: readonly PeerId[]): this {
    const { order, atMs } = this.#stamp(member);
    this.#checker.onReach?.({ order, atMs, member, reaches });
    return this;
  }

  step(member: PeerId, input: ZabInput, ...outputs: readonly ZabOutput[]): this {
    this.#checker.onStep?.({ ...this.#stamp(member), input, outputs });
    return this;
  }

  applied(member: PeerId, zxid: Zxid, txn: Partial<Txn>, state = new ReplicatedState()): this {
    this.#checker.onApplied?.({ ...this.#stamp(member), zxid, txn: txnOf(txn), state });
    return this;
  }

  clockSet(member: PeerId, errorMs: number): this {
    const { order, atMs } = this.#stamp(member);
    this.#checker.onClockSet?.({ order, atMs, member, errorMs });
    return this;
  }

  /** Nothing happens for this time. */
  wait(ms: number): this {
    this.#waitedMs += ms;
    return this;
  }

  end(...members: readonly { member: PeerId; state: ReplicatedState; applied: Zxid }[]): this {
    const { order, atMs } = this.#stamp(1);
    this.#checker.onEnd?.({ order, atMs, members });
    return this;
  }

  #stamp(member: PeerId) {
    this.#order += 1;
    const incarnation = this.#lives.get(member) ?? 1;
    const atMs = this.#order + this.#waitedMs;
    return { order: this.#order, atMs, member, incarnation, ownMs: atMs };
  }
}

export const TICK: ZabInput = { kind: 'tick', nowMs: 0 };

export function zxid(epoch: number, counter: number): Zxid {
  return makeZxid(epoch, counter);
}

/** Proposals of one epoch, `first` to `last`; the first one follows `previous`. */
export function proposals(
  epoch: number,
  first: number,
  last: number,
  previous: Zxid = makeZxid(epoch, Math.max(0, first - 1)),
): ProposalBatch {
  const list = Array.from({ length: last - first + 1 }, (_, index) => ({
    zxid: makeZxid(epoch, first + index),
    previous: index === 0 ? previous : makeZxid(epoch, first + index - 1),
    body: Buffer.from(`body of ${epoch}:${first + index}`),
  }));
  return ProposalBatch.of(list);
}

export function history(epoch: number, first: number, last: number, base: Zxid = 0) {
  const summary: HistorySummary = { base, ranges: [{ epoch, first, last }] };
  return summary;
}

export function persisted(ticket: number): ZabInput {
  return { kind: 'persisted', ticket };
}

export function propose(batch: ProposalBatch): ZabInput {
  return { kind: 'propose', batch };
}

export function from(peer: PeerId, message: CoreMessage): ZabInput {
  return { kind: 'message', peer, link: peer, message };
}

export function send(peer: PeerId, message: CoreMessage): ZabOutput {
  return { kind: 'send', peer, link: peer, message };
}

export function append(ticket: number, batch: ProposalBatch): ZabOutput {
  return { kind: 'append', ticket, batch };
}

export function deliver(batch: ProposalBatch): ZabOutput {
  return { kind: 'deliver', batch };
}

export function truncate(ticket: number, after: Zxid): ZabOutput {
  return { kind: 'truncate', ticket, after, diverged: false };
}

export function install(ticket: number, at: Zxid): ZabOutput {
  return { kind: 'installSnapshot', ticket, zxid: at, lineage: [] };
}

export function save(
  ticket: number,
  accepted: number,
  current: number,
  ensembleId = 'ensemble',
  founded = false,
): ZabOutput {
  const facts = { accepted, current, ensembleId, founded, lineage: [], settled: true };
  return { kind: 'saveEpochs', ticket, ...facts };
}

export function role(
  name: 'looking' | 'following' | 'leading',
  leader: PeerId,
  epoch: number,
): ZabOutput {
  return { kind: 'role', role: name, leader, epoch };
}

export function note(event: string, facts: NoteFacts = {}): ZabOutput {
  return { kind: 'note', event, facts };
}

export function vote(said: Partial<VoteMessage>): VoteMessage {
  return {
    kind: 'vote',
    round: 1,
    state: 'looking',
    leader: 0,
    epoch: 0,
    zxid: 0,
    ensembleId: 'ensemble',
    founded: true,
    sound: true,
    ...said,
  };
}

export function newLeader(epoch: number, last: Zxid): CoreMessage {
  return { kind: 'newLeader', epoch, last, ensembleId: 'ensemble', leaseMs: 0 };
}

export function ackNewLeader(epoch: number, last: Zxid): CoreMessage {
  return { kind: 'ackNewLeader', epoch, last };
}

export function ackEpoch(epoch: number, currentEpoch: number, summary: HistorySummary) {
  const range = summary.ranges.at(-1);
  const last = range === undefined ? summary.base : makeZxid(range.epoch, range.last);
  const message: CoreMessage = {
    kind: 'ackEpoch',
    epoch,
    currentEpoch,
    last,
    applied: summary.base,
    history: summary,
    snapshotOnly: false,
    lineage: [],
  };
  return message;
}

export function txnOf(txn: Partial<Txn>): Txn {
  return { origin: 1, request: 1, session: 0, time: 1000, op: NOTHING, ...txn };
}

export const NOTHING: TxnOp = { kind: 'error', code: -101, codes: null };
export const OPEN: TxnOp = { kind: 'createSession', timeoutMs: 4000, password: new Uint8Array(16) };
export const CLOSE: TxnOp = { kind: 'closeSession' };

export function create(path: string, mode: 'persistent' | 'ephemeral' = 'persistent') {
  const op = { kind: 'create', path, data: null, acl: [], mode, ttlMs: 0, opcode: 1 } as const;
  return op satisfies TxnOp;
}

const SILENT = {
  created: () => undefined,
  deleted: () => undefined,
  dataChanged: () => undefined,
};

/** A real state to which these transactions were applied, at the zxids 1, 2, 3 ... of epoch 1. */
export function stateOf(...txns: readonly Partial<Txn>[]): ReplicatedState {
  const state = new ReplicatedState();
  txns.forEach((txn, index) => {
    state.apply(makeZxid(1, index + 1), txnOf(txn), SILENT);
  });
  return state;
}
