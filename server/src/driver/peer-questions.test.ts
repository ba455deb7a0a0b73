/** Questions between members: answered once, by the one who was asked, and within bounds. */
import type { PeerId, PeerMessage, Tell } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { ANSWER_BYTES_MAX, PeerQuestions } from './peer-questions.js';

function pair() {
  const timers = new ManualTimers();
  const sent: (readonly [PeerId, PeerMessage])[] = [];
  const sendTo = (peer: PeerId, message: PeerMessage) => sent.push([peer, message]);
  const one = new PeerQuestions(timers, () => ({ sendTo }), { run: (action) => action() });
  return { timers, sent, one };
}

it('gives the answer of the member that was asked, and of no other', async () => {
  const { one, sent } = pair();
  const answer = one.ask(2, '{}');
  expect(sent).toEqual([[2, { kind: 'ask', number: 1, question: '{}' }]]);
  const tell = (text: string): Tell => ({ kind: 'tell', number: 1, answer: Buffer.from(text) });
  one.onMessage(3, tell('"forged"'));
  one.onMessage(2, tell('"own"'));
  one.onMessage(2, tell('"again"'));
  expect(await answer).toBe('"own"');
});

it('waits for no answer for long, nor for many', async () => {
  const { one, sent, timers } = pair();
  const all = Array.from({ length: 70 }, () => one.ask(2, '{}'));
  expect(sent.length).toBe(64);
  await timers.advance(2_000);
  expect(await Promise.all(all)).toEqual(Array(70).fill(null));
  const last = one.ask(2, '{}');
  one.stop();
  expect(await last).toBeNull();
});

it('answers a member 20 times in a second, and never with too much', async () => {
  const { one, sent, timers } = pair();
  one.answerWith((question) => (question === 'long' ? 'x'.repeat(ANSWER_BYTES_MAX + 1) : '1'));
  one.onMessage(2, { kind: 'ask', number: 7, question: 'long' });
  expect(sent).toEqual([[2, { kind: 'tell', number: 7, answer: new Uint8Array(0) }]]);
  for (let i = 0; i < 30; i++) one.onMessage(2, { kind: 'ask', number: i, question: '' });
  expect(sent.length).toBe(20);
  one.onMessage(3, { kind: 'ask', number: 1, question: '' });
  expect(sent.length).toBe(21);
  await timers.advance(1_000);
  one.onMessage(2, { kind: 'ask', number: 1, question: '' });
  expect(sent.length).toBe(22);
});

it('makes long answers in slices, one after the other, with turns of others between', () => {
  const { one, sent, timers } = pair();
  const deferred: (() => void)[] = [];
  timers.defer = (action) => void deferred.push(action);
  const looked: string[] = [];
  function* steps(question: string): Generator<undefined, string> {
    for (let step = 0; step < 10; step++) {
      looked.push(question);
      timers.standStill(1);
      yield;
    }
    return `"${question}"`;
  }
  one.answerWith(steps);
  for (const [number, question] of ['a', 'b'].entries()) {
    one.onMessage(2, { kind: 'ask', number, question });
  }
  expect(looked).toEqual([]);
  const perTurn: number[] = [];
  while (sent.length < 2) {
    const before = looked.length;
    deferred.shift()?.();
    perTurn.push(looked.length - before);
  }
  expect(Math.max(...perTurn)).toBe(2);
  expect(looked.join('')).toBe('a'.repeat(10) + 'b'.repeat(10));
  expect(sent.map(([, message]) => message.kind)).toEqual(['tell', 'tell']);
});

it('makes a bounded number of long answers, and none for who waits no more', async () => {
  const { one, sent, timers } = pair();
  let begun = 0;
  function* steps(): Generator<undefined, string> {
    begun += 1;
    yield;
    return '1';
  }
  one.answerWith(steps);
  for (let peer = 2; peer < 12; peer++) {
    for (let number = 0; number < 20; number++) {
      one.onMessage(peer, { kind: 'ask', number, question: '' });
    }
  }
  timers.standStill(2_000);
  await timers.advance(0);
  expect([begun, sent]).toEqual([0, []]);
  one.onMessage(2, { kind: 'ask', number: 1, question: '' });
  one.stop();
  await timers.advance(0);
  expect([begun, sent]).toEqual([0, []]);
  for (let peer = 2; peer < 12; peer++) {
    for (let number = 0; number < 20; number++) {
      one.onMessage(peer, { kind: 'ask', number, question: '' });
    }
  }
  await timers.advance(0);
  expect([begun, sent.length]).toEqual([64, 64]);
});
