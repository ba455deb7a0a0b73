/** Questions between members: answered once, by the one who was asked, and within bounds. */
import type { PeerId, PeerMessage, Tell } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { ANSWER_BYTES_MAX, HOLD_MS, PeerQuestions } from './peer-questions.js';

function pair({ isReached = true } = {}) {
  const timers = new ManualTimers();
  const sent: (readonly [PeerId, PeerMessage])[] = [];
  const sendTo = (peer: PeerId, message: PeerMessage) => sent.push([peer, message]);
  const port = { sendTo, reaches: () => isReached };
  const one = new PeerQuestions(timers, port, { run: (action) => action() });
  return { timers, sent, one };
}

const asked = (asker: string) => ({ question: '{}', asker });

it('gives the answer of the member that was asked, and of no other', async () => {
  const { one, sent } = pair();
  const answer = one.ask(2, asked('ann'));
  expect(sent).toEqual([[2, { kind: 'ask', number: 1, question: '{}' }]]);
  const tell = (text: string): Tell => ({ kind: 'tell', number: 1, answer: Buffer.from(text) });
  one.onMessage(3, tell('"forged"'));
  one.onMessage(2, tell('"own"'));
  one.onMessage(2, tell('"again"'));
  expect(await answer).toBe('"own"');
});

it('waits for no answer for long, nor for many', async () => {
  const { one, sent, timers } = pair();
  const all = Array.from({ length: 70 }, () => one.ask(2, asked('ann')));
  expect(sent.length).toBe(8);
  await timers.advance(2_000);
  expect(await Promise.all(all)).toEqual(Array(70).fill(null));
  const last = one.ask(2, asked('ann'));
  one.stop();
  expect(await last).toBeNull();
});

it('asks every member for all who wait, however many members there are', async () => {
  const { one, sent, timers } = pair();
  const streams = ['ann', 'bob', 'eve', 'joe'];
  const members = Array.from({ length: 200 }, (_, index) => index + 2);
  for (const member of members) for (const name of streams) void one.ask(member, asked(name));
  expect(sent.length).toBe(4 * 200);
  const other = one.ask(201, asked('kim'));
  expect(sent.length).toBe(4 * 200 + 1);
  await timers.advance(2_000);
  expect(await other).toBeNull();
});

it('leaves others their part of the questions to a member, whoever asks without a pause', async () => {
  const { one, sent, timers } = pair();
  const answerAll = () => {
    for (const [peer, message] of sent.splice(0)) {
      if (message.kind !== 'ask') continue;
      const { number } = message;
      one.onMessage(peer, { kind: 'tell', number, answer: Buffer.from('1') });
    }
  };
  const tellsOf = (name: string, count: number) => {
    const told: (string | null)[] = [];
    for (let i = 0; i < count; i++) void one.ask(2, asked(name)).then((text) => told.push(text));
    return told;
  };
  const answersTo = async (name: string, count: number) => {
    const told = tellsOf(name, count);
    answerAll();
    await timers.advance(0);
    return told.length;
  };
  expect([await answersTo('eve', 8), await answersTo('eve', 7)]).toEqual([8, 7]);
  const late = tellsOf('eve', 9);
  await timers.advance(0);
  expect([sent, late]).toEqual([[], [null]]);
  expect(await answersTo('ann', 5)).toBe(5);
  const later = tellsOf('ann', 1);
  await timers.advance(999);
  expect([sent, later]).toEqual([[], []]);
  await timers.advance(1);
  expect(sent.length).toBe(9);
  answerAll();
  await timers.advance(0);
  expect([late, later]).toEqual([[null, ...Array(8).fill('1')], ['1']]);
});

it('asks no question whose time comes when nobody waits for its answer any more', async () => {
  const { one, sent, timers } = pair();
  for (let count = 0; count < 15; count++) {
    void one.ask(2, asked('eve'));
    one.onMessage(2, { kind: 'tell', number: count + 1, answer: Buffer.from('1') });
  }
  const late = one.ask(2, asked('eve'));
  one.onDisconnected(2);
  expect([await late, sent.splice(0).length]).toEqual([null, 15]);
  await timers.advance(5_000);
  expect(sent).toEqual([]);
});

