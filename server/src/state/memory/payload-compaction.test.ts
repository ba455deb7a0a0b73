// The memory of chunks that are mostly free is given back, whatever a client creates and deletes,
// and what moves keeps its content.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES } from '../change-sink.js';
import { ReplicatedState } from '../replicated-state.js';
import type { TxnOp } from '../txn.js';
import { DataSlabs } from './data-slabs.js';
import { INT, NONE, NodeStore } from './node-store.js';
import { PayloadCompaction } from './payload-compaction.js';

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
    idleBytesMax: -64 * MEGABYTE,
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
