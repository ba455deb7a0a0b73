/**
 * What a member keeps of what it has done with: a queue that is cut now and then must not hold the
 * bytes of it until then.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  CreateSessionRequest,
  encode,
  OpCode,
  ProposalBatch,
  SetDataRequest,
} from '@rookery/protocol';
import { expect, test } from 'vitest';
import { CommitQueue, type QueueEntry } from '../pipeline/connection.js';
import { TestLeaderService } from '../simulated/driver/test-leader-service.js';
import { History } from '../zab/history.js';

const MB = 1 << 20;
const COUNT = 50;

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function heldBytes(): number {
  if (typeof collect !== 'function') throw new Error('this Node has no gc()');
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().arrayBuffers;
}

test('the bodies of requests go when they are applied', () => {
  const own = new TestLeaderService();
  const run = (session: number, opcode: number, body: Uint8Array): void => {
    own.ask(session, opcode, body);
    own.apply();
  };
  run(0, OpCode.createSession, encode(CreateSessionRequest, { timeoutMs: 4000 }));
  const before = heldBytes();
  for (let count = 0; count < COUNT; count++) {
    const asked = { path: '/zookeeper/quota', data: new Uint8Array(MB), version: -1 };
    run(own.session, OpCode.setData, encode(SetDataRequest, asked));
  }
  const { tree } = own.state;
  expect(tree.dataLength(tree.find('/zookeeper/quota'))).toBe(MB);
  expect(heldBytes() - before).toBeLessThan(10 * MB);
});

test('batches that learners have no more room for go when the window is trimmed', () => {
  const history = new History({ base: 0, ranges: [] }, 0, []);
  const before = heldBytes();
  for (let zxid = 1; zxid <= COUNT; zxid++) {
    const proposal = { zxid, previous: zxid - 1, body: new Uint8Array(MB) };
    history.append(ProposalBatch.of([proposal]), zxid);
    history.trim(zxid, 2 * MB);
  }
  expect(history.windowBase).toBeGreaterThan(COUNT - 3);
  expect(heldBytes() - before).toBeLessThan(5 * MB);
});

function write(request: number): QueueEntry {
  const requester = { identities: [], skipAcl: false };
  const header = { connection: 1, kind: 'write', xid: request, opcode: OpCode.setData } as const;
  const body = new Uint8Array(MB);
  const more = {
    attachment: 1,
    isForwarded: true,
    hasBegun: false,
    syncedAt: null,
    znode: null,
    sinceMs: 0,
    answerBytes: 0,
    changes: 1,
    ownSession: 1,
    partsBefore: [],
  };
  return { ...header, ...more, body, bytes: MB, requester, request, session: 1, identities: [] };
}

test('the bodies of requests go when they are answered, though their queue is never empty', () => {
  const queue = new CommitQueue();
  queue.accept(write(1));
  const before = heldBytes();
  for (let request = 2; request < 50; request++) {
    queue.accept(write(request));
    queue.shift();
  }
  expect(queue.length).toBe(1);
  expect(heldBytes() - before).toBeLessThan(5 * MB);
  expect(queue.takeAll().map(({ request }) => request)).toEqual([49]);
});