it('answers a member 40 times in a second, and never with too much', async () => {
  const { one, sent, timers } = pair();
  one.answerWith((question) => (question === 'long' ? 'x'.repeat(ANSWER_BYTES_MAX + 1) : '1'));
  one.onMessage(2, { kind: 'ask', number: 7, question: 'long' });
  expect(sent).toEqual([[2, { kind: 'tell', number: 7, answer: new Uint8Array(0) }]]);
  for (let i = 0; i < 60; i++) one.onMessage(2, { kind: 'ask', number: i, question: '' });
  expect(sent.length).toBe(40);
  one.onMessage(3, { kind: 'ask', number: 1, question: '' });
  expect(sent.length).toBe(41);
  await timers.advance(1_000);
  one.onMessage(2, { kind: 'ask', number: 1, question: '' });
  expect(sent.length).toBe(42);
});

/** A question whose answer is the number of news so far; `news` tells that there is more. */
function heldAnswers(one: PeerQuestions) {
  const waiting = new Set<() => void>();
  let count = 0;
  one.answerWith(() => ({
    onNews: (ready) => {
      waiting.add(ready);
      return () => waiting.delete(ready);
    },
    now: () => String(count),
  }));
  const news = (): void => {
    count += 1;
    for (const ready of waiting) ready();
  };
  return { news, waiting };
}

const ask = (number: number) => ({ kind: 'ask', number, question: '' }) as const;
const told = (sent: readonly (readonly [PeerId, PeerMessage])[]) =>
  sent.map(([, message]) => (message.kind === 'tell' ? String(Buffer.from(message.answer)) : ''));

it('holds a question until there is news, and tells all of it at once', async () => {
  const { one, sent, timers } = pair();
  const { news, waiting } = heldAnswers(one);
  one.onMessage(2, ask(1));
  await timers.advance(HOLD_MS - 1);
  expect(sent).toEqual([]);
  news();
  news();
  await timers.advance(0);
  expect([told(sent), waiting.size]).toEqual([['2'], 0]);
});

it('lets a question go after a time, with its member and at the end', async () => {
  const { one, sent, timers } = pair();
  const { news, waiting } = heldAnswers(one);
  one.onMessage(2, ask(1));
  await timers.advance(HOLD_MS);
  expect([told(sent), waiting.size]).toEqual([['0'], 0]);
  one.onMessage(2, ask(2));
  one.onMessage(3, ask(3));
  one.onDisconnected(2);
  expect(waiting.size).toBe(1);
  one.stop();
  news();
  await timers.advance(2 * HOLD_MS);
  expect([told(sent), waiting.size]).toEqual([['0'], 0]);
});

it('holds eight questions of a member, and answers one more at once', () => {
  const { one, sent } = pair();
  const { waiting } = heldAnswers(one);
  for (let number = 1; number <= 9; number++) one.onMessage(2, ask(number));
  expect([told(sent), waiting.size]).toEqual([['0'], 8]);
});

it('waits for no member that is not reached, or is not any more', async () => {
  expect(await pair({ isReached: false }).one.ask(2, asked('ann'))).toBeNull();
  const { one } = pair();
  const lost = one.ask(2, asked('ann'));
  one.onDisconnected(2);
  expect(await lost).toBeNull();
});

it('makes long answers in slices, one after the other, with turns of others between', () => {
  const { one, sent, timers } = pair();
  const deferred: (() => void)[] = [];
  timers.defer = (action) => void deferred.push(action);
  const looked: string[] = [];
  function* steps(question: string): Generator<undefined, string> {
    for (let step = 0; step < 10; step++) {
      looked.push(question);
      timers.suspendNow(1);
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

it('makes long answers round-robin, so that no member waits for all of another one', async () => {
  const { one, sent, timers } = pair();
  function* steps(): Generator<undefined, string> {
    yield;
    return '1';
  }
  one.answerWith(steps);
  for (let number = 0; number < 10; number++) one.onMessage(2, ask(number));
  one.onMessage(3, ask(0));
  await timers.advance(0);
  expect(sent.slice(0, 3).map(([peer]) => peer)).toEqual([2, 3, 2]);
  expect(sent.length).toBe(11);
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
  timers.suspendNow(2_000);
  await timers.advance(0);
  expect([begun, sent]).toEqual([0, []]);
  one.onMessage(2, { kind: 'ask', number: 1, question: '' });
  one.stop();
  await timers.advance(0);
  expect([begun, sent]).toEqual([0, []]);
  for (let number = 0; number < 20; number++) {
    one.onMessage(2, { kind: 'ask', number, question: '' });
  }
  await timers.advance(0);
  expect([begun, sent.length]).toEqual([16, 16]);
});
