// Requests that no client library makes, whose answers differ from ZooKeeper's. Each was sent to a
// ZooKeeper 3.8.0 and 3.9.5 and to Rookery; docs/compatibility.md has what those answer.
import { OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const long = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([int(value.length), Buffer.from(value)]);
const byte = (value: number): Buffer => Buffer.from([value]);
const NULL = int(-1);
const NEGATIVE = int(-2);
const OPEN = Buffer.concat([int(1), int(31), text('world'), text('anyone')]);
const END = Buffer.concat([int(-1), byte(1), int(-1)]);
const opOf = (code: number): Buffer => Buffer.concat([int(code), byte(0), int(-1)]);
const nodeOf = (path: string, flags: number): Buffer =>
  Buffer.concat([text(path), text('x'), OPEN, int(flags)]);

function answerTo(opcode: number, parts: readonly Buffer[], xid?: number) {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  client.create('/t');
  ensemble.settle();
  client.take();
  const sent = client.sendRaw(opcode, Buffer.concat(parts), xid);
  ensemble.settle();
  const reply = client.takeOne();
  expect(reply.xid).toBe(sent);
  return reply;
}

it.each([
  ['setData', OpCode.setData, [NULL, int(0), NULL]],
  ['setACL', OpCode.setAcl, [NULL, OPEN, NULL]],
  ['sync', OpCode.sync, [NULL]],
  ['addWatch', OpCode.addWatch, [NULL, int(0)]],
  ['removeWatches', OpCode.removeWatches, [NULL, int(3)]],
  ['checkWatches', OpCode.checkWatches, [NULL, int(3)]],
])('%s of a null path is malformed: -5', (_, opcode, parts) => {
  expect(answerTo(opcode, parts).error).toBe(-5);
});

it.each([
  ['null is an empty one', NULL, 0],
  ['of a length below -1 is malformed', NEGATIVE, -5],
])('a vector of paths in setWatches that is %s', (_, vector, error) => {
  const head = [long(0n), vector, int(0), int(0)];
  expect(answerTo(OpCode.setWatches, head).error).toBe(error);
  expect(answerTo(OpCode.setWatches2, [...head, vector, int(0)]).error).toBe(error);
});

it('an ACL of a length below -1 is malformed: -5', () => {
  const parts = [text('/a'), text('x'), NEGATIVE, int(0)];
  expect(answerTo(OpCode.create, parts).error).toBe(-5);
  expect(answerTo(OpCode.setAcl, [text('/t'), NEGATIVE, int(-1)]).error).toBe(-5);
});

it.each([-1, 7, 127])('flags of %i in a multi are an error of that operation', (flags) => {
  const { error, body } = answerTo(OpCode.multi, [opOf(OpCode.create), nodeOf('/m', flags), END]);
  expect(error).toBe(0);
  expect(body.subarray(0, 13)).toEqual(Buffer.concat([int(-1), byte(0), int(-8), int(-8)]));
});

it.each([
  [OpCode.create2, 0],
  [OpCode.createContainer, 1],
])('opcode %i with flags %i in a multi is answered as a create, without a Stat', (code, flags) => {
  const { error, body } = answerTo(OpCode.multi, [opOf(code), nodeOf('/m', flags), END]);
  expect(error).toBe(0);
  expect(body).toEqual(Buffer.concat([int(OpCode.create), byte(0), int(0), text('/m'), END]));
});

it('a ping is answered with its own xid', () => {
  expect(answerTo(OpCode.ping, [], 7).xid).toBe(7);
});

it('text that is not UTF-8 has one replacement character for each wrong byte', () => {
  const path = Buffer.from([0x2f, 0xed, 0xa0, 0x80]);
  const { error, body } = answerTo(OpCode.sync, [int(path.length), path]);
  expect([error, Buffer.from(body).toString('utf8', 4)]).toEqual([0, '/\ufffd\ufffd\ufffd']);
});
