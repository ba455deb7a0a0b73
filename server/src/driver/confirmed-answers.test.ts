/** What waits for a confirmation by a quorum, and what waits longer. */
import { expect, it } from 'vitest';
import { ConfirmedAnswers } from './leader.js';
import type { Answer, DriverActions } from './parts.js';

function bench(applied: number) {
  const sent: Answer[] = [];
  const asked: number[] = [];
  const driver = {
    step: ({ id }: { readonly id: number }) => asked.push(id),
    answer: (_member: number, answer: Answer) => sent.push(answer),
  } as unknown as DriverActions;
  const answers = new ConfirmedAnswers(driver, applied);
  const add = (request: number, afterApply: boolean) =>
    answers.add({ origin: 2, afterApply, answer: (zxid) => ({ kind: 'synced', request, zxid }) });
  return { answers, asked, sent, add };
}

it('counts each answer that waits, before, during and after its confirmation', () => {
  const { answers, asked, sent, add } = bench(6);
  add(1, false);
  add(2, true);
  expect(answers.pending).toBe(2);
  answers.ask();
  add(3, false);
  expect([asked, answers.pending]).toEqual([[1], 3]);
  answers.onConfirmed(1, 7);
  // The second one waits until the zxid of the confirmation is applied.
  expect([sent, answers.pending]).toEqual([[{ kind: 'synced', request: 1, zxid: 7 }], 2]);
  answers.onApplied(7);
  expect([sent.length, answers.pending]).toEqual([2, 1]);
});
