/**
 * What is written is read again as it was, and its digest, which is computed from the bytes, is
 * that which TreeDigest computes field by field from the znodes.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type NodeToWrite, OPEN_LIST, type SnapshotNode } from './snapshot-node.js';
import { readSnapshot } from './snapshot-reader.js';
import { snapshotParts } from './snapshot-writer.js';
import { TreeDigest } from './tree-digest.js';

const ZXID = 7n;
const LISTS = { sessions: new Map([[5n, 4000]]), aclLists: new Set([OPEN_LIST]) };
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
/** A byte more or less than what the digest's own memory holds is among them. */
const size = fc.constantFrom(0, 1, 2, 3, 4, 99, 16_320, 16_384);
const data = fc.oneof(
  fc.constant(null),
  fc.tuple(size, int).map(([length, byte]) => Buffer.alloc(length, byte & 0xff)),
);
const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  fc.constantFrom('zoo', 'zookeepers', 'x'.repeat(2000)),
);
const node = fc.record({
  data,
  czxid: long,
  mzxid: long,
  ctime: long,
  mtime: long,
  version: int,
  cversion: int,
  aversion: int,
  ephemeralOwner: long,
  pzxid: long,
});
const nodes = fc
  .tuple(node, fc.uniqueArray(fc.tuple(name, node), { selector: ([each]) => each, maxLength: 6 }))
  .map(([root, children]): readonly SnapshotNode[] => [
    { ...root, path: '', acl: OPEN_LIST },
    ...children.map(([each, fields]) => ({ ...fields, path: pathOf(each), acl: OPEN_LIST })),
  ]);

/** A slash in a name would make it a path of several; what is left may be UTF-16 of any kind. */
function pathOf(text: string): string {
  return `/${text.replaceAll('/', '|')}`;
}

function bytesOf(written: Iterable<NodeToWrite>): Buffer {
  return Buffer.concat([...snapshotParts({ ...LISTS, zxid: ZXID, nodes: written })]);
}

/** Long data compares as text far sooner than byte by byte. */
function comparable(node: SnapshotNode) {
  return { ...node, data: node.data?.toString('latin1') };
}

it('is read as it was written, with the digest of its znodes', () => {
  fc.assert(
    fc.property(nodes, (written) => {
      const digest = new TreeDigest();
      const read: SnapshotNode[] = [];
      const facts = readSnapshot(bytesOf(written), (each) => {
        digest.add(each);
        read.push(each);
      });
      expect(read.map(comparable)).toEqual(written.map(comparable));
      expect(facts.sessions).toEqual(new Map([[5n, 4000]]));
      const { value } = digest;
      expect(facts.digest).toEqual({ zxid: ZXID, version: 2, kept: value, computed: value });
    }),
    { numRuns: 100 },
  );
});

it('leaves out of the digest what is below /zookeeper, and nothing else', () => {
  const fields = { data: null, acl: OPEN_LIST, version: 0, cversion: 0, aversion: 0, pzxid: 0 };
  const zero = { ...fields, czxid: 0, mzxid: 0, ctime: 0, mtime: 0, ephemeralOwner: 0 };
  const digestOf = (paths: readonly string[]) =>
    readSnapshot(bytesOf(paths.map((path) => ({ ...zero, path }))), () => undefined).digest?.kept;
  const counted = digestOf(['', '/zookeeper']);
  expect(digestOf(['', '/zookeeper', '/zookeeper/quota'])).toBe(counted);
  expect(digestOf(['', '/zookeeper', '/zookeepers'])).not.toBe(counted);
});

it('a tree of many parts is read as a whole', () => {
  const count = 3000;
  const fields = { acl: OPEN_LIST, version: 1, cversion: 2, aversion: 3, ephemeralOwner: 0 };
  function* many(): Generator<NodeToWrite> {
    for (let index = 0; index < count; index++) {
      const path = index === 0 ? '' : `/n${index}`;
      const times = { czxid: index, mzxid: index, ctime: index, mtime: index, pzxid: index };
      yield { ...fields, ...times, path, data: Buffer.alloc(1000, index) };
    }
  }
  const parts = [...snapshotParts({ ...LISTS, zxid: ZXID, nodes: many() })];
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(2 << 20);
  const facts = readSnapshot(Buffer.concat(parts), () => undefined);
  expect(facts).toMatchObject({ nodes: count, dataBytes: 1000 * count });
  expect(facts.digest?.kept).toBe(facts.digest?.computed);
});
