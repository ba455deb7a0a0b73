/**
 * Goal: members understand each other and survive anybody else.
 * Method: every kind of message with random fields there and back; garbage and damage for the rest.
 */
import * as fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { MarshallingError } from '../jute/errors.js';
import { decodePeerMessage, encodePeerFrame, type LinkMessage } from './codec.js';
import type { Proposal } from './proposal.js';
import { ProposalBatch } from './proposal-batch.js';
import { RequestBatch } from './request-batch.js';
import { RESERVED_FIELD_SINCE } from './wire-version.js';
import { COUNTER_MAX, EPOCH_MAX } from './zxid.js';

/** Only the synchronous overload: an asynchronous property does not compile. */
const holds: <T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>) => void = fc.assert;

const uint = fc.maxSafeNat();
const small = fc.integer({ min: 0, max: 0x7fff_ffff });
const zxid = fc.maxSafeNat();
const epoch = fc.integer({ min: 0, max: EPOCH_MAX });
const counter = fc.integer({ min: 0, max: COUNTER_MAX });
const id = fc.integer({ min: 0, max: 255 });
const flag = fc.boolean();
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const exactly = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const identities = fc.array(fc.record({ scheme: fc.constantFrom('ip', 'digest'), id: text }), {
  maxLength: 3,
});
const ms = fc.double({ min: 0, max: 1e12, noNaN: true }).map((value) => value + 0);
const history = fc.record({
  base: zxid,
  ranges: fc.array(fc.record({ epoch, first: counter, last: counter }), { maxLength: 5 }),
});

const start = fc.record({
  incarnation: fc.string({ maxLength: 40 }),
  count: uint,
  instance: fc.string({ maxLength: 40 }),
});
const lineage = fc.array(fc.record({ epoch, identity: uint }), { maxLength: 5 });

/** Consecutive proposals: the bodies and the steps from zxid to zxid are random. */
const proposals: fc.Arbitrary<readonly Proposal[]> = fc
  .tuple(
    fc.integer({ min: 0, max: 2 ** 52 }),
    fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 33 }), bytes), { minLength: 1, maxLength: 8 }),
  )
  .map(([first, steps]) => {
    let previous = first;
    return steps.map(([step, body]) => {
      const proposal = { zxid: previous + step, previous, body };
      previous = proposal.zxid;
      return proposal;
    });
  });

