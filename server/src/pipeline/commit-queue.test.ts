/** A queue that is never empty keeps nothing of what is answered. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { OpCode } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { CommitQueue, type QueueEntry } from './commit-queue.js';

const MB = 1 << 20;

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function heldBytes(): number {
  if (typeof collect !== 'function') throw new Error('this Node has no gc()');
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().arrayBuffers;
}

function write(request: number): QueueEntry {
  const requester = { identities: [], skipAcl: false };
  const header = { connection: 1, kind: 'write', xid: request, opcode: OpCode.setData } as const;
  const body = new Uint8Array(MB);
  const more = { isForwarded: true, syncedAt: null, sinceMs: 0, answerBytes: 0 };
  return { ...header, ...more, body, bytes: MB, requester, request };
}

test('the bodies of requests go when they are answered', () => {
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
