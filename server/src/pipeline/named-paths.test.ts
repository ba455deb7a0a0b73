/** Which znodes a request names, whatever its frame has. */
import {
  CreateRequest,
  CreateTtlRequest,
  encode,
  JuteReader,
  JuteWriter,
  MultiReadRequest,
  MultiRequest,
  OpCode,
  PathRequest,
  PathVersionRequest,
  PathWatchRequest,
  SetAclRequest,
  SetDataRequest,
  SetWatchesRequest,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { tellPaths } from './hot-requests.js';

const DATA = new Uint8Array(3);

function pathsIn(opcode: number, body: Uint8Array): readonly string[] {
  const paths: string[] = [];
  const count = tellPaths(opcode, new JuteReader(body), (path, use) =>
    paths.push(`${use} ${path}`),
  );
  expect(count).toBe(paths.length);
  return paths;
}

it('tells the znode of each request that has one, and whether it changes it', () => {
  const [path, flags, version] = ['/a/ä', 0, -1];
  for (const opcode of [OpCode.exists, OpCode.getData, OpCode.getChildren, OpCode.getChildren2]) {
    const body = encode(PathWatchRequest, { path, watch: true });
    expect(pathsIn(opcode, body)).toEqual(['read /a/ä']);
  }
  for (const opcode of [OpCode.getAcl, OpCode.getAllChildrenNumber]) {
    expect(pathsIn(opcode, encode(PathRequest, { path }))).toEqual(['read /a/ä']);
  }
  for (const opcode of [OpCode.create, OpCode.create2, OpCode.createContainer]) {
    const body = encode(CreateRequest, { path, data: DATA, acl: [], flags });
    expect(pathsIn(opcode, body)).toEqual(['write /a/ä']);
  }
  const ttl = encode(CreateTtlRequest, { path, data: DATA, acl: [], flags: 5, ttlMs: 1 });
  expect(pathsIn(OpCode.createTtl, ttl)).toEqual(['write /a/ä']);
  const changed = encode(SetDataRequest, { path, data: DATA, version });
  expect(pathsIn(OpCode.setData, changed)).toEqual(['write /a/ä']);
  const deleted = encode(PathVersionRequest, { path, version });
  expect(pathsIn(OpCode.delete, deleted)).toEqual(['write /a/ä']);
  const acl = encode(SetAclRequest, { path, acl: [], version });
  expect(pathsIn(OpCode.setAcl, acl)).toEqual(['write /a/ä']);
});

it('tells the operations of a multi and of a multiRead, a bounded number of them', () => {
  const set = (n: number) => ({
    opcode: OpCode.setData,
    request: { path: `/n${n}`, data: DATA, version: n },
  });
  const check = { opcode: OpCode.check, request: { path: '/c', version: 1 } };
  const two = encode(MultiRequest, { ops: [check, set(1)] });
  expect(pathsIn(OpCode.multi, two)).toEqual(['read /c', 'write /n1']);
  const many = encode(MultiRequest, { ops: Array.from({ length: 1_000 }, (_, n) => set(n)) });
  expect(pathsIn(OpCode.multi, many).length).toBeLessThan(70);
  const read = { opcode: OpCode.getData, request: { path: '/r', watch: false } };
  expect(pathsIn(OpCode.multiRead, encode(MultiReadRequest, { ops: [read] }))).toEqual(['read /r']);
});

it('tells nothing of what names no znode, of secrets, and of what is malformed', () => {
  const watches = { relativeZxid: 1, dataWatches: ['/w'], existWatches: [], childWatches: [] };
  expect(pathsIn(OpCode.setWatches, encode(SetWatchesRequest, watches))).toEqual([]);
  const secret = encode(PathRequest, { path: 'user:password' });
  for (const opcode of [OpCode.auth, OpCode.sasl, OpCode.ping, OpCode.closeSession, 4_711]) {
    expect(pathsIn(opcode, secret)).toEqual([]);
  }
  const tooLong = new JuteWriter();
  tooLong.int(1_000);
  expect(pathsIn(OpCode.getData, tooLong.take())).toEqual([]);
  expect(pathsIn(OpCode.getData, new Uint8Array(2))).toEqual([]);
  const negative = new JuteWriter();
  negative.int(-2);
  expect(pathsIn(OpCode.setData, negative.take())).toEqual([]);
  expect(pathsIn(OpCode.multi, encode(MultiRequest, { ops: [] }).subarray(0, 5))).toEqual([]);
});

it('cuts a path at its bound, and not within a character', () => {
  const told = (path: string) => pathsIn(OpCode.getAcl, encode(PathRequest, { path }))[0];
  expect(told(`/${'x'.repeat(255)}`)).toBe(`read /${'x'.repeat(255)}`);
  expect(told(`/${'x'.repeat(256)}`)).toBe(`read /${'x'.repeat(255)}…`);
  // The slash and 85 characters of three bytes are 256 bytes; one more byte moves the cut.
  expect(told(`/${'日'.repeat(86)}`)).toBe(`read /${'日'.repeat(85)}…`);
  expect(told(`/a${'日'.repeat(86)}`)).toBe(`read /a${'日'.repeat(84)}…`);
});
