/**
 * Goal: a listing that goes on over many turns shows only what is its session's when it is shown.
 * Method: a tree that changes while the listing is under way, rows used again included.
 */
import { describe, expect, it } from 'vitest';
import { type ListedTree, listedEphemerals } from './ephemeral-listing.js';
import { IGNORE_CHANGES, ReplicatedState } from './replicated-state.js';
import type { NodeMode, TxnOp } from './txn.js';

const WORLD = [{ perms: 31, scheme: 'world', id: 'anyone' }];

class Applier {
  readonly state = new ReplicatedState();
  #zxid = 0;

  /** Returns the zxid. */
  apply(op: TxnOp, session = 0): number {
    this.#zxid += 1;
    const txn = { origin: 1, request: 1, session, time: 5, op };
    this.state.apply(this.#zxid, txn, IGNORE_CHANGES);
    return this.#zxid;
  }

  session(): number {
    const password = new Uint8Array(16);
    return this.apply({ kind: 'createSession', timeoutMs: 1000, password });
  }

  create(path: string, mode: NodeMode, session = 0): void {
    const op: TxnOp = { kind: 'create', path, data: null, acl: WORLD, mode, ttlMs: 0, opcode: 1 };
    this.apply(op, session);
  }
}

describe('the listed ephemerals of a session', () => {
  it('are all that it owns, below any parent', () => {
    const applier = new Applier();
    const [own, other] = [applier.session(), applier.session()];
    applier.create('/p', 'persistent');
    for (const path of ['/a', '/p/b', '/c']) applier.create(path, 'ephemeral', own);
    applier.create('/d', 'ephemeral', other);
    expect([...listedEphemerals(applier.state.tree, own)].sort()).toEqual(['/a', '/c', '/p/b']);
  });

  it('leave out what was deleted meanwhile, whichever node has its row now', () => {
    const applier = new Applier();
    const [own, other] = [applier.session(), applier.session()];
    for (const path of ['/1', '/2', '/3', '/4']) applier.create(path, 'ephemeral', own);
    const listing = listedEphemerals(applier.state.tree, own);
    expect(listing.next().value).toBe('/4');
    for (const path of ['/1', '/2', '/3']) applier.apply({ kind: 'delete', path });
    applier.create('/persistent', 'persistent');
    applier.create('/of-another', 'ephemeral', other);
    expect([...listing].filter((path) => path !== null)).toEqual([]);
  });

  it('are found row by row where they are many, in pieces of bounded length', () => {
    const rows = 50_000;
    let looked = 0;
    const tree: ListedTree = {
      nodeLimit: rows,
      isLive: (node) => {
        looked += 1;
        return node % 2 === 0;
      },
      mode: (node) => (node % 5000 === 0 ? 'ephemeral' : 'persistent'),
      owner: (node) => (node === 10_000 ? 8 : 7),
      path: (node) => `/${node}`,
      ephemeralsOwned: () => 20_001,
      visitEphemerals: () => expect.unreachable('nothing is collected'),
    };
    const listed: (string | null)[] = [];
    let most = 0;
    for (const path of listedEphemerals(tree, 7)) {
      listed.push(path);
      most = Math.max(most, looked);
      looked = 0;
    }
    const paths = [0, 1, 3, 4, 5, 6, 7, 8, 9].map((part) => `/${part * 5000}`);
    expect(listed.filter((path) => path !== null)).toEqual(paths);
    expect(most).toBeLessThanOrEqual(64);
  });
});
