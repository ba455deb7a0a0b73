/** Goal: a batch is what it was made of, whichever way it was made, and its frame harms nothing. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarshallingError } from '../jute/errors.js';
import { JuteReader } from '../jute/reader.js';
import { decodePeerMessage, encodePeerFrame } from './codec.js';
import type { Proposal } from './proposal.js';
import { BatchWriter, ProposalBatch } from './proposal-batch.js';
import { epochOf, makeZxid } from './zxid.js';

const LENGTH_BYTES = 4;
/** The frame's length, an array of two, its code, and the head of a byte string. */
const HEAD_BYTES = 11;

/** Consecutive proposals, of one or more epochs; now and then a zxid is left out. */
const proposals: fc.Arbitrary<readonly Proposal[]> = fc
  .tuple(
    fc.integer({ min: 0, max: 5 }),
    fc.array(fc.tuple(fc.constantFrom(1, 1, 1, 1, 2, 2 ** 32), fc.uint8Array({ maxLength: 20 })), {
      minLength: 1,
      maxLength: 12,
    }),
  )
  .map(([first, steps]) => {
    let previous = makeZxid(3, first);
    return steps.map(([step, body]) => {
      const proposal = { zxid: previous + step, previous, body: Buffer.from(body) };
      previous = proposal.zxid;
      return proposal;
    });
  });

function written(...bodies: readonly string[]): ProposalBatch {
  const writer = new BatchWriter();
  for (const [index, body] of bodies.entries()) {
    const jute = writer.begin(7 + index, 6 + index);
    jute.raw(Buffer.from(body));
    jute.endFrame();
  }
  return writer.take();
}

function frameOf(batch: ProposalBatch): Uint8Array {
  return encodePeerFrame({ kind: 'propose', batch });
}

function received(frame: Uint8Array): ProposalBatch {
  const message = decodePeerMessage(new Uint8Array(frame.subarray(LENGTH_BYTES)));
  if (message.kind !== 'propose') throw new Error(`a ${message.kind}`);
  return message.batch;
}

function factsOf({ previous, first, last, count, bytes }: ProposalBatch) {
  return { previous, first, last, count, bytes: bytes.toString('hex') };
}

