/**
 * Goal: pages of a directory in the tree are what sorting all names would give, whatever characters
 * they have, and stay so while znodes come and go and their rows are used again. Method: a tree and
 * a sorted set get the same changes.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IGNORE_CHANGES, ReplicatedState } from './replicated-state.js';
import type { NodeOp } from './txn.js';

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const ROOMY = 1 << 20;
/** Enough that their order is kept. */
const SEVERAL = 1_050;

const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'Z', 'ä', '日', '\u{1f600}'),
  minLength: 1,
});

class Directory {
  readonly names = new Set<string>();
  readonly #state = new ReplicatedState();
  #zxid = 0;

  constructor(names: readonly string[]) {
    this.#create('/d');
    for (const one of names) this.toggle(one);
  }

  /** Creates the child, or deletes it if it is there. */
  toggle(child: string): void {
    const path = `/d/${child}`;
    if (this.names.delete(child)) return this.#apply({ kind: 'delete', path });
    this.#create(path);
    this.names.add(child);
  }

  addNeighbour(): void {
    this.#create('/e');
    for (const one of numbered()) this.#create(`/e/${one}`);
  }

  page(startAfter: string, limit: number) {
    const { tree } = this.#state;
    return tree.childPage(tree.find('/d'), { startAfter, limit, bytesMax: ROOMY });
  }

  expectPage(startAfter: string, limit: number): void {
    const behind = [...this.names].sort().filter((one) => one > startAfter);
    const { names, more } = this.page(startAfter, limit);
    expect(names).toEqual(behind.slice(0, limit));
    expect(more).toBe(behind.length > limit);
  }

  #create(path: string): void {
    const op = { kind: 'create', path, data: null, acl: OPEN, mode: 'persistent' } as const;
    this.#apply({ ...op, ttlMs: 0, opcode: 1 });
  }

  #apply(op: NodeOp): void {
    const txn = { origin: 1, request: 1, session: 0, time: 5, op };
    this.#state.apply(++this.#zxid, txn, IGNORE_CHANGES);
  }
}

function numbered(): readonly string[] {
  return Array.from({ length: SEVERAL }, (_, index) => `m${(index * 7_919) % SEVERAL}`);
}

it('gives the first names behind the given one, however the directory was made', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { maxLength: 40 }),
      fc.option(name, { nil: '' }),
      fc.integer({ min: 1, max: 300 }),
      fc.constantFrom('as made', 'ascending', 'descending'),
      fc.boolean(),
      (some, startAfter, limit, order, hasNeighbour) => {
        const all = [...new Set([...some, ...numbered()])];
        if (order !== 'as made') all.sort();
        if (order === 'descending') all.reverse();
        const directory = new Directory(all);
        // Beside as many others, its children are found by their links, otherwise by their rows.
        if (hasNeighbour) directory.addNeighbour();
        // Rows that are free again still tell whose child they had.
        for (const gone of all.slice(0, 20)) directory.toggle(gone);
        directory.expectPage(startAfter, limit);
        directory.expectPage('', 2 * SEVERAL);
      },
    ),
    { numRuns: 25 },
  );
});

it('stays right while znodes come and go between pages', () => {
  const child = fc.oneof(
    name,
    fc.integer({ min: 0, max: SEVERAL }).map((n) => `m${n}`),
  );
  const turn = fc.record({
    changed: fc.array(child, { maxLength: 8 }),
    startAfter: fc.option(child, { nil: '' }),
    limit: fc.integer({ min: 1, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 20 }), (turns) => {
      const directory = new Directory(numbered());
      directory.expectPage('', 5);
      for (const { changed, startAfter, limit } of turns) {
        for (const one of changed) directory.toggle(one);
        directory.expectPage(startAfter, limit);
      }
      directory.expectPage('', 2 * SEVERAL);
    }),
    { numRuns: 25 },
  );
});
