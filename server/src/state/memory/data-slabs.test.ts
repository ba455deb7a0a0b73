import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES, ReplicatedState } from '../replicated-state.js';
import type { TxnOp } from '../txn.js';
import { DataSlabs, PayloadCompaction } from './data-slabs.js';
import { INT, NONE, NodeStore } from './node-store.js';

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

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const MEGABYTE = 1 << 20;

interface Row {
  readonly node: number;
  readonly size: number;
  readonly fill: number;
}

/** Rows with bytes of their own, compacted as soon as anything is idle. */
class Rows {
  readonly slabs = new DataSlabs();
  readonly rows: Row[] = [];
  readonly #store = new NodeStore();
  readonly #compaction = new PayloadCompaction(this.#store, this.slabs, {
    bytesMax: -64 * MEGABYTE,
    againBytes: -64 * MEGABYTE,
  });

  add(size: number, fill: number): void {
    const node = this.#store.allocate();
    const location = size === 0 ? NONE : this.slabs.allocate(size);
    this.#store.setInt(node, INT.location, location);
    if (size > 0) {
      const at = this.slabs.offset(location);
      this.slabs.bytes(location).fill(fill, at, at + size);
    }
    this.rows.push({ node, size, fill });
  }

  remove(index: number): void {
    const [row] = this.rows.splice(index % Math.max(1, this.rows.length), 1);
    if (row === undefined) return;
    const location = this.#store.int(row.node, INT.location);
    if (location !== NONE) this.slabs.free(location);
    this.#store.release(row.node);
  }

  compact(): void {
    this.#compaction.step();
  }

  damaged(): readonly Row[] {
    return this.rows.filter(({ node, size, fill }) => {
      if (size === 0) return false;
      const location = this.#store.int(node, INT.location);
      const at = this.slabs.offset(location);
      const held = this.slabs.bytes(location).subarray(at, at + size);
      return Buffer.compare(held, Buffer.alloc(size, fill)) !== 0;
    });
  }
}

describe('compaction', () => {
  it('changes no name and no data, whatever is created and deleted meanwhile', () => {
    const size = fc.constantFrom(0, 1, 8, 100, 1000, 9000, 30_000, 40_000);
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ size, count: fc.nat(20) }) },
      { weight: 4, arbitrary: fc.record({ free: fc.nat(), count: fc.nat(20) }) },
      { weight: 2, arbitrary: fc.constant(null) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const rows = new Rows();
        for (const [at, next] of steps.entries()) {
          if (next === null) rows.compact();
          else if ('free' in next) {
            for (let i = 0; i < next.count; i++) rows.remove(next.free + i);
          } else for (let i = 0; i < next.count; i++) rows.add(next.size, (at + i) & 0xff);
        }
        for (let i = 0; i < 3; i++) rows.compact();
        expect(rows.damaged()).toEqual([]);
        while (rows.rows.length > 0) rows.remove(0);
        expect(rows.slabs.reservedBytes).toBe(0);
        expect(rows.slabs.usedBytes).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it('bounds the memory that a client can fill by creating, deleting most and changing the size', () => {
    const state = new ReplicatedState();
    const apply = (op: TxnOp): void => {
      const txn = { origin: 1, request: 1, session: 1, time: 1, op };
      state.apply(state.lastZxid + 1, txn, IGNORE_CHANGES);
    };
    const rest = { acl: OPEN, mode: 'persistent', ttlMs: 0, opcode: 1 } as const;
    const held: number[] = [];
    const kept = new Map<string, Buffer>();
    // Each size has a class of its own, and one of 32 znodes stays: at least one in every chunk.
    for (let round = 0; round < 6; round++) {
      const bytes = 2000 + 256 * round;
      const count = Math.floor((24 * MEGABYTE) / bytes);
      for (let i = 0; i < count; i++) {
        const data = Buffer.alloc(bytes, i);
        apply({ kind: 'create', path: `/${round}-${i}`, data, ...rest });
        if (i % 32 === 0) kept.set(`/${round}-${i}`, data);
      }
      for (let i = 0; i < count; i++) {
        if (i % 32 !== 0) apply({ kind: 'delete', path: `/${round}-${i}` });
      }
      held.push(state.tree.payloadBytesReserved);
    }
    // Of 144 MB created, 4.5 MB stay; at most one round more than the idle part is held.
    expect(Math.max(...held)).toBeLessThan(48 * MEGABYTE);
    const { tree } = state;
    for (const [path, data] of kept) {
      expect(Buffer.compare(tree.data(tree.find(path)) ?? Buffer.alloc(0), data)).toBe(0);
    }
  });
});
