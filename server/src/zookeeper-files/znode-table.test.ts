/**
 * A log that is replayed over a fuzzy snapshot gives the parent's cversion as ZooKeeper does: a
 * create whose record has one below -1 is as absolute as a positive one.
 */
import { expect, it } from 'vitest';
import { ZnodeTable } from './znode-table.js';

const MAX = 2 ** 31 - 1;

function replayed(stored: number, parentCversion: number): ZnodeTable {
  const znodes = new ZnodeTable();
  const shared = { data: null, acl: [], czxid: 1n, mzxid: 1n, pzxid: 1n, ctime: 0n, mtime: 0n };
  const rest = { version: 0, aversion: 0, ephemeralOwner: 0n };
  znodes.add({ path: '/s', cversion: stored, ...shared, ...rest });
  znodes.apply({
    session: 1n,
    zxid: 2n,
    time: 0n,
    changes: [
      {
        kind: 'create',
        path: '/s/n',
        data: null,
        acl: [],
        owner: 'none',
        ttlMs: null,
        parentCversion,
        replacesAcl: false,
      },
    ],
    begins: false,
    closes: null,
    digest: null,
  });
  return znodes;
}

it.each([
  // The snapshot has the create already.
  { stored: -5, parentCversion: -5, cversion: -5 },
  { stored: -5, parentCversion: -4, cversion: -4 },
  { stored: -5, parentCversion: -1, cversion: -4 },
  { stored: 7, parentCversion: -1, cversion: 8 },
  { stored: 7, parentCversion: 6, cversion: 7 },
  { stored: MAX - 1, parentCversion: MAX, cversion: MAX },
  // ZooKeeper's counter does not fall.
  { stored: MAX, parentCversion: -MAX - 1, cversion: MAX },
  { stored: MAX, parentCversion: -1, cversion: MAX },
])('a cversion of $stored with a record of $parentCversion becomes $cversion', (row) => {
  const nodes = replayed(row.stored, row.parentCversion).nodes();
  expect(nodes.find(({ path }) => path === '/s')?.cversion).toBe(row.cversion);
});

it('the create at which a counter ends is known, and no other is taken for it', () => {
  const end = { path: '/s', zxid: 2n };
  expect(replayed(MAX, -MAX - 1).counterEnd).toEqual(end);
  expect(replayed(MAX, -1).counterEnd).toEqual(end);
  expect(replayed(MAX - 1, MAX).counterEnd).toBeNull();
  expect(replayed(-5, -4).counterEnd).toBeNull();
});
