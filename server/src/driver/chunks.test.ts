/** Chunks keep every item, in order, and none is larger than the bound allows. */
import { AuthPacket, chunksByBytes, encode, OpCode } from '@rookery/protocol';
import { encodePeerMessage } from '@rookery/protocol/peer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

describe('chunks of a turn', () => {
  it('hold every item once, in order, and are within the bound unless a single item is not', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 100 }), (lengths, bytesMax) => {
        const items = lengths.map((bytes, index) => ({ index, bytes }));
        const chunks = [...chunksByBytes(items, bytesMax, ({ bytes }) => bytes)];
        expect(chunks.flat()).toEqual(items);
        for (const chunk of chunks) {
          expect(chunk.length).toBeGreaterThan(0);
          const bytes = chunk.reduce((sum, item) => sum + item.bytes, 0);
          if (chunk.length > 1) expect(bytes).toBeLessThanOrEqual(bytesMax);
        }
      }),
    );
  });

  it('of nothing are none', () => {
    expect([...chunksByBytes([], 10, () => 1)]).toEqual([]);
  });

  it('count identities: many small requests of clients with long ones are many messages', () => {
    const digestOf = (userAndPassword: string) => `${userAndPassword.split(':')[0]}:digest`;
    const ensemble = new TestEnsemble({ digestOf });
    const clients = Array.from({ length: 300 }, () => ensemble.connect());
    for (const client of clients) {
      for (const letter of ['\u4e00', '\u4e01']) {
        const auth = Buffer.from(`${letter.repeat(1_300)}:x`);
        client.sendRaw(OpCode.auth, encode(AuthPacket, { type: 0, scheme: 'digest', auth }));
      }
      expect(client.take().map(({ error }) => error)).toEqual([0, 0]);
      client.delete('/none');
    }
    const items = ensemble.leader.pipeline.takeForwards();
    const bytesMax = 1 << 20;
    const chunks = [...chunksByBytes(items, bytesMax, ({ bytes }) => bytes)];
    expect(chunks.flat()).toEqual(items);
    expect(items).toHaveLength(clients.length);
    expect(chunks).toHaveLength(3);
    for (const chunk of chunks) {
      const { length } = encodePeerMessage({ kind: 'requests', items: chunk });
      expect(length).toBeLessThan(bytesMax + 100 * chunk.length);
    }
  });
});