const MESSAGES: {
  readonly [K in LinkMessage['kind']]: fc.Arbitrary<
    Omit<Extract<LinkMessage, { kind: K }>, 'kind'>
  >;
} = {
  ping: fc.record({ sent: ms, echo: ms }),
  vote: fc.record({
    round: uint,
    state: fc.constantFrom('looking', 'following', 'leading'),
    leader: id,
    epoch,
    zxid,
    ensembleId: text,
    founded: flag,
    sound: flag,
    former: fc.array(fc.array(id, { maxLength: 4 }), { maxLength: 3 }),
    full: flag,
    spares: fc.array(id, { maxLength: 5 }),
  }),
  followerInfo: fc.record({ acceptedEpoch: epoch }),
  newEpoch: fc.record({ epoch, established: flag }),
  ackEpoch: fc.record({
    epoch,
    currentEpoch: epoch,
    last: zxid,
    applied: zxid,
    history,
    snapshotOnly: flag,
    lineage,
  }),
  syncStart: fc.record({
    mode: fc.constantFrom('diff', 'trunc', 'snap'),
    after: zxid,
    lineage,
    diverged: flag,
  }),
  snapshotDone: fc.record({ zxid }),
  propose: fc.record({ batch: proposals.map((list) => ProposalBatch.of(list)) }),
  newLeader: fc.record({ epoch, last: zxid, ensembleId: text, leaseMs: fc.nat(1_000_000_000) }),
  ackNewLeader: fc.record({ epoch, last: zxid }),
  upToDate: fc.record({ committed: zxid, reserved: uint }),
  ack: fc.record({ zxid }),
  commit: fc.record({ zxid }),
  leaderDurable: fc.record({ zxid }),
  confirm: fc.record({ round: uint }),
  confirmAck: fc.record({ round: uint }),
  requests: fc.record({
    batch: fc
      .array(
        fc.record({
          request: uint,
          session: uint,
          attachment: small,
          opcode: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
          body: bytes,
          identities,
        }),
        { maxLength: 20 },
      )
      .map((items) => RequestBatch.of(items)),
  }),
  sync: fc.record({ request: uint }),
  synced: fc.record({ request: uint, zxid }),
  attach: fc.record({ request: uint, attachment: small, session: uint, password: bytes }),
  attached: fc.record({ request: uint, valid: flag, timeoutMs: uint }),
  detach: fc.record({ session: uint, attachment: small, request: uint }),
  touch: fc.record({ sessions: fc.array(uint, { maxLength: 40 }) }),
  snapshotChunk: fc.record({
    index: uint,
    records: fc.array(fc.tuple(bytes, bytes), { maxLength: 20 }),
  }),
  snapshotAck: fc.record({ index: uint }),
  digests: fc.record({
    digests: fc.array(fc.record({ zxid, digest: fc.string({ maxLength: 64 }) })),
  }),
  diverged: fc.record({ zxid }),
  backupNews: fc.record({ slot: uint, isDone: fc.boolean() }),
  ask: fc.record({ number: uint, question: fc.string({ maxLength: 4096 }) }),
  tell: fc.record({ number: uint, answer: bytes }),
  clock: fc.record({ wallMs: fc.integer({ min: -8_640_000_000_000_000, max: 8.64e15 }) }),
  hello: fc.record({
    version: uint,
    id,
    to: id,
    instance: text,
    ensembleId: text,
    founded: flag,
    offer: fc.record({
      wireMin: fc.nat(1_000_000),
      release: fc.string({ maxLength: 100 }),
      level: fc.nat(1_000_000),
      levelMax: fc.nat(1_000_000),
      levelAgreed: fc.nat(1_000_000),
      treeBytes: fc.maxSafeNat(),
      shared: fc.array(fc.tuple(fc.string({ maxLength: 100 }), fc.string({ maxLength: 1000 }))),
      start,
      earlierStarts: fc.array(fc.string({ maxLength: 100 })),
      lastSeen: start,
    }),
  }),
  claim: fc.record({ id, to: id, nonce: exactly(32) }),
  challenge: fc.record({ nonce: exactly(32) }),
  proof: fc.record({
    ensembleId: fc.string({ maxLength: 100 }),
    codes: fc.array(exactly(32), { maxLength: 2 }),
  }),
  refuse: fc.record({ reason: text, isLasting: flag }),
};

const kinds = Object.keys(MESSAGES) as LinkMessage['kind'][];

function messagesOf(kind: LinkMessage['kind']): fc.Arbitrary<LinkMessage> {
  return MESSAGES[kind].map((fields) => ({ ...fields, kind }) as LinkMessage);
}

/**
 * fast-check's objects have no prototype, which toEqual would tell apart; decoded requests are
 * places in what came.
 */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, one) => {
      if (typeof one !== 'object' || one === null) return one;
      if (one instanceof ProposalBatch) return [...one];
      if (one instanceof RequestBatch) return one.items;
      if (!('identities' in one)) return one;
      const { request, session, attachment, opcode, body, identities } = one;
      return { request, session, attachment, opcode, body, identities };
    }),
  );
}

/** The frame without its length. */
function messageOf(value: LinkMessage, version?: number): Uint8Array {
  return encodePeerFrame(value, version).subarray(4);
}

function readsOrRefuses(frame: Uint8Array): void {
  try {
    decodePeerMessage(frame);
  } catch (error) {
    expect(error).toBeInstanceOf(MarshallingError);
  }
}

const packr = new Packr({ useRecords: false, largeBigIntToFloat: true });

