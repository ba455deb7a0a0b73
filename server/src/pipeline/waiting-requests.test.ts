import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { QueueEntry } from './commit-queue.js';
import { WaitingRequests } from './waiting-requests.js';

function entryOf(request: number): QueueEntry {
  const requester = { identities: [], skipAcl: false };
  const numbers = { connection: 1, xid: 1, opcode: 1, bytes: 0, sinceMs: 0, answerBytes: 0 };
  const rest = {
    session: 1,
    attachment: 1,
    identities: [],
    body: new Uint8Array(0),
    changes: 1,
    ownSession: 1,
    isForwarded: true,
    syncedAt: null,
    znode: null,
  };
  return { kind: 'write', requester, request, ...numbers, ...rest };
}

test('waiting requests are those of a map, whatever order they are answered in', () => {
  const step = fc.record({ gap: fc.nat(3), answers: fc.array(fc.nat(40), { maxLength: 4 }) });
  fc.assert(
    fc.property(fc.nat(), fc.array(step, { maxLength: 200, size: 'max' }), (first, steps) => {
      const waiting = new WaitingRequests();
      const model = new Map<number, QueueEntry>();
      let next = first;
      for (const { gap, answers } of steps) {
        next += gap + 1;
        const entry = entryOf(next);
        waiting.add(entry);
        model.set(next, entry);
        for (const back of answers) {
          waiting.delete(next - back);
          model.delete(next - back);
        }
        expect(waiting.size).toBe(model.size);
        for (let back = -1; back < 50; back++) {
          expect(waiting.get(next - back)).toBe(model.get(next - back));
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('the array is cut while the queue is never empty', () => {
  const waiting = new WaitingRequests();
  const COUNT = 20_000;
  for (let request = 1; request <= COUNT; request++) {
    waiting.add(entryOf(request));
    if (request > 100) waiting.delete(request - 100);
  }
  expect(waiting.size).toBe(100);
  expect(waiting.places).toBeLessThan(COUNT / 4);
  for (let request = 1; request <= COUNT; request++) {
    expect(waiting.get(request)?.request).toBe(request > COUNT - 100 ? request : undefined);
  }
});

test('one that waits long keeps no places of those behind it, and is found and let go of', () => {
  const waiting = new WaitingRequests();
  const COUNT = 100_000;
  for (let request = 1; request <= COUNT; request++) {
    waiting.add(entryOf(request));
    if (request > 100) waiting.delete(request - 50);
    if (request % 1000 === 0) expect(waiting.places).toBeLessThan(10_000);
  }
  expect(waiting.get(1)?.request).toBe(1);
  expect(waiting.get(COUNT - 50)).toBeUndefined();
  expect(waiting.size).toBe(100);
  for (let request = 1; request <= 50; request++) waiting.delete(request);
  expect(waiting.get(1)).toBeUndefined();
  expect(waiting.size).toBe(50);
});
