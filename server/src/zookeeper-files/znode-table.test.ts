/**
 * A log that is replayed over a fuzzy snapshot gives the parent's cversion as ZooKeeper does: a
 * create whose record has one below -1 is as absolute as a positive one.
 */
import { expect, it } from 'vitest';
import { ZnodeTable } from './znode-table.js';

function cversionAfter(stored: number, parentCversion: number): number | undefined {
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
  return znodes.nodes().find(({ path }) => path === '/s')?.cversion;
}

it.each([
  // The snapshot has the create already.
  { stored: -5, parentCversion: -5, cversion: -5 },
  { stored: -5, parentCversion: -4, cversion: -4 },
  { stored: -5, parentCversion: -1, cversion: -4 },
  { stored: 7, parentCversion: -1, cversion: 8 },
  { stored: 7, parentCversion: 6, cversion: 7 },
])('a cversion of $stored with a record of $parentCversion becomes $cversion', (row) => {
  expect(cversionAfter(row.stored, row.parentCversion)).toBe(row.cversion);
});
