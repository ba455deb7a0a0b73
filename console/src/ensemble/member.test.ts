import { expect, it } from 'vitest';
import { figuresOf, type Look, lagOf, type Member, verdictOf } from './member.js';

const member = (id: number, more: Partial<Member> = {}): Member => ({
  id,
  host: 'zk',
  answers: true,
  serving: true,
  mode: 'follower',
  epoch: 3,
  zxids: { applied: '0x300000010' },
  ...more,
});
const LEADER = member(1, { mode: 'leader', zxids: { applied: '0x300000015' } });
const timing = (count: number, sumMs: number) => ({ count, sumMs, p99Ms: 5 });

it('a verdict says who leads, who is missing, and what that means', () => {
  expect(verdictOf([LEADER, member(2), member(3)])).toEqual({
    kind: 'good',
    sentence: 'Member 1 leads in epoch 3, and all 3 members serve.',
  });
  const gone: Member = { id: 3, host: 'zk', answers: false };
  expect(verdictOf([LEADER, member(2), gone])).toEqual({
    kind: 'warn',
    sentence:
      'Member 1 leads in epoch 3; 2 of 3 serve, member 3 not. If one more is lost, no write is taken until a majority is back.',
  });
  expect(verdictOf([member(2), gone]).kind).toBe('bad');
  const full = member(2, { disk: { isFull: true } });
  const damage = { reason: 'tree-0 has lost a record', waitsFor: 'a quorum' };
  expect(verdictOf([LEADER, member(2, { disk: { isFull: false, damage } })])).toEqual({
    kind: 'warn',
    sentence:
      'Member 1 leads in epoch 3; member 2 serves and repairs damage of its disk, which waits for a quorum. Do not restart it before that is done.',
  });
  const checkpointGivenUp = { reason: 'no space left', waitsFor: 'room on the disk' };
  const givenUp = verdictOf([LEADER, member(2, { disk: { isFull: false, checkpointGivenUp } })]);
  expect(givenUp).toEqual({
    kind: 'warn',
    sentence:
      'Member 1 leads in epoch 3; member 2 gave up a checkpoint because its disk was full, and writes it again once there is room. Nothing is damaged.',
  });
  const whole = member(2, { disk: { isFull: false, damage: null } });
  expect(verdictOf([LEADER, whole]).kind).toBe('good');
  expect(verdictOf([LEADER, full])).toEqual({
    kind: 'bad',
    sentence: 'The disk of member 2 is full: writes that carry data are refused.',
  });
  expect(verdictOf([LEADER, full, member(3)])).toEqual({
    kind: 'warn',
    sentence: 'The disk of member 2 is full: it serves until it steps out.',
  });
  const out = member(3, { serving: false, disk: { isFull: true, sparedBy: 1 } });
  expect(verdictOf([LEADER, member(2), out])).toEqual({
    kind: 'warn',
    sentence:
      'Member 1 leads in epoch 3; 2 of 3 serve, member 3 not. The disk of member 3 is full. If one more is lost, no write is taken until a majority is back.',
  });
});

it('lag is counted within an epoch only', () => {
  expect(lagOf(member(2), [LEADER])).toBe(5);
  expect(lagOf(LEADER, [LEADER])).toBe(0);
  expect(lagOf(member(2, { zxids: { applied: '0x200000010' } }), [LEADER])).toBe(null);
  expect(lagOf(member(2), [member(3)])).toBe(null);
});

it('figures are those between two looks, and none after a restart', () => {
  const look = (atMs: number, received: number, count: number, sumMs: number): Look => ({
    atMs,
    members: [{ ...LEADER, requests: { received }, timings: { updates: timing(count, sumMs) } }],
  });
  const first = look(1000, 100, 10, 50);
  expect(figuresOf(1, first, look(3000, 300, 30, 90))).toEqual({
    updates: 2,
    syncs: null,
    reads: null,
    requests: 100,
    commits: null,
    lag: 0,
  });
  const restarted = figuresOf(1, first, look(3000, 5, 1, 1));
  expect([restarted?.requests, restarted?.updates]).toEqual([null, null]);
  expect(figuresOf(2, first, first)).toBe(null);
});
