/**
 * A snapshot that ZooKeeper 3.8.0 wrote of an empty tree, read, and with every byte of it changed:
 * whatever is wrong with a file is found. A tree with something in it: e2e/zookeeper-snapshot.
 */

import { expect, it } from 'vitest';
import { adler32Of, snapshotOf } from '../simulated/zookeeper-files/snapshot-writer.js';
import { FileError } from './byte-cursor.js';
import type { SnapshotNode } from './snapshot-node.js';
import { readSnapshot, SnapshotReader } from './snapshot-reader.js';

const EMPTY = Buffer.from(
  'WktTTgAAAAL//////////wAAAAAAAAABAAAAAAAAAAEAAAABAAAAAQAAAAV3b3JsZAAAAAZhbnlvbmUAAAAAAAAAAP//////////AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACi96b29rZWVwZXIAAAAA//////////8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAARL3pvb2tlZXBlci9jb25maWcAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/////wAAAAAAAAAAAAAAAAAAAAAAAAAQL3pvb2tlZXBlci9xdW90YQAAAAD//////////wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEvAAAAALiiO0kAAAABLwAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAJW5PVkAAAABLw==',
  'base64',
);

function read(bytes: Buffer) {
  const nodes: SnapshotNode[] = [];
  const facts = readSnapshot(bytes, (node) => nodes.push(node));
  return { facts, paths: nodes.map(({ path }) => path), nodes };
}

/** The same in parts of so many bytes. */
function readInParts(bytes: Buffer, partBytes: number) {
  const nodes: SnapshotNode[] = [];
  const reader = new SnapshotReader((node) => nodes.push(node));
  for (let at = 0; at < bytes.length; at += partBytes) {
    reader.push(bytes.subarray(at, at + partBytes));
  }
  const facts = reader.end();
  expect(reader.bytes).toBe(bytes.length);
  return { facts, paths: nodes.map(({ path }) => path), nodes };
}

it('is read with its trailers', () => {
  const { facts, paths } = read(EMPTY);
  expect(paths[0]).toBe('');
  expect(paths.toSorted()).toEqual(['', '/zookeeper', '/zookeeper/config', '/zookeeper/quota']);
  expect([facts.nodes, facts.sessions.size, facts.missingAcls]).toEqual([4, 0, 0]);
  // Its trailer has a digest of 0 at zxid 0, because no transaction came yet.
  expect([facts.digest, facts.isUnchanged]).toEqual([null, true]);
});

it('any single byte that is changed is found, and any end that is missing', () => {
  for (let at = 0; at < EMPTY.length; at++) {
    const changed = Buffer.from(EMPTY);
    changed[at] = (changed[at] ?? 0) ^ 0x10;
    expect(() => read(changed), `byte ${at}`).toThrow(FileError);
    expect(() => readInParts(changed, 1), `byte ${at}`).toThrow(FileError);
  }
  for (let length = 0; length < EMPTY.length; length++) {
    const isWhole = EMPTY.length - length === 33;
    const cut = EMPTY.subarray(0, length);
    if (isWhole) continue;
    expect(() => read(cut), `${length}`).toThrow(FileError);
    expect(() => readInParts(cut, 7), `${length}`).toThrow(FileError);
  }
});

it('has parents before children, and each znode once', () => {
  expect(() => read(snapshotOf(['', '/a/b']))).toThrow('"/a/b" comes before its parent');
  expect(() => read(snapshotOf(['', '/a', '/a']))).toThrow('"/a" is there twice');
  expect(read(snapshotOf(['', '/a', '/a/b'])).paths).toEqual(['', '/a', '/a/b']);
});

it('a number of elements for which there is no room takes no memory', () => {
  const bytes = snapshotOf(['']);
  bytes.writeInt32BE(0x7fff_ffff, 16);
  expect(() => read(bytes)).toThrow('the file ends within a session');
});

it('is the same in parts of any size', () => {
  const whole = read(EMPTY);
  for (let partBytes = 1; partBytes <= EMPTY.length; partBytes++) {
    expect(readInParts(EMPTY, partBytes)).toEqual(whole);
  }
});

it('bytes behind the trailers are damage as soon as there are more than any release writes', () => {
  const reader = new SnapshotReader(() => undefined);
  reader.push(EMPTY);
  const zeros = Buffer.alloc(50);
  expect(() => reader.push(zeros)).toThrow('more than 54 bytes follow the checksum');
  expect(() => read(Buffer.concat([EMPTY, Buffer.alloc(1)]))).toThrow('34 bytes follow');
});

it('a field that is longer than any that can be read takes no memory', () => {
  const reader = new SnapshotReader(() => undefined);
  const start = Buffer.alloc(32);
  EMPTY.copy(start, 0, 0, 24);
  start.writeInt32BE(0, 20);
  start.writeInt32BE(0x1000_0001, 28);
  expect(() => reader.push(start)).toThrow(
    'the length of the data of a znode is 268435457, more than any that can be read (268435456)',
  );
});

it('has the last zxid of ZooKeeper 3.9, alone and behind a digest', () => {
  const tree = snapshotOf(['', '/a']);
  expect(read(tree).facts).toMatchObject({ lastZxid: null, digest: null });
  const newest = withChecksum(Buffer.concat([tree, long(0x1_0000_0005n)]));
  expect(read(newest).facts).toMatchObject({ lastZxid: 0x1_0000_0005n, digest: null });
  const digest = Buffer.concat([long(0x1_0000_0004n), Buffer.from([0, 0, 0, 2]), long(7n)]);
  const both = withChecksum(Buffer.concat([withChecksum(Buffer.concat([tree, digest])), long(9n)]));
  const { facts } = read(both);
  expect(facts.lastZxid).toBe(9n);
  expect(facts.digest).toMatchObject({ zxid: 0x1_0000_0004n, version: 2, kept: 7n });
  expect(facts.digest?.computed).not.toBe(7n);
});

function withChecksum(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, long(BigInt(adler32Of(bytes))), Buffer.from([0, 0, 0, 1, 0x2f])]);
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
