/** A compressed snapshot takes memory for a part of it, regardless of what it unpacks to. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { readSnapshotFile } from './snapshot-file.js';
import { OPEN_LIST } from './snapshot-node.js';
import { snapshotParts } from './snapshot-writer.js';

const NUMBERS = { czxid: 1n, mzxid: 1n, pzxid: 1n, ctime: 0n, mtime: 0n, ephemeralOwner: 0n };
const NODE = { ...NUMBERS, acl: OPEN_LIST, version: 0, cversion: 0, aversion: 0 };

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'snapshot-file-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

function* nodesOf(count: number, dataBytes: number) {
  const data = Buffer.alloc(dataBytes);
  yield { ...NODE, path: '', data: null };
  for (let at = 0; at < count; at++) yield { ...NODE, path: `/n${at}`, data };
}

async function writeGzip(path: string, count: number, dataBytes: number): Promise<void> {
  const content = { zxid: 1n, sessions: new Map(), aclLists: new Set([OPEN_LIST]) };
  const parts = snapshotParts({ ...content, nodes: nodesOf(count, dataBytes) });
  await pipeline(Readable.from(parts), createGzip({ level: 1 }), createWriteStream(path));
}

it('holds a small part of what a compressed file unpacks to', async () => {
  const path = join(await temporaryDirectory(), 'snapshot.1.gz');
  const count = 128;
  await writeGzip(path, count, 1 << 20);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const read = await readSnapshotFile(path, () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  });
  expect([read.nodes, read.dataBytes, read.zxid]).toEqual([count + 1, count << 20, 1n]);
  expect(read.digest?.kept).toBe(read.digest?.computed);
  expect(read.bytes).toBeGreaterThan(count << 20);
  expect(most / (1 << 20)).toBeLessThan(count / 2);
});

it('is refused at its beginning where it is no snapshot, whatever it unpacks to', async () => {
  const path = join(await temporaryDirectory(), 'snapshot.2.gz');
  function* zeros() {
    for (let left = 64; left > 0; left--) yield Buffer.alloc(1 << 20);
  }
  await pipeline(Readable.from(zeros()), createGzip({ level: 1 }), createWriteStream(path));
  const read = readSnapshotFile(path, () => undefined);
  await expect(read).rejects.toThrow('it does not begin as a snapshot of ZooKeeper does');
});

it('is damaged where it is cut, compressed or not, and where it is empty', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'snapshot.3');
  await writeFile(path, '');
  await expect(readSnapshotFile(path, () => undefined)).rejects.toThrow('ends within the header');
  await expect(readSnapshotFile(directory, () => undefined)).rejects.toThrow('EISDIR');
});
