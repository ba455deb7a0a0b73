/** Goal: what is patched in place is still the request that was meant. Method: decode it again. */
import {
  CreateRequest,
  decode,
  OpCode,
  PathWatchRequest,
  RequestHeader,
  SetDataRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { keysSource, loadSource, parentSource, type RequestSource } from './requests.js';

const space = { root: '/bench', keys: 3, valueBytes: 10 };

function next(source: RequestSource, xid: number): { type: number; body: Buffer } {
  const target = Buffer.alloc(3 + source.requestBytesMax);
  const bytes = source.write(target, 3, xid);
  expect(target.readInt32BE(3)).toBe(bytes - 4);
  const header = decode(RequestHeader, target.subarray(7));
  expect(header.xid).toBe(xid);
  return { type: header.type, body: target.subarray(15, 3 + bytes) };
}

describe('a source of requests', () => {
  it('creates names that differ, with xids as given', () => {
    const source = loadSource('create', space, 7);
    const paths = [1, 0x0102_0304, 3].map((xid) => {
      const { type, body } = next(source, xid);
      expect(type).toBe(OpCode.create);
      const request = decode(CreateRequest, body);
      expect(request.data?.length).toBe(10);
      expect(source.replyBytes).toBe(20 + request.path.length);
      return request.path;
    });
    expect(paths).toEqual(['/bench/c7/000000000', '/bench/c7/000000001', '/bench/c7/000000002']);
  });

  it('mixes seven reads with three writes', () => {
    const source = loadSource('mixed70', space, 0);
    let reads = 0;
    for (let xid = 1; xid <= 10_000; xid++) {
      const { type, body } = next(source, xid);
      const isRead = type === OpCode.getData;
      if (isRead) reads++;
      const { path } = isRead ? decode(PathWatchRequest, body) : decode(SetDataRequest, body);
      expect(path).toMatch(/^\/bench\/k00000[012]$/);
      expect(source.replyBytes).toBe(isRead ? 16 + 4 + 10 + 68 : 16 + 68);
    }
    expect(reads / 10_000).toBeCloseTo(0.7, 1);
  });

  it('of the setup ends after the root and every key', () => {
    const source = keysSource(space);
    const paths: string[] = [];
    for (let xid = 1; xid <= 4; xid++) {
      paths.push(decode(CreateRequest, next(source, xid).body).path);
    }
    expect(paths).toEqual(['/bench', '/bench/k000000', '/bench/k000001', '/bench/k000002']);
    expect(source.write(Buffer.alloc(1000), 0, 5)).toBe(0);
  });

  it('of a parent creates the node that the creates of that connection need', () => {
    const { body } = next(parentSource(space, 7), 1);
    expect(decode(CreateRequest, body).path).toBe('/bench/c7');
  });
});
