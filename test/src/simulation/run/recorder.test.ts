/** Order, time, who is notified, what is kept of a contradiction, and what the digest covers. */
import { describe, expect, it } from 'vitest';
import { type Checker, PropertyBroken } from '../contract/checker.js';
import type { Invocation, Operation, Reply, Result } from '../contract/history.js';
import { Recorder } from './recorder.js';

const SET: Operation = { kind: 'set', path: '/a', data: 'x', version: -1 };
const OK: Result = {
  error: 0,
  zxid: 2 ** 32 + 7,
  path: null,
  data: null,
  stat: null,
  children: null,
  parts: null,
};
const ASKED = { client: 1, session: 5, connection: 9, operation: SET };

function newRecorder(checkers: readonly Checker[], trace?: (line: string) => void) {
  const recorder = new Recorder({ checkers, trace });
  const clock = { nowMs: 0 };
  recorder.useClock(() => clock.nowMs);
  return { recorder, clock };
}

describe('the recorder', () => {
  it('numbers everything from 1 and stamps the time of the run', () => {
    const seen: (Invocation | Reply)[] = [];
    const { recorder, clock } = newRecorder([
      {
        property: 'p',
        onInvocation: (invocation) => void seen.push(invocation),
        onReply: (reply) => void seen.push(reply),
      },
    ]);
    clock.nowMs = 3.5;
    const invocation = recorder.invocation(ASKED);
    recorder.note('a fault begins');
    clock.nowMs = 4;
    recorder.reply(invocation, OK);
    expect(seen).toEqual([
      { order: 1, atMs: 3.5, ...ASKED },
      { order: 3, atMs: 4, invocation, result: OK },
    ]);
  });

  it('keeps the first contradiction, throws none, and notifies no checker any more', () => {
    let calls = 0;
    const broken = new PropertyBroken('writes are kept', 'one is gone');
    const { recorder } = newRecorder([
      {
        property: 'writes are kept',
        onInvocation: () => {
          throw broken;
        },
      },
      { property: 'other', onInvocation: () => void calls++ },
    ]);
    recorder.invocation(ASKED);
    recorder.invocation(ASKED);
    expect(recorder.broken).toBe(broken);
    expect(calls).toBe(0);
  });

  it('reports a checker that fails by itself, with the position of the failure', () => {
    const { recorder } = newRecorder([
      {
        property: 'p',
        onReach: () => {
          throw new TypeError('x is undefined');
        },
      },
    ]);
    recorder.reach({ member: 1, reaches: [2, 3] });
    expect(recorder.broken?.property).toBe('p');
    expect(recorder.broken?.message).toMatch(/its checker failed: TypeError: x is undefined\n/);
  });

  it('calls methods with the checker as this', () => {
    class Counting implements Checker {
      readonly property = 'counting';
      count = 0;
      onInvocation(): void {
        this.count += 1;
      }
    }
    const checker = new Counting();
    const { recorder } = newRecorder([checker]);
    recorder.invocation(ASKED);
    expect([checker.count, recorder.broken]).toEqual([1, null]);
  });

  it('has equal digests for equal runs, and different ones once anything differs', () => {
    const digestOf = (result: Result, atMs: number) => {
      const { recorder, clock } = newRecorder([]);
      const invocation = recorder.invocation(ASKED);
      clock.nowMs = atMs;
      recorder.reply(invocation, result);
      return recorder.digest();
    };
    const digest = digestOf(OK, 1);
    expect(digest).toMatch(/^[0-9a-f]{16}$/);
    expect(digestOf(OK, 1)).toBe(digest);
    const others = [
      digestOf({ ...OK, zxid: OK.zxid + 1 }, 1),
      digestOf({ ...OK, error: -101 }, 1),
      digestOf({ ...OK, data: 'y' }, 1),
      digestOf(OK, 1 + 2 ** -30),
    ];
    expect(new Set([digest, ...others]).size).toBe(5);
  });

  it('writes a line for each record when a trace is requested', () => {
    const lines: string[] = [];
    const { recorder } = newRecorder([], (line) => void lines.push(line));
    recorder.unanswered(recorder.invocation(ASKED));
    recorder.note('crash of member 2');
    expect(lines.map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
      '1 0.000 client 1 (0x5) asks set /a version -1 "x"',
      '2 0.000 client 1 unanswered set /a version -1 "x" of 1',
      '3 0.000 crash of member 2',
    ]);
  });
});