describe('a batch of proposals', () => {
  it('has the bytes that members and logs of all releases read', () => {
    const batch = written('abc', '');
    const first = '0000000000000007' + '0000000000000006' + '00000003' + '616263';
    const second = '0000000000000008' + '0000000000000007' + '00000000';
    expect(batch.bytes.toString('hex')).toBe(first + second);
    const head = '00000032' + '92' + '08' + 'c6' + '0000002b';
    expect(Buffer.from(frameOf(batch)).toString('hex')).toBe(head + first + second);
  });

  it('is read as what it was made of', () => {
    fc.assert(
      fc.property(proposals, (list) => {
        const batch = ProposalBatch.of(list);
        expect([...batch]).toEqual(list);
        expect(factsOf(batch)).toMatchObject({
          previous: list[0]?.previous,
          first: list[0]?.zxid,
          last: list.at(-1)?.zxid,
          count: list.length,
        });
        const parsed = ProposalBatch.parse(new Uint8Array(batch.bytes));
        expect(factsOf(parsed)).toEqual(factsOf(batch));
        const reader = new JuteReader(new Uint8Array(0));
        for (const cursor = parsed.cursor(), at = list.values(); cursor.next(); ) {
          cursor.pointAtBody(reader);
          expect(Buffer.from(reader.rest())).toEqual(at.next().value?.body);
        }
      }),
    );
  });

  it('has its zxids in ranges of consecutive ones of an epoch', () => {
    fc.assert(
      fc.property(proposals, (list) => {
        const ranges = ProposalBatch.of(list).ranges();
        const zxids = ranges.flatMap(({ first, last }) =>
          Array.from({ length: last - first + 1 }, (_, index) => first + index),
        );
        expect(zxids).toEqual(list.map(({ zxid }) => zxid));
        for (const { first, last } of ranges) expect(epochOf(first)).toBe(epochOf(last));
        for (const [index, { first }] of ranges.entries()) {
          const before = ranges[index - 1]?.last ?? -1;
          expect(first > before + 1 || epochOf(first) !== epochOf(before)).toBe(true);
        }
      }),
    );
  });

  it('has the parts that a list has, without a copy', () => {
    const of = fc.tuple(proposals, fc.nat(14), fc.nat(14), fc.nat(200));
    fc.assert(
      fc.property(of, ([list, from, to, bytesMax]) => {
        const batch = ProposalBatch.of(list);
        const after = list[from]?.zxid ?? batch.previous;
        const through = list[to]?.zxid ?? batch.last;
        const wanted = list.filter(({ zxid }) => zxid > after && zxid <= through);
        const part = batch.part(after, through);
        expect(part === null ? [] : [...part]).toEqual(wanted);
        const small = batch.part(after, through, bytesMax);
        expect(small === null).toBe(part === null);
        if (part === null || small === null) return;
        expect(small.bytes.buffer).toBe(batch.bytes.buffer);
        expect([...small]).toEqual(wanted.slice(0, small.count));
        if (small.count > 1) expect(small.bytes.length).toBeLessThanOrEqual(bytesMax);
        const next = wanted[small.count];
        if (next === undefined) return;
        const more = small.bytes.length + ProposalBatch.of([next]).bytes.length;
        expect(more).toBeGreaterThan(bytesMax);
      }),
    );
  });

  it('keeps little more memory alive than it needs, once it is compact', () => {
    const proposals = Array.from({ length: 50 }, (_, index) => ({
      zxid: index + 2,
      previous: index + 1,
      body: new Uint8Array(100).fill(index),
    }));
    const whole = ProposalBatch.of(proposals);
    expect(whole.compact()).toBe(whole);
    const part = whole.part(20, 23);
    expect(part?.bytes.buffer).toBe(whole.bytes.buffer);
    const compact = part?.compact();
    expect(compact?.bytes.buffer.byteLength).toBeLessThan(2 * (part?.bytes.length ?? 0));
    expect([...(compact ?? [])]).toEqual([...(part ?? [])]);
    expect(compact).toMatchObject({ previous: 20, first: 21, last: 23, count: 3 });
  });

  it('is made of the parts of another one again', () => {
    fc.assert(
      fc.property(proposals, fc.nat(100), (list, bytesMax) => {
        const batch = ProposalBatch.of(list);
        const parts: ProposalBatch[] = [];
        for (let after = batch.previous; after < batch.last; after = parts.at(-1)?.last ?? 0) {
          parts.push(batch.part(after, batch.last, bytesMax) ?? batch);
        }
        expect(factsOf(ProposalBatch.join(parts))).toEqual(factsOf(batch));
        expect(ProposalBatch.join([batch])).toBe(batch);
      }),
    );
  });

  it('is written in its place, behind others that stay as they are, as long as there is room', () => {
    const bodies = fc.array(fc.constantFrom(0, 1, 100, 9_000, 70_000, 1_100_000), {
      maxLength: 40,
    });
    const check = (sizes: readonly number[], perTurn: number) => {
      const writer = new BatchWriter();
      const batches: ProposalBatch[] = [];
      for (const [index, size] of sizes.entries()) {
        if (!writer.hasRoomFor(size) || writer.count === perTurn) batches.push(writer.take());
        const jute = writer.begin(index + 1, index);
        jute.raw(new Uint8Array(size).fill(index));
        jute.endFrame();
      }
      if (writer.count > 0) batches.push(writer.take());
      const written = batches.flatMap((batch) => [...batch]);
      expect(written.map(({ zxid }) => zxid)).toEqual(sizes.map((_, index) => index + 1));
      for (const [index, { body }] of written.entries()) {
        expect(Buffer.compare(body, new Uint8Array(sizes[index] ?? 0).fill(index))).toBe(0);
      }
    };
    fc.assert(fc.property(bodies, fc.integer({ min: 1, max: 50 }), check), { numRuns: 30 });
  });

  it('is read or refused when it is garbage, damaged or cut', () => {
    const check = (packed: Uint8Array) => {
      try {
        ProposalBatch.parse(packed);
      } catch (error) {
        expect(error).toBeInstanceOf(MarshallingError);
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), check));
    fc.assert(
      fc.property(proposals, fc.nat(), fc.nat(255), fc.boolean(), (list, at, byte, isCut) => {
        const bytes = Buffer.from(ProposalBatch.of(list).bytes);
        const index = at % bytes.length;
        bytes[index] = byte;
        check(isCut ? bytes.subarray(0, index) : bytes);
      }),
    );
    expect(() => ProposalBatch.parse(new Uint8Array(0))).toThrow('a batch is empty');
  });

  it('is not made of nothing, nor of proposals that do not follow each other', () => {
    const body = new Uint8Array(0);
    expect(() => ProposalBatch.of([])).toThrow('a batch is not empty');
    expect(() => ProposalBatch.of([{ zxid: 5, previous: 5, body }])).toThrow('0x5');
    const gap = [
      { zxid: 5, previous: 4, body },
      { zxid: 7, previous: 6, body },
    ];
    expect(() => ProposalBatch.of(gap)).toThrow('0x7');
    expect(() => ProposalBatch.join(gap.map((one) => ProposalBatch.of([one])))).toThrow('0x7');
  });
});

describe('the frame of a batch', () => {
  it('lies in the headroom, is the same for every link, and leaves the batch as it is', () => {
    const batch = written('abc');
    const before = Buffer.from(batch.bytes);
    const frame = frameOf(batch);
    const sent = Buffer.from(frame);
    expect(frameOf(batch)).toEqual(sent);
    expect(frame).toEqual(sent);
    expect(frame.buffer).toBe(batch.bytes.buffer);
    expect(batch.headroom).toBeGreaterThanOrEqual(HEAD_BYTES);
    expect(Buffer.compare(batch.bytes, before)).toBe(0);
  });

  it('is a copy where what lies before the batch is not its own', () => {
    const batch = written('abc', 'de');
    const part = batch.part(batch.first, batch.last);
    if (part === null) throw new Error('the second proposal is a part');
    const before = Buffer.from(batch.bytes);
    const frame = frameOf(part);
    expect(frame.buffer).not.toBe(batch.bytes.buffer);
    expect(Buffer.compare(batch.bytes, before)).toBe(0);
    expect(factsOf(received(frame))).toEqual(factsOf(part));
  });

  it('comes back as the batch, which can be sent on', () => {
    const batch = received(frameOf(written('abc')));
    const frame = frameOf(batch);
    expect(Buffer.compare(frame, frameOf(written('abc')))).toBe(0);
    expect(factsOf(received(frame))).toEqual(factsOf(batch));
  });
});
