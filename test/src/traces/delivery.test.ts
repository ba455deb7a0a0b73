/**
 * Work that is done in parts continues in later turns, and meanwhile a new leader behaves like any
 * other. The tests use the core alone; each part is one run, and none is taken unless the test says
 * so.
 */
import { assert, type PeerId } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { settle } from './commands/network.js';
import { runFor } from './commands/time.js';
import { Session } from './session.js';

const ALL: readonly PeerId[] = [1, 2, 3];
const MISSED = 4;
/** So long that each is sent in a message, and so in a run, of its own. */
const payload = (index: number): string => `${index}`.padEnd(1 << 16, '.');

/** An ensemble led by member 3 in epoch 1. */
function founded(): Session {
  const session = new Session();
  const ensemble = session.create({ size: 3, founders: 'all', deliveryBytesMax: 1 });
  for (const id of ALL) ensemble.start(id);
  runFor(session, 1000);
  expect(ensemble.member(3).serves).toBe('leading');
  return session;
}

/** Member 2 leads in epoch 2, and has applied only the first of its initial history. */
function applyingLeader(): Session {
  const session = founded();
  const { ensemble } = session;
  for (let index = 0; index < MISSED; index += 1) {
    ensemble.propose(3, [payload(index)]);
    ensemble.deliver(3, 2);
    ensemble.persist(2);
  }
  ensemble.crash(3);
  runFor(session, 1000);
  expect(viewOf(session, 2)).toMatchObject({ role: 'leading', serves: 'looking', hasMore: true });
  return session;
}

interface View {
  readonly role: string;
  readonly serves: string;
  readonly syncedLearnerCount: number;
  readonly hasMore: boolean;
}

function viewOf(session: Session, id: PeerId): View {
  const { zab, serves } = session.ensemble.member(id);
  assert(zab !== null, `member ${id} is down`);
  const { role, syncedLearnerCount, replica } = zab;
  return { role, serves, syncedLearnerCount, hasMore: replica.hasMore };
}

/** All outputs except transfers. */
function exchange({ ensemble }: Session, [a, b]: readonly [PeerId, PeerId]): void {
  for (let moved = true; moved; ) {
    moved = ensemble.deliver(a, b) || ensemble.deliver(b, a);
    moved = ensemble.persist(a) || ensemble.persist(b) || moved;
  }
}

function applyAll(session: Session, id: PeerId): number {
  let parts = 0;
  while (session.ensemble.apply(id)) parts += 1;
  return parts;
}

describe('a member with much to apply', () => {
  it('applies no more in a turn when more commits come in', () => {
    const session = founded();
    const { ensemble } = session;
    ensemble.crash(1);
    for (let index = 0; index < MISSED; index += 1) ensemble.propose(3, [payload(index)]);
    settle(session, [2, 3]);
    ensemble.start(1);
    runFor(session, 100);
    const before = ensemble.member(1).zab?.replica.delivered;
    expect(ensemble.member(1).zab?.replica.hasMore).toBe(true);
    for (const name of ['a', 'b', 'c']) {
      ensemble.propose(3, [name]);
      settle(session, ALL);
    }
    expect(ensemble.member(1).zab?.replica.delivered).toBe(before);
    applyAll(session, 1);
    expect(ensemble.member(1).zab?.replica.delivered).toBe(
      ensemble.member(3).zab?.replica.history.last,
    );
    expect(ensemble.member(1).serves).toBe('following');
  });
});

describe('a leader with much in memory for a learner', () => {
  it('sends one part, and the next when the link has capacity', () => {
    const session = founded();
    const { ensemble } = session;
    ensemble.propose(3, ['a']);
    settle(session, ALL);
    ensemble.crash(1);
    for (let index = 0; index < MISSED; index += 1) ensemble.propose(3, [payload(index)]);
    settle(session, [2, 3]);
    ensemble.start(1);
    ensemble.connect(1, 3);
    const has = () => ensemble.member(1).zab?.replica.history.last ?? 0;
    const before = has();
    exchange(session, [1, 3]);
    for (let parts = 1; parts <= MISSED; parts += 1) {
      expect(has()).toBe(before + parts);
      expect(viewOf(session, 3).syncedLearnerCount).toBe(parts < MISSED ? 1 : 2);
      expect(ensemble.transfer(3) !== null).toBe(parts < MISSED);
      exchange(session, [1, 3]);
    }
    applyAll(session, 1);
    expect(ensemble.member(1).serves).toBe('following');
  });
});

describe('a new leader with much to apply', () => {
  it('serves when everything is applied', () => {
    const session = applyingLeader();
    const { ensemble } = session;
    expect(applyAll(session, 2)).toBe(MISSED - 1);
    expect(ensemble.member(2).serves).toBe('leading');
    expect(ensemble.member(1).serves).toBe('looking');
    settle(session, [1, 2]);
    applyAll(session, 1);
    expect(ensemble.member(1).serves).toBe('following');
  });

  it('steps down when its learners are no longer a quorum, whoever else is reachable', () => {
    const session = applyingLeader();
    const { ensemble } = session;
    ensemble.start(3);
    ensemble.connect(2, 3);
    ensemble.deliver(3, 2);
    ensemble.breakLink(1, 2);
    applyAll(session, 2);
    expect(viewOf(session, 2)).toMatchObject({ role: 'looking', serves: 'looking' });
  });

  it('accepts a member that restarts', () => {
    const session = applyingLeader();
    const { ensemble } = session;
    ensemble.start(3);
    runFor(session, 100);
    expect(viewOf(session, 2)).toMatchObject({ syncedLearnerCount: 2 });
    ensemble.crash(3);
    ensemble.start(3);
    runFor(session, 100);
    expect(viewOf(session, 2)).toMatchObject({ syncedLearnerCount: 2, hasMore: true });
  });

  it('takes as much time as it needs', () => {
    const session = applyingLeader();
    runFor(session, 20_000);
    expect(viewOf(session, 2)).toMatchObject({ role: 'leading', hasMore: true });
  });
});
