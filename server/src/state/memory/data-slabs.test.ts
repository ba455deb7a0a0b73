import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataSlabs } from './data-slabs.js';

interface Held {
  readonly location: number;
  readonly size: number;
  readonly fill: number;
}

function fill(slabs: DataSlabs, held: Held): void {
  const at = slabs.offset(held.location);
  slabs.bytes(held.location).fill(held.fill, at, at + held.size);
}
function isIntact(slabs: DataSlabs, held: Held): boolean {
  const at = slabs.offset(held.location);
  const view = slabs.bytes(held.location).subarray(at, at + held.size);
  return Buffer.compare(view, Buffer.alloc(held.size, held.fill)) === 0;
}

describe('data slabs', () => {
  it('never give two slots the same bytes', () => {
    const size = fc.oneof(
      fc.integer({ min: 1, max: 700 }),
      fc.constantFrom(32_767, 32_768, 32_769, 200_000),
    );
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ size }) },
      { weight: 2, arbitrary: fc.record({ free: fc.nat() }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), fc.boolean(), (steps, grows) => {
        // Chunks that become larger from the second one on, or only once there are very many.
        const slabs = grows ? new DataSlabs((bytes) => Buffer.alloc(bytes), 1) : new DataSlabs();
        const all: Held[] = [];
        for (const [i, next] of steps.entries()) {
          if ('size' in next) {
            const held = { location: slabs.allocate(next.size), size: next.size, fill: i & 0xff };
            expect(slabs.fits(held.location, held.size)).toBe(true);
            fill(slabs, held);
            all.push(held);
          } else if (all.length > 0) {
            const [held] = all.splice(next.free % all.length, 1);
            slabs.free(held?.location ?? -1);
          }
        }
        expect(all.every((held) => isIntact(slabs, held))).toBe(true);
        for (const held of all) {
          slabs.free(held.location);
        }
        expect(slabs.reservedBytes).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('have numbers for more large values than there are chunks', () => {
    const memory = Buffer.alloc(40_000);
    const slabs = new DataSlabs(() => memory);
    const locations = new Set<number>();
    for (let index = 0; index < 300_000; index++) locations.add(slabs.allocate(40_000));
    expect(locations.size).toBe(300_000);
    expect([...locations].every((location) => (location | 0) === location)).toBe(true);
    const [first = 0, second = 0] = locations;
    slabs.free(second);
    expect(slabs.allocate(40_000)).toBe(second);
    expect(slabs.bytes(first)).toBe(memory);
    expect(slabs.reservedBytes).toBe(300_000 * 40_000);
  });

  it('have numbers for as many slots as memory holds: later chunks are larger', () => {
    let largest = 0;
    const memory = Buffer.alloc(64 << 20);
    const slabs = new DataSlabs((bytes) => {
      largest = Math.max(largest, bytes);
      return memory.subarray(0, bytes);
    }, 2);
    // The chunks are 12 of 4, 32 and 256 slots, then those of 2048.
    const slots = 4 * (4 + 32 + 256) + 3 * 2048;
    const locations = new Set<number>();
    for (let index = 0; index < slots; index++) locations.add(slabs.allocate(32_768));
    expect(locations.size).toBe(slots);
    expect(largest).toBe(64 << 20);
    expect(Math.max(...locations) >>> 14).toBe(14);
    for (const location of locations) expect(slabs.offset(location)).toBeLessThan(64 << 20);
  });

  it('reuse the chunks of one size for another', () => {
    const slabs = new DataSlabs();
    const small = Array.from({ length: 20_000 }, () => slabs.allocate(100));
    const peak = slabs.reservedBytes;
    for (const location of small) {
      slabs.free(location);
    }
    Array.from({ length: 10_000 }, () => slabs.allocate(200));
    expect(slabs.reservedBytes).toBeLessThanOrEqual(peak);
  });

  it('lose at most an eighth to rounding above 64 bytes', () => {
    for (const size of [65, 100, 513, 577, 1000, 5000, 30_000]) {
      const slabs = new DataSlabs();
      const slots = 1 << 8;
      Array.from({ length: slots }, () => slabs.allocate(size));
      expect(slabs.reservedBytes).toBeLessThan(slots * size * 1.13 + 2 * (1 << 17));
    }
  });
});
