/**
 * What a member keeps of what it has done with: a queue that is cut now and then must not hold the
 * bytes of it until then.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CreateSessionRequest, encode, makeZxid, OpCode, SetDataRequest } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { CommitQueue, type QueueEntry } from '../pipeline/commit-queue.js';
import { Leadership } from '../pipeline/leadership.js';
import { NO_BOUND } from '../pipeline/tree-room.js';
import { IGNORE_CHANGES } from '../state/change-sink.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { TxnPlaces } from '../state/txn-places.js';
import { ProposalWindow } from '../zab/window.js';
import { LeaderDesk } from './leader-desk.js';

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
  const state = new ReplicatedState();
  const time = { nowMs: 0, wallMs: 1 };
  const ephemerals = { ephemeralsPerSessionMax: 1, ephemeralsPerPartMax: 1 };
  const bounds = { ...ephemerals, multiOpsMax: 4096, pathDepthMax: 2000 };
  const allowed = { skipAcl: true, extendedTypes: true, ...bounds };
  const rules = { ...allowed, enforceQuota: false, reconfigEnabled: false, treeBound: NO_BOUND };
  const reaper = { intervalMs: 60_000, perMinuteMax: 1000, neverUsedMs: 0 };
  const options = { id: 1, epoch: 1, lastZxid: 0, firstCounter: 1, leaseSlackMs: 500, reaper };
  const random16 = (): Uint8Array => new Uint8Array(16);
  const leadership = new Leadership(
    { state, ages: { ageMs: () => 0 }, options: { ...options, ...rules }, random16 },
    time,
  );
  const hooks = {
    time: () => time,
    note: () => {},
    noRoom: () => {},
    confirm: () => {},
    answer: () => {},
  };
  const desk = new LeaderDesk(leadership, hooks);
  const txns = new TxnPlaces();
  const session = makeZxid(1, 1);
  const run = (from: number, opcode: number, body: Uint8Array): void => {
    const nobody = { attachment: 0, identities: [] };
    desk.onRequests(1, [{ ...nobody, request: 1, session: from, opcode, body }]);
    for (const proposal of desk.takeProposals().flat()) {
      const txn = txns.txnOf(proposal);
      state.apply(proposal.zxid, txn, IGNORE_CHANGES);
      desk.onApplied(proposal.zxid, txn);
    }
  };
  run(0, OpCode.createSession, encode(CreateSessionRequest, { timeoutMs: 4000 }));
  const before = heldBytes();
  for (let count = 0; count < COUNT; count++) {
    const asked = { path: '/zookeeper/quota', data: new Uint8Array(MB), version: -1 };
    run(session, OpCode.setData, encode(SetDataRequest, asked));
  }
  expect(state.tree.dataLength(state.tree.find('/zookeeper/quota'))).toBe(MB);
  expect(heldBytes() - before).toBeLessThan(10 * MB);
});

test('packs that learners have no more room for go when the window is trimmed', () => {
  const window = new ProposalWindow(0);
  const before = heldBytes();
  for (let zxid = 1; zxid <= COUNT; zxid++) {
    window.keep([{ zxid, previous: zxid - 1, body: new Uint8Array(MB) }]);
    window.trim(zxid, 2 * MB);
  }
  expect(window.base).toBeGreaterThan(COUNT - 3);
  expect(heldBytes() - before).toBeLessThan(5 * MB);
});

function write(request: number): QueueEntry {
  const requester = { identities: [], skipAcl: false };
  const header = { connection: 1, kind: 'write', xid: request, opcode: OpCode.setData } as const;
  const body = new Uint8Array(MB);
  const more = { attachment: 1, isForwarded: true, syncedAt: null, sinceMs: 0, answerBytes: 0 };
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
