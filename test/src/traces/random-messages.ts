/**
 * Messages that no honest member would send: well-typed ones with arbitrary fields, and real ones
 * with changes.
 *
 * Numbers are drawn from those that the ensemble uses at present, their neighbours, and the limits
 * of a field: a wrong message is most dangerous when it is nearly right. Every message passes
 * through the codec, so all of them could come from a link.
 */
import {
  COUNTER_MAX,
  type CoreMessage,
  EPOCH_MAX,
  epochOf,
  makeZxid,
  type PeerId,
  type Proposal,
  ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import { decodePeerMessage, encodePeerFrame } from '@rookery/protocol/peer';

export interface Around {
  readonly zxids: readonly Zxid[];
  readonly epochs: readonly number[];
  readonly rounds: readonly number[];
  readonly ids: readonly PeerId[];
}

type Fields = Record<string, unknown>;

const KINDS = [
  'ping',
  'vote',
  'followerInfo',
  'newEpoch',
  'ackEpoch',
  'syncStart',
  'snapshotDone',
  'propose',
  'newLeader',
  'ackNewLeader',
  'upToDate',
  'ack',
  'commit',
  'leaderDurable',
  'confirm',
  'confirmAck',
] as const satisfies readonly CoreMessage['kind'][];

export class RandomMessages {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Returns any message, of any kind. */
  any(around: Around): CoreMessage {
    const kind = this.#pick(KINDS);
    return asSent({ kind, ...this.#fieldsOf(kind, around) } as CoreMessage) ?? this.any(around);
  }

  /** Returns the message with another value in one of its fields. */
  changed(message: CoreMessage, around: Around): CoreMessage {
    const other = this.#fieldsOf(message.kind, around);
    const name = this.#pick(Object.keys(other));
    return asSent({ ...message, [name]: other[name] } as CoreMessage) ?? message;
  }

  #fieldsOf(kind: CoreMessage['kind'], around: Around): Fields {
    const zxid = () => this.#zxid(around);
    const epoch = () => this.#epoch(around);
    const round = () => this.#near(around.rounds, Number.MAX_SAFE_INTEGER);
    switch (kind) {
      case 'ping':
        return { sent: this.#random() * 1e9, echo: this.#random() * 1e9 };
      case 'vote':
        return {
          round: round(),
          state: this.#pick(['looking', 'following', 'leading']),
          leader: this.#pick([...around.ids, 0, 77]),
          epoch: epoch(),
          zxid: zxid(),
          ensembleId: this.#pick(['', 'E1.1', 'other']),
          founded: this.#chance(0.5),
          sound: this.#chance(0.8),
          full: this.#chance(0.3),
          spares: this.#chance(0.8) ? [] : [this.#pick([...around.ids, 77])],
        };
      case 'followerInfo':
        return { acceptedEpoch: epoch() };
      case 'newEpoch':
        return { epoch: epoch(), established: this.#chance(0.5) };
      case 'ackEpoch':
        return {
          epoch: epoch(),
          currentEpoch: epoch(),
          last: zxid(),
          applied: zxid(),
          history: this.#history(around),
          snapshotOnly: this.#chance(0.3),
          lineage: this.#lineage(around),
        };
      case 'syncStart':
        return {
          mode: this.#pick(['diff', 'trunc', 'snap']),
          after: zxid(),
          lineage: this.#lineage(around),
          diverged: this.#chance(0.3),
        };
      case 'propose':
        return { batch: this.#batch(around) };
      case 'newLeader':
        return {
          epoch: epoch(),
          last: zxid(),
          ensembleId: this.#pick(['', 'E1.1', 'other']),
          leaseMs: this.#pick([0, 1, 1_000]),
        };
      case 'ackNewLeader':
        return { epoch: epoch(), last: zxid() };
      case 'upToDate':
        return { committed: zxid() };
      case 'snapshotDone':
      case 'ack':
      case 'commit':
      case 'leaderDurable':
        return { zxid: zxid() };
      default:
        return { round: round() };
    }
  }

  #lineage(around: Around) {
    const count = Math.floor(this.#random() * 3);
    const identity = () => this.#pick([0, 1, 2_001, 3_001, Number.MAX_SAFE_INTEGER]);
    return Array.from({ length: count }, () => ({
      epoch: this.#epoch(around),
      identity: identity(),
    }));
  }

  #history(around: Around) {
    const ranges = Array.from({ length: Math.floor(this.#random() * 4) }, () => ({
      epoch: this.#epoch(around),
      first: this.#near([0, 1, 5], COUNTER_MAX),
      last: this.#near([1, 5, 9], COUNTER_MAX),
    }));
    return { base: this.#zxid(around), ranges };
  }

  #batch(around: Around): ProposalBatch {
    const proposals: Proposal[] = [];
    let previous = this.#zxid(around);
    if (previous >= Number.MAX_SAFE_INTEGER) previous = 0;
    for (let left = 1 + Math.floor(this.#random() * 3); left > 0; left--) {
      const next = this.#chance(0.7) || proposals.length === 0 ? previous + 1 : this.#zxid(around);
      if (next <= previous || !Number.isSafeInteger(next)) break;
      proposals.push({ zxid: next, previous, body: Buffer.from('hostile') });
      previous = next;
    }
    return ProposalBatch.of(proposals);
  }

  #zxid(around: Around): Zxid {
    if (this.#chance(0.2)) return makeZxid(this.#epoch(around), this.#near([1, 3], COUNTER_MAX));
    return this.#near(around.zxids, Number.MAX_SAFE_INTEGER);
  }

  #epoch(around: Around): number {
    return this.#near(around.epochs, EPOCH_MAX);
  }

  #near(known: readonly number[], max: number): number {
    const value = this.#chance(0.1) ? this.#pick([0, max, max - 1]) : this.#pick([...known, 0]);
    const shift = this.#chance(0.3) ? this.#pick([-1, 1, 2, 1 << 16]) : 0;
    return Math.min(max, Math.max(0, value + shift));
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }
}

/** Null for what the codec of an honest member would not send. */
function asSent(message: CoreMessage): CoreMessage | null {
  const { kind } = message;
  if (kind === 'propose' && epochOf(message.batch.last) > EPOCH_MAX) {
    return null;
  }
  return decodePeerMessage(encodePeerFrame(message).subarray(4)) as CoreMessage;
}
