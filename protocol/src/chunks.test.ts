/** Chunks keep every item, in order, and none is larger than the bound allows. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksByBytes } from './chunks.js';

describe('chunks', () => {
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
});
