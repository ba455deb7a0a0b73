/** Goal: a request is written once, in the frame that is sent, whatever is written behind it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarshallingError } from '../jute/errors.js';
import { decodePeerMessage, encodePeerFrame } from './codec.js';
import { type ForwardedRequest, RequestBatch, RequestWriter } from './request-batch.js';

const LENGTH_BYTES = 4;
const MESSAGE_BYTES_MAX = 256 << 10;

const requests: fc.Arbitrary<readonly ForwardedRequest[]> = fc.array(
  fc.record({
    request: fc.maxSafeNat(),
    session: fc.maxSafeNat(),
    attachment: fc.nat(),
    opcode: fc.nat(),
    body: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1_000, max: 300_000 }).map((length) => new Uint8Array(length).fill(length)),
    ),
    identities: fc.array(
      fc.record({ scheme: fc.constantFrom('ip', 'digest'), id: fc.string({ unit: 'grapheme' }) }),
      { maxLength: 3 },
    ),
  }),
  { maxLength: 30 },
);

function plain(items: readonly ForwardedRequest[]): unknown {
  return items.map(({ request, session, attachment, opcode, body, identities }) => {
    const ids = identities.map(({ scheme, id }) => `${scheme}:${id}`);
    return [request, session, attachment, opcode, Buffer.from(body).toString('hex'), ...ids];
  });
}

function received(frame: Uint8Array): RequestBatch {
  const message = decodePeerMessage(new Uint8Array(frame.subarray(LENGTH_BYTES)));
  if (message.kind !== 'requests') throw new Error(`a ${message.kind}`);
  return message.batch;
}

describe('batches of requests', () => {
  it('bring each request once and in order, though more is written behind what was taken', () => {
    fc.assert(
      fc.property(fc.array(requests, { maxLength: 6 }), (groups) => {
        const writer = new RequestWriter();
        const taken = groups.map((group) => {
          for (const request of group) writer.add(request);
          return writer.take();
        });
        for (const [index, batches] of taken.entries()) {
          const frames = batches.map((batch) => encodePeerFrame({ kind: 'requests', batch }));
          const items = frames.flatMap((frame) => received(frame).items);
          expect(plain(items)).toEqual(plain(groups[index] ?? []));
          expect(plain(batches.flatMap((batch) => batch.items))).toEqual(plain(items));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('are bounded, identities included, unless a single request is larger', () => {
    fc.assert(
      fc.property(requests, (list) => {
        const writer = new RequestWriter();
        for (const request of list) writer.add(request);
        for (const { bytes, items } of writer.take()) {
          if (items.length > 1) expect(bytes.length).toBeLessThanOrEqual(MESSAGE_BYTES_MAX);
        }
      }),
      { numRuns: 50 },
    );
    const writer = new RequestWriter();
    const identities = [{ scheme: 'digest', id: '\u4e00'.repeat(1_300) }];
    const small = { session: 1, attachment: 1, opcode: 5, body: new Uint8Array(9), identities };
    for (let request = 1; request <= 300; request++) writer.add({ request, ...small });
    const batches = writer.take();
    expect(batches.length).toBeGreaterThan(1);
    for (const { bytes } of batches) expect(bytes.length).toBeLessThanOrEqual(MESSAGE_BYTES_MAX);
  });

  it('are sent where they were written, without a copy', () => {
    const writer = new RequestWriter();
    const from = { session: 1, attachment: 1, opcode: 5, identities: [] };
    for (let request = 1; request <= 9; request++) {
      writer.add({ request, ...from, body: new Uint8Array(64 << 10).fill(request) });
    }
    for (const batch of writer.take()) {
      const frame = encodePeerFrame({ kind: 'requests', batch });
      expect(frame.buffer).toBe(batch.bytes.buffer);
      for (const { request, body } of batch.items) {
        expect(Buffer.compare(body, new Uint8Array(64 << 10).fill(request))).toBe(0);
        expect(body.buffer).toBe(frame.buffer);
      }
    }
  });

  it('are forgotten when the role ends', () => {
    const writer = new RequestWriter();
    const from = { session: 1, attachment: 1, opcode: 5, identities: [] };
    for (const request of [1, 2]) {
      writer.add({ request, ...from, body: new Uint8Array(200 << 10) });
    }
    writer.clear();
    expect(writer.take()).toEqual([]);
    writer.add({ request: 3, ...from, body: Buffer.from('abc') });
    const [batch] = writer.take();
    expect(batch?.items.map(({ request }) => request)).toEqual([3]);
  });

  it('are refused when they are garbage', () => {
    for (const garbage of ['', 'ffffffff', '00000001', 'ffffffff00000001', 'ffffffff0000000000']) {
      expect(() => RequestBatch.parse(Buffer.from(garbage, 'hex'))).toThrow(MarshallingError);
    }
  });
});
