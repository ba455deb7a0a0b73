/** The replay's past: its state at every zxid that it remembers, and what it forgets. */

import { describe, expect, it } from 'vitest';
import type { TxnOp } from '../../../simulated.js';
import { CommittedTree } from './committed-tree.js';
import { CLOSE, createOp, OPEN, refusal, setOp } from './small-history.js';

/** The transactions are those of session 1, which is opened at zxid 1. */
function replay(ops: Iterable<TxnOp>): CommittedTree {
  const tree = new CommittedTree();
  tree.apply(1, { origin: 1, request: 0, session: 0, time: 0, op: OPEN });
  let zxid = 1;
  for (const op of ops) {
    zxid += 1;
    tree.apply(zxid, { origin: 1, request: zxid, session: 1, time: 0, op });
  }
  return tree;
}

describe('the replayed tree', () => {
  it('knows the state of a path at each zxid', () => {
    const remove: TxnOp = { kind: 'delete', path: '/a' };
    const tree = replay([createOp('/a', 'x'), setOp('/a', 1, 'y'), refusal(-101), remove]);
    const history = tree.known('/a');
    const shown = [1, 2, 3, 4, 5].map((zxid) => history?.at(zxid));
    expect(shown.map((state) => state?.exists)).toEqual([false, true, true, true, false]);
    expect(shown.map((state) => state?.data)).toEqual([null, 'x', 'y', 'y', null]);
    expect(history?.since(2).map(({ zxid }) => zxid)).toEqual([3, 5]);
    expect(tree.known('/')?.at(5)).toMatchObject({ childCount: 1, creates: 1, pzxid: 5 });
    expect(tree.changesSince(3).map(({ of }) => of.path)).toEqual(['/a', '/']);
  });

  it('finds transactions across epochs', () => {
    const tree = replay([createOp('/a')]);
    const next = 2 ** 32 + 1;
    tree.apply(next, { origin: 0, request: 9, session: 1, time: 0, op: CLOSE });
    expect(tree.commitAt(2)?.txn.op.kind).toBe('create');
    expect(tree.commitAt(next)?.txn.op.kind).toBe('closeSession');
    expect(tree.commitAt(3)).toBeUndefined();
    expect(tree.zxidBefore(next)).toBe(2);
    expect(tree.zxidBefore(2)).toBe(1);
  });

  it('computes the same hash for the same children in any order', () => {
    const hashOf = (paths: readonly string[]) => {
      return replay(paths.map((path) => createOp(path))).known('/')?.last.childHash;
    };
    expect(hashOf(['/a', '/b'])).toBe(hashOf(['/b', '/a']));
    expect(hashOf(['/a', '/b'])).not.toBe(hashOf(['/a', '/c']));
  });

  it('forgets the distant past, and keeps the present state', () => {
    function* long(): Generator<TxnOp> {
      yield createOp('/old', 'stands');
      yield createOp('/gone', 'x');
      yield { kind: 'delete', path: '/gone' };
      yield createOp('/a');
      for (let version = 1; version < 150_000; version++) yield setOp('/a', version, `${version}`);
    }
    const tree = replay(long());
    const { floorZxid, lastZxid } = tree;
    expect(floorZxid).toBeGreaterThan(10);
    expect(lastZxid - floorZxid).toBeGreaterThanOrEqual(1 << 16);
    expect(tree.known('/gone')).toBeUndefined();
    expect(tree.known('/old')?.at(lastZxid).data).toBe('stands');
    expect(tree.commitAt(floorZxid - 1)).toBeUndefined();
    expect(tree.commitAt(floorZxid)?.zxid).toBe(floorZxid);
    for (const zxid of [floorZxid, lastZxid - 1, lastZxid]) {
      expect(tree.known('/a')?.at(zxid).mzxid).toBe(zxid);
    }
  });
});
