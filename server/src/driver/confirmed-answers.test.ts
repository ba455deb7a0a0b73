/** How many answers wait for a confirmation, and when each is sent. */
import { expect, it } from 'vitest';
import { ConfirmedAnswers } from './confirmed-answers.js';

it('counts every answer, while it is gathered, asked for, or waits to be applied', () => {
  const asked: number[] = [];
  const sent: unknown[] = [];
  const answers = new ConfirmedAnswers(
    { confirm: (id) => asked.push(id), answer: (_, answer) => sent.push(answer) },
    7,
  );
  const add = (request: number, afterApply: boolean) =>
    answers.add({
      origin: 1,
      afterApply,
      answer: (zxid) => ({ kind: 'synced', request, zxid }),
    });
  for (const request of [1, 2, 3]) add(request, request === 3);
  expect(answers.pending, 'gathered').toBe(3);
  answers.ask();
  add(4, false);
  expect([asked, answers.pending], 'asked for, and one that came later').toEqual([[1], 4]);
  answers.onConfirmed(1, 8);
  expect([sent.length, answers.pending], 'one waits until 8 is applied').toEqual([2, 2]);
  answers.onApplied(8);
  expect([sent.length, answers.pending]).toEqual([3, 1]);
});
