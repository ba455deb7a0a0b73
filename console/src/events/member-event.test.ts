import { expect, it } from 'vitest';
import { isNotable, keyOf, type MemberEvent, nameOf, sentenceOf, topicOf } from './member-event.js';

const of = (event: string, facts = {}, more: Partial<MemberEvent> = {}): MemberEvent => ({
  number: 1,
  time: '2026-01-01T00:00:00.000Z',
  level: 'info',
  event,
  facts,
  ...more,
});

it('an event has a sentence, by its facts, its own words or its name', () => {
  expect(sentenceOf(of('role.serving', { role: 'leading', leader: 2, epoch: 5 }))).toBe(
    'leads and serves, in epoch 5',
  );
  expect(sentenceOf(of('sessions.expired', { count: 1 }))).toBe('expired one session');
  const sessions = [{ endedByOperator: true }, { endedByOperator: false }];
  expect(sentenceOf(of('sessions.expired', { count: 2, sessions }))).toBe(
    'ended 2 sessions, some of them for an operator',
  );
  expect(sentenceOf(of('sessions.expired', { count: 1, sessions: sessions.slice(0, 1) }))).toBe(
    'ended one session for an operator',
  );
  expect(sentenceOf(of('sessions.expired', { count: 1, sessions: sessions.slice(1) }))).toBe(
    'expired one session',
  );
  expect(sentenceOf(of('peer.refused', { peer: 4, reason: 'the secrets differ' }))).toBe(
    'refuses member 4: the secrets differ',
  );
  const told = { damage: 'the tree is damaged' };
  expect(sentenceOf(of('server.damaged: this member does not vote', told))).toBe(
    'does not vote and waits for a snapshot: the tree is damaged',
  );
  const damaged = { reason: 'tree-0 has lost a record' };
  expect(sentenceOf(of('disk.damaged: it is written again from memory', damaged))).toBe(
    'has found damage on its disk and repairs it from memory: tree-0 has lost a record',
  );
  expect(sentenceOf(of('disk.repaired: it is whole', damaged))).toBe(
    'has repaired the damage of its disk',
  );
  // A fact is missing, as in another release: nothing is invented.
  expect(sentenceOf(of('role.following'))).toBe('role.following');
  expect(sentenceOf(of('clock.new: the clock went back'))).toBe('the clock went back');
  expect(sentenceOf(of('a.b'))).toBe('a.b');
});

it('what explains a chart is notable', () => {
  expect(isNotable(of('role.serving', { role: 'leading' }))).toBe(true);
  expect(isNotable(of('role.serving', { role: 'following' }))).toBe(false);
  expect(isNotable(of('log.slow_sync: so long', { ms: 1200 }, { level: 'warn' }))).toBe(true);
  expect(isNotable(of('sessions.expired', { count: 3 }))).toBe(true);
  expect(isNotable(of('peer.connected'))).toBe(false);
});

it('an event has a topic, and a key of its own among all members', () => {
  expect([topicOf(of('log.slow_sync: x')), topicOf(of('made.up'))]).toEqual(['disk', 'other']);
  // Who looks at the sessions wants to know which of them an operator has ended.
  const byOperator = of('admin.session_ended', { session: '0x1', user: 'ops' });
  expect(topicOf(byOperator)).toBe('session');
  expect(sentenceOf(byOperator)).toBe('ended session 0x1 for ops');
  expect(topicOf(of('admin.write'))).toBe('other');
  expect(nameOf(of('log.slow_sync: x: y'))).toBe('log.slow_sync');
  expect(keyOf(of('a', {}, { member: 2, start: '17' }))).toBe('2:17-1');
});
