/**
 * Logs of ZooKeeper made here, byte by byte: every kind of transaction, ends that a crash leaves,
 * and damage. What a real ZooKeeper writes: answers/moving/moving.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { adler32Of } from '../simulated/zookeeper-files/snapshot-writer.js';
import { FileError } from './byte-cursor.js';
import { readLogFile } from './log-file.js';
import { decodeLogRecord, TYPE } from './log-record.js';

const HEADER = Buffer.from('5a4b4c47000000020000000000000000', 'hex');
const OPEN = Buffer.concat([int(1), int(31), text('world'), text('anyone')]);

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
}

function record(type: number, ...body: readonly Buffer[]): Buffer {
  const head = [long(7n), int(1), long(0x100000005n), long(1_700_000_000_000n), int(type)];
  return Buffer.concat([...head, ...body]);
}

function entry(bytes: Buffer): Buffer {
  const checksum = long(BigInt(adler32Of(bytes)));
  return Buffer.concat([checksum, int(bytes.length), bytes, Buffer.of(0x42)]);
}

async function readAll(bytes: Buffer): Promise<readonly { bytes: string; offset: number }[]> {
  const directory = await mkdtemp(join(tmpdir(), 'rookery-log-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'log.1');
  await writeFile(file, bytes);
  const entries = [];
  for await (const { bytes: found, offset } of readLogFile(file)) {
    entries.push({ bytes: found.toString('hex'), offset });
  }
  return entries;
}

describe('a log file', () => {
  const first = record(TYPE.delete, text('/a'));
  const second = record(TYPE.delete, text('/b'));
  const whole = Buffer.concat([HEADER, entry(first), entry(second)]);

  it('ends with its bytes, with the zeros written ahead, or within an entry', async () => {
    const both = [
      { bytes: first.toString('hex'), offset: 16 },
      { bytes: second.toString('hex'), offset: 16 + entry(first).length },
    ];
    expect(await readAll(whole)).toEqual(both);
    expect(await readAll(Buffer.concat([whole, Buffer.alloc(5000)]))).toEqual(both);
    for (let length = HEADER.length; length < whole.length; length++) {
      const expected = both.slice(0, length < (both[1]?.offset ?? 0) ? 0 : 1);
      expect(await readAll(whole.subarray(0, length)), `${length} bytes`).toEqual(expected);
    }
    expect(await readAll(Buffer.alloc(0))).toEqual([]);
    expect(await readAll(Buffer.alloc(100))).toEqual([]);
  });

  it('gives no entry that was changed', async () => {
    for (let at = 0; at < entry(first).length - 1; at++) {
      const changed = Buffer.from(whole);
      changed[16 + at] = (changed[16 + at] ?? 0) ^ 4;
      const read = await readAll(changed).catch((error: unknown) => error);
      // A length that became larger looks like an entry that was cut off.
      if (read instanceof FileError) continue;
      expect(read, `byte ${at}`).toEqual([]);
    }
  });

  it('of another kind or version is refused', async () => {
    await expect(readAll(Buffer.from('not a log of any kind'))).rejects.toThrow(FileError);
    const newer = Buffer.from(whole);
    newer[7] = 3;
    await expect(readAll(newer)).rejects.toThrow('its version is 3');
  });
});

describe('a transaction', () => {
  const create = Buffer.concat([text('/a'), text('data'), OPEN, Buffer.of(1), int(5)]);
  const acl = [{ perms: 31, scheme: 'world', id: 'anyone' }];

  it('of each kind is read with its digest', () => {
    const digest = Buffer.concat([int(2), long(-2n)]);
    expect(decodeLogRecord(record(TYPE.create, create, digest))).toEqual({
      session: 7n,
      zxid: 0x100000005n,
      time: 1_700_000_000_000n,
      begins: false,
      closes: null,
      digest: 2n ** 64n - 2n,
      changes: [
        {
          kind: 'create',
          path: '/a',
          data: Buffer.from('data'),
          acl,
          owner: 'session',
          ttlMs: null,
          parentCversion: 5,
          replacesAcl: true,
        },
      ],
    });
    const container = Buffer.concat([text('/c'), int(-1), OPEN, int(6)]);
    expect(decodeLogRecord(record(TYPE.createContainer, container)).changes).toMatchObject([
      { path: '/c', data: null, owner: 'container', parentCversion: 6 },
    ]);
    const ttl = Buffer.concat([container, long(9000n)]);
    expect(decodeLogRecord(record(TYPE.createTtl, ttl)).changes).toMatchObject([
      { owner: 'none', ttlMs: 9000n },
    ]);
    const set = decodeLogRecord(record(TYPE.setData, text('/a'), text('x'), int(3)));
    expect(set.changes).toEqual([
      { kind: 'setData', path: '/a', data: Buffer.from('x'), version: 3 },
    ]);
    const setAcl = decodeLogRecord(record(TYPE.setAcl, text('/a'), OPEN, int(2)));
    expect(setAcl.changes).toEqual([{ kind: 'setAcl', path: '/a', acl, version: 2 }]);
    for (const type of [TYPE.error, TYPE.createSession]) {
      const { changes, begins } = decodeLogRecord(record(type, int(4000)));
      expect([changes, begins]).toEqual([[], type === TYPE.createSession]);
    }
    expect(() => decodeLogRecord(record(99))).toThrow('unknown type 99');
  });

  it("of the oldest releases has no version of the parent's", () => {
    const old = create.subarray(0, create.length - 4);
    expect(decodeLogRecord(record(TYPE.create, old)).changes).toMatchObject([
      { parentCversion: -1 },
    ]);
  });

  it('that ends a session lists its paths, or nothing, with a digest or without', () => {
    const digest = Buffer.concat([int(2), long(5n)]);
    const paths = Buffer.concat([int(2), text('/e'), text('/f')]);
    const read = (...body: readonly Buffer[]) => {
      const { closes, digest: found } = decodeLogRecord(record(TYPE.closeSession, ...body));
      return [closes, found];
    };
    expect(read(paths, digest)).toEqual([['/e', '/f'], 5n]);
    expect(read(digest)).toEqual([[], 5n]);
    expect(read(int(0))).toEqual([[], null]);
    expect(read()).toEqual([[], null]);
  });

  it('of many operations changes nothing when one of them is an error, whatever its bytes', () => {
    const part = (type: number, body: Buffer) => {
      return Buffer.concat([int(type), int(body.length), body]);
    };
    const set = Buffer.concat([text('/b'), text('y'), int(1)]);
    const done = record(TYPE.multi, int(2), part(TYPE.create, create), part(TYPE.setData, set));
    expect(decodeLogRecord(done).changes.map(({ kind }) => kind)).toEqual(['create', 'setData']);
    const failed = record(TYPE.multi, int(2), part(TYPE.error, create), part(TYPE.error, int(-2)));
    expect(decodeLogRecord(failed).changes).toEqual([]);
  });
});
