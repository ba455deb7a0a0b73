/** A request that is patched in place is still the intended one: each is decoded again. */
import {
  CreateRequest,
  decode,
  GetChildrenPageRequest,
  MultiRequest,
  OpCode,
  PathVersionRequest,
  PathWatchRequest,
  RequestHeader,
  SetDataRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { type KeySpace, keyPath } from './key-space.js';
import { pathsOf } from './setup.js';
import { CreateOnceSource, type RequestSource, sourceOf, type Workload } from './workloads.js';

const space: KeySpace = { root: '/bench', keys: 2500, valueBytes: 10 };

function source(workload: Workload, connection = 7, connections = 30): RequestSource {
  return sourceOf(workload, space, { connection, connections });
}

function next(from: RequestSource, xid: number): { type: number; body: Buffer } {
  const target = Buffer.alloc(3 + from.requestBytesMax);
  const bytes = from.write(target, 3, xid);
  expect(target.readInt32BE(3)).toBe(bytes - 4);
  const header = decode(RequestHeader, target.subarray(7));
  expect(header.xid).toBe(xid);
  return { type: header.type, body: target.subarray(15, 3 + bytes) };
}

describe('a source of requests', () => {
  it('creates names that differ, with xids as given', () => {
    const creates = source({ kind: 'create' });
    const paths = [1, 0x0102_0304, 3].map((xid) => {
      const { type, body } = next(creates, xid);
      expect(type).toBe(OpCode.create);
      const request = decode(CreateRequest, body);
      expect(request.data?.length).toBe(10);
      expect(creates.replyBytes).toBe(20 + request.path.length);
      return request.path;
    });
    const names = ['0000000000', '0000000001', '0000000002'];
    expect(paths).toEqual(names.map((name) => `/bench/c00007/${name}`));
  });

  it('mixes seven reads with three writes, of keys that the setup has made', () => {
    const mix = source({ kind: 'mix', readPercent: 70 });
    const made = new Set(
      pathsOf({ hosts: [], workload: { kind: 'mix', readPercent: 70 }, space, connections: 1 }),
    );
    let reads = 0;
    for (let xid = 1; xid <= 1000; xid++) {
      const { type, body } = next(mix, xid);
      const isRead = type === OpCode.getData;
      if (isRead) reads++;
      const { path } = isRead ? decode(PathWatchRequest, body) : decode(SetDataRequest, body);
      expect(made).toContain(path);
      expect(mix.replyBytes).toBe(isRead ? 16 + 4 + 10 + 68 : 16 + 68);
    }
    expect(reads).toBeGreaterThan(620);
    expect(reads).toBeLessThan(780);
  });

  it('fills every key exactly once, with the keys dealt to the connections round-robin', () => {
    const paths = [0, 1, 2].flatMap((connection) => {
      const fill = source({ kind: 'fill' }, connection, 3);
      const found: string[] = [];
      const target = Buffer.alloc(fill.requestBytesMax);
      for (let bytes = fill.write(target, 0, 1); bytes > 0; bytes = fill.write(target, 0, 1)) {
        found.push(decode(CreateRequest, target.subarray(12, bytes)).path);
      }
      return found;
    });
    const wanted = Array.from({ length: space.keys }, (_, key) => keyPath(space, key));
    expect(paths.sort()).toEqual(wanted.sort());
  });

  it('deletes what it has just created', () => {
    const both = source({ kind: 'createDelete' });
    const pairs = [1, 3].map((xid) => {
      const created = decode(CreateRequest, next(both, xid).body).path;
      const { type, body } = next(both, xid + 1);
      expect(type).toBe(OpCode.delete);
      expect(both.replyBytes).toBe(16);
      expect(decode(PathVersionRequest, body).path).toBe(created);
      return created;
    });
    expect(new Set(pairs).size).toBe(2);
  });

  it('puts several writes into one multi', () => {
    const { type, body } = next(source({ kind: 'multi', operations: 4 }), 1);
    expect(type).toBe(OpCode.multi);
    const { ops } = decode(MultiRequest, body);
    expect(ops.map(({ opcode }) => opcode)).toEqual(Array(4).fill(OpCode.setData));
    expect(new Set(ops.map(({ request }) => request.path)).size).toBeGreaterThan(1);
  });

  it('requests pages that begin within the names that the hot parent has', () => {
    const hot = source({ kind: 'createHot', children: 45 }, 3, 30);
    const name = decode(CreateRequest, next(hot, 1).body).path;
    expect(name).toBe('/bench/hot/0000000003');
    expect(decode(CreateRequest, next(hot, 2).body).path).toBe('/bench/hot/0000000033');
    expect(hot.write(Buffer.alloc(200), 0, 3)).toBe(0);
    const page = source({ kind: 'getPage', limit: 10, children: 45 });
    for (let xid = 1; xid < 50; xid++) {
      const { body } = next(page, xid);
      const { path, startAfter, limit } = decode(GetChildrenPageRequest, body);
      expect([path, limit]).toEqual(['/bench/hot', 10]);
      expect(Number(startAfter)).toBeLessThan(45);
      expect(startAfter).toHaveLength(10);
    }
  });

  it('ends after the last of the paths it was given', () => {
    const once = new CreateOnceSource(['/a', '/a/bc'], 0);
    const paths = [1, 2].map((xid) => decode(CreateRequest, next(once, xid).body).path);
    expect(paths).toEqual(['/a', '/a/bc']);
    expect(once.write(Buffer.alloc(100), 0, 3)).toBe(0);
  });
});
