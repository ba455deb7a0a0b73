/**
 * Leadership accepts a confirmation of a round that began after the question, and rejects answers
 * that are too few, too old, or from the wrong members.
 */
import { describe, expect, it } from 'vitest';
import { newLeadership } from './leadership.js';
import {
  ackEpoch,
  ackNewLeader,
  append,
  deliver,
  from,
  history,
  proposals,
  role,
  send,
  TICK,
  Told,
  zxid,
} from './testing/observations.js';

const ask = (id: number) => ({ kind: 'confirm', id }) as const;
const round = (peer: number, number: number) => send(peer, { kind: 'confirm', round: number });
const answer = (number: number) => ({ kind: 'confirmAck', round: number }) as const;
const confirmed = (id: number, counter = 3) =>
  ({ kind: 'confirmed', id, zxid: zxid(1, counter) }) as const;

/** Member 1 leads and has proposed three, delivered two; members 2 and 3 follow. */
function led(): Told {
  const run = new Told(newLeadership).started(1).started(2).started(3);
  run.step(1, TICK, role('leading', 1, 1), append(1, proposals(1, 1, 3, 0)));
  for (const id of [2, 3]) run.step(id, TICK, send(1, ackNewLeader(1, 0)));
  return run.step(1, TICK, deliver(proposals(1, 1, 2, 0)));
}

describe('the checker of confirmations', () => {
  it('accepts what a quorum answered in a round that the question began, or one after it', () => {
    const run = led().step(1, ask(1), round(2, 1), round(3, 1));
    run.step(2, TICK, send(1, answer(1))).step(1, ask(2));
    run.step(1, from(2, answer(1)), confirmed(1), round(2, 2), round(3, 2));
    run.step(1, from(3, answer(2)), confirmed(2));
  });

  it('rejects a confirmation without an answer, or by a round that began before', () => {
    expect(() => led().step(1, ask(1), confirmed(1))).toThrow(
      /only what a quorum confirmed.*: member 1 .*question 1 of order 8 with 1 answers/,
    );
    const run = led().step(1, ask(1), round(2, 1), round(3, 1)).step(1, ask(2));
    expect(() => run.step(1, from(2, answer(1)), confirmed(1), confirmed(2))).toThrow(
      /question 2 .*1 answers/,
    );
  });

  it('rejects a confirmation in another term than that of the question', () => {
    const run = led()
      .step(1, ask(1), round(2, 1))
      .step(1, TICK, role('looking', 0, 1));
    expect(() => run.step(1, from(2, answer(1)), confirmed(1))).toThrow(/not asked in its term/);
  });

  it('rejects a zxid below what had been proposed here or delivered anywhere at the question', () => {
    const run = () => led().step(1, ask(1), round(2, 1));
    expect(() => run().step(1, from(2, answer(1)), confirmed(1, 2))).toThrow(
      /confirms 0x100000002, but 0x100000003 had been there/,
    );
    const other = led()
      .step(2, TICK, deliver(proposals(2, 1, 1)))
      .step(1, ask(1), round(2, 1));
    expect(() => other.step(1, from(2, answer(1)), confirmed(1))).toThrow(/0x200000001 had/);
  });

  it('rejects an answer of a member that does not follow, or has promised another epoch since', () => {
    const elsewhere = led().step(2, TICK, send(3, ackEpoch(2, 1, history(1, 1, 3))));
    expect(() => elsewhere.step(2, TICK, send(1, answer(1)))).toThrow(/member 2 .*follows 0/);
    const looking = led().step(2, TICK, role('looking', 0, 1));
    expect(() => looking.step(2, TICK, send(1, answer(1)))).toThrow(/confirms 1, but follows 0/);
    expect(() => led().step(2, TICK, send(3, answer(1)))).toThrow(/confirms 3, but follows 1/);
  });
});
