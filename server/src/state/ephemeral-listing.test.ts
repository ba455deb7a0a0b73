/**
 * Goal: a listing that goes on over many turns shows only what is its session's when it is shown.
 * Method: a tree that changes while the listing is under way, rows used again included.
 */
import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES } from './change-sink.js';
import { listedEphemerals } from './ephemeral-listing.js';
import { ReplicatedState } from './replicated-state.js';
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
    expect([...listing]).toEqual([]);
  });
});
