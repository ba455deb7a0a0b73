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