describe('a peer message', () => {
  it.each(kinds)('%s comes back as it went', (kind) => {
    holds(
      fc.property(messagesOf(kind), (message) => {
        expect(plain(decodePeerMessage(messageOf(message)))).toEqual(plain(message));
      }),
      { numRuns: 50 },
    );
  });

  it('has no field that a later version added on a link of the version before', () => {
    holds(
      fc.property(messagesOf('upToDate'), (message) => {
        const before = RESERVED_FIELD_SINCE - 1;
        const read = decodePeerMessage(messageOf(message, before), before);
        expect(plain(read)).toEqual(plain({ ...message, reserved: 0 }));
        const packed = messageOf(message, RESERVED_FIELD_SINCE);
        expect(() => decodePeerMessage(packed, before)).toThrowError(MarshallingError);
        const cut = messageOf(message, before);
        expect(() => decodePeerMessage(cut, RESERVED_FIELD_SINCE)).toThrowError(MarshallingError);
      }),
      { numRuns: 50 },
    );
  });

  it.each(kinds)('%s that is damaged or cut is read or refused', (kind) => {
    const damaged = fc.record({
      message: messagesOf(kind),
      at: fc.nat(),
      byte: fc.nat(255),
      cut: flag,
    });
    holds(
      fc.property(damaged, ({ message, at, byte, cut }) => {
        const frame = Buffer.from(messageOf(message));
        const index = at % frame.length;
        frame[index] = byte;
        readsOrRefuses(cut ? frame.subarray(0, index) : frame);
      }),
    );
  });

  it('is refused, with nothing else thrown, when it is garbage', () => {
    holds(fc.property(fc.uint8Array({ maxLength: 60 }), readsOrRefuses), { numRuns: 2000 });
  });

  it('is refused when it is other msgpack', () => {
    const values = fc.anything({ withBigInt: true, withDate: true, withMap: true, maxDepth: 3 });
    holds(fc.property(values, (value) => readsOrRefuses(packr.pack([8, value]))));
    for (const value of [null, 7, 'ping', {}, [], [99], [1], [1, 2], [1, 2, 3, 4], [1, -1, 0]]) {
      expect(() => decodePeerMessage(packr.pack(value))).toThrowError(MarshallingError);
    }
  });

  it('is refused when a list claims more than the frame holds', () => {
    for (const frame of ['ddffffffff', '9216ddffffffff', 'dcffff', '9216c6ffffffff', '']) {
      const garbage = Buffer.from(frame, 'hex');
      expect(() => decodePeerMessage(garbage)).toThrowError(MarshallingError);
    }
  });

  it('is refused when it is nested deeper than any message is', () => {
    const deep = Buffer.concat([Buffer.alloc(100_000, 0x91), Buffer.of(1)]);
    expect(() => decodePeerMessage(deep)).toThrowError(MarshallingError);
  });

  it('is refused when something follows it', () => {
    const frame = Buffer.concat([messageOf({ kind: 'ack', zxid: 7 }), Buffer.of(0)]);
    expect(() => decodePeerMessage(frame)).toThrowError(MarshallingError);
  });

  it('does not share memory with the next one that is encoded', () => {
    const first = messageOf({ kind: 'ack', zxid: 7 });
    for (let zxid = 100; zxid < 20_000; zxid++) messageOf({ kind: 'ack', zxid });
    expect(decodePeerMessage(first)).toEqual({ kind: 'ack', zxid: 7 });
  });
});

describe('a frame', () => {
  it('is the length of the message and the message', () => {
    holds(
      fc.property(proposals, fc.nat(), (list, zxid) => {
        for (const message of [
          { kind: 'propose', batch: ProposalBatch.of(list) },
          { kind: 'ack', zxid },
        ] as const) {
          const frame = Buffer.from(encodePeerFrame(message));
          expect(frame.readInt32BE()).toBe(frame.length - 4);
          expect(decodePeerMessage(frame.subarray(4)).kind).toBe(message.kind);
        }
      }),
    );
  });
});

describe('encodePeerFrame', () => {
  it('asserts that what is sent could be read', () => {
    for (const message of [
      { kind: 'ack', zxid: 2 ** 53 } as const,
      { kind: 'newEpoch', epoch: EPOCH_MAX + 1, established: true } as const,
      { kind: 'confirm', round: -1 } as const,
    ]) {
      expect(() => encodePeerFrame(message)).toThrowError(
        expect.objectContaining({ name: 'InvariantViolation' }),
      );
    }
  });
});
