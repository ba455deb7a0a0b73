/**
 * The requests that put watches back: cut so that none is too large, of the older kind where that
 * says all, and as the wire has them.
 */
import { encode, OPERATIONS, OpCode } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { REARM_PATH_BYTES_MAX, rearmRequests, type StandingPaths } from './rearm.js';

const NONE: StandingPaths = { data: [], exist: [], child: [], persistent: [], recursive: [] };

function longPaths(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, index) => `/${index}`.padEnd(length, 'x'));
}

test('nothing stands: nothing is sent', () => {
  expect(rearmRequests(NONE, 9n, 100)).toEqual([]);
});

test('one-shot watches alone take the request that every server knows', () => {
  const standing = { ...NONE, data: ['/d'], exist: ['/e'], child: ['/c', '/d'] };
  expect(rearmRequests(standing, 0x7_0000_0001n, 100)).toEqual([
    {
      opcode: OpCode.setWatches,
      request: {
        relativeZxid: 0x7_0000_0001,
        dataWatches: ['/d'],
        existWatches: ['/e'],
        childWatches: ['/c', '/d'],
      },
    },
  ]);
});

test('a zxid beyond the safe integers is sent without loss', () => {
  const [rearm] = rearmRequests({ ...NONE, data: ['/d'] }, 0x7fff_ffff_ffff_fffen, 100);
  expect(rearm?.request.relativeZxid).toBe(0x7fff_ffff_ffff_fffen);
});

test('only the chunks with persistent watches take setWatches2, and what fits shares a chunk', () => {
  const standing = {
    ...NONE,
    data: ['/aaaaa', '/bbbbb'],
    persistent: ['/ccccc'],
    recursive: ['/'],
  };
  const requests = rearmRequests(standing, 1n, 20);
  expect(requests.map(({ opcode }) => opcode)).toEqual([OpCode.setWatches, OpCode.setWatches2]);
  expect(requests[1]?.request).toMatchObject({
    dataWatches: [],
    persistentWatches: ['/ccccc'],
    persistentRecursiveWatches: ['/'],
  });
});

test('the bound is met exactly: one byte less makes one request more', () => {
  const standing = { ...NONE, data: longPaths(2, 10) };
  expect(rearmRequests(standing, 1n, 28)).toHaveLength(1);
  expect(rearmRequests(standing, 1n, 27)).toHaveLength(2);
});

test('bytes are counted, not letters', () => {
  const standing = { ...NONE, data: ['/äöü', '/ÄÖÜ'] };
  expect(rearmRequests(standing, 1n, 22)).toHaveLength(1);
  expect(rearmRequests(standing, 1n, 21)).toHaveLength(2);
});

test('a path longer than the bound goes alone', () => {
  const standing = { ...NONE, data: ['/a', '/'.padEnd(200, 'x'), '/b'] };
  const requests = rearmRequests(standing, 1n, 100);
  expect(requests.map(({ request }) => request.dataWatches.length)).toEqual([1, 1, 1]);
});

test('20,000 long paths of all kinds: every path once, no frame above what servers accept', () => {
  const paths = longPaths(20_000, 600);
  const kinds = ['data', 'exist', 'child', 'persistent', 'recursive'] as const;
  const standing = Object.fromEntries(
    kinds.map((kind, index) => [kind, paths.filter((_, at) => at % kinds.length === index)]),
  );
  const requests = rearmRequests({ ...NONE, ...standing }, 1n, REARM_PATH_BYTES_MAX);
  const listed = requests.flatMap(({ request }) => [
    ...request.dataWatches,
    ...request.existWatches,
    ...request.childWatches,
    ...('persistentWatches' in request ? request.persistentWatches : []),
    ...('persistentRecursiveWatches' in request ? request.persistentRecursiveWatches : []),
  ]);
  expect(listed.sort()).toEqual(paths.sort());
  const sizes = requests.map((rearm) =>
    rearm.opcode === OpCode.setWatches
      ? encode(OPERATIONS[OpCode.setWatches].request, rearm.request).length
      : encode(OPERATIONS[OpCode.setWatches2].request, rearm.request).length,
  );
  expect(Math.max(...sizes)).toBeLessThanOrEqual(REARM_PATH_BYTES_MAX + 8 + 5 * 4);
  expect(sizes.length).toBe(Math.ceil(20_000 / Math.floor(REARM_PATH_BYTES_MAX / 604)));
});
