/**
 * The watch events of one turn are bounded: where one multi changes what very many connections
 * watch, those who hear most give way, and nobody else. What is counted is events, not time.
 */
import {
  type Acl,
  AddWatchRequest,
  MultiRequest,
  type MultiRequestOp,
  OpCode,
  Perms,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import type { WatcherId } from '../state/watches.js';
import { EventBudget } from './apply.js';

const EVENTS_PER_TURN = 4_096;
const OPS = 64;
const RECURSIVE = 1;
const paths = Array.from({ length: OPS }, (_, index) => `/fan/${index}`);

function scene() {
  const ensemble = new TestEnsemble({ pipeline: { eventsPerTurn: EVENTS_PER_TURN } });
  const author = ensemble.connect(1, '10.0.0.1');
  author.create('/fan');
  ensemble.settle();
  author.take();
  return { ensemble, author, pipeline: ensemble.leader.pipeline };
}

function watchersOf(ensemble: TestEnsemble, count: number, address: string): TestClient[] {
  return Array.from({ length: count }, () => {
    const client = ensemble.connect(1, address);
    client.send(OpCode.addWatch, AddWatchRequest, { path: '/fan', mode: RECURSIVE });
    client.take();
    return client;
  });
}

function createAll(client: TestClient, acl: readonly Acl[] = OPEN_ACL): void {
  const ops = paths.map((path): MultiRequestOp => {
    const request = { path, data: null, acl: [...acl], flags: 0 };
    return { opcode: OpCode.create, request };
  });
  client.send(OpCode.multi, MultiRequest, { ops });
}

describe('a multi of very many changes that many connections watch', () => {
  it('is heard of by everybody as long as its events fit into a turn', () => {
    const { ensemble, author } = scene();
    const count = EVENTS_PER_TURN / OPS;
    const watchers = watchersOf(ensemble, count, '10.0.0.2');
    createAll(author);
    ensemble.settle();
    expect(author.takeSummary()).toEqual(['reply 2 0']);
    const events = paths.map((path) => `event 1 ${path}`);
    for (const watcher of watchers) expect(watcher.takeSummary()).toEqual(events);
  });

  it('costs most connections of the largest address theirs beyond that, and nobody else', () => {
    const { ensemble, author, pipeline } = scene();
    const attackers = watchersOf(ensemble, 200, '10.0.0.2');
    const others = ['10.0.0.3', '10.0.0.4'].flatMap((at) => watchersOf(ensemble, 1, at));
    const idle = ensemble.connect(1, '10.0.0.2');
    createAll(author);
    ensemble.settle();
    pipeline.endTurn();
    expect(author.takeSummary()).toEqual(['reply 2 0']);
    const closed = attackers.filter(({ state }) => state === 'closed');
    expect(closed.length).toBeGreaterThan(50);
    for (const { closedBecause } of closed) expect(closedBecause).toMatch(/too many watch events/);
    const events = [...attackers, ...others].reduce((sum, { stats }) => sum + stats.events, 0);
    expect(events).toBeLessThan(2 * EVENTS_PER_TURN);
    expect(idle.state).toBe('open');
    for (const other of others) expect(other.takeSummary()).toHaveLength(OPS);
    const stayed = attackers.filter(({ state }) => state === 'open');
    for (const attacker of stayed) expect(attacker.takeSummary()).toHaveLength(OPS);
    expect(pipeline.watches.watchCount).toBe(stayed.length + others.length);
    expect(pipeline.outstanding).toBe(0);
  });

  it('closes as many where only its author may read what it changes', () => {
    const { ensemble, author, pipeline } = scene();
    const attackers = watchersOf(ensemble, 200, '10.0.0.2');
    const [other] = watchersOf(ensemble, 1, '10.0.0.3');
    createAll(author, [{ perms: Perms.all, scheme: 'ip', id: '10.0.0.1' }]);
    ensemble.settle();
    pipeline.endTurn();
    expect(author.takeSummary()).toEqual(['reply 2 0']);
    expect(attackers.filter(({ state }) => state === 'closed').length).toBeGreaterThan(50);
    expect([other?.state, other?.takeSummary()]).toEqual(['open', []]);
    expect(attackers.flatMap((attacker) => attacker.takeSummary())).toEqual([]);
  });

  it('may cost its author the connection, and is applied all the same', () => {
    const { ensemble, pipeline } = scene();
    const all = watchersOf(ensemble, 200, '10.0.0.2');
    for (const author of all) {
      author.delete('/fan/0');
      ensemble.settle();
    }
    for (const one of all) one.take();
    const [author] = all;
    if (author !== undefined) createAll(author);
    ensemble.settle();
    pipeline.endTurn();
    expect(ensemble.leader.state.tree.find('/fan/63')).toBeGreaterThan(0);
    expect(author?.state).toBe('closed');
    expect(pipeline.outstanding).toBe(0);
  });

  it('is heard of by as many again in the next turn', () => {
    const { ensemble, author, pipeline } = scene();
    const watchers = watchersOf(ensemble, EVENTS_PER_TURN / OPS, '10.0.0.2');
    createAll(author);
    ensemble.settle();
    pipeline.endTurn();
    author.delete('/fan/0');
    ensemble.settle();
    for (const watcher of watchers) {
      expect(watcher.state).toBe('open');
      expect(watcher.takeSummary()).toHaveLength(OPS + 1);
    }
  });
});

describe('the budget of a turn', () => {
  /** Adds events of watchers in turn until `count` are written or some have to leave. */
  function leavingAfter(budget: EventBudget, watchers: number, count: number) {
    for (let event = 0; event < count; event += 1) {
      const leaving = budget.takeExcess();
      if (leaving.length > 0) return { event, leaving };
      budget.add(event % watchers);
    }
    return { event: count, leaving: budget.takeExcess() };
  }

  it('lets the largest group give way once it hears a large part', () => {
    const budget = new EventBudget(
      (watcher) => [watcher < 10 ? 'one' : `other ${watcher}`],
      EVENTS_PER_TURN,
    );
    const { event, leaving } = leavingAfter(budget, 40, 2 * EVENTS_PER_TURN);
    expect(event).toBe(EVENTS_PER_TURN);
    expect(leaving.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 10 }, (_, index) => index),
    );
    expect(budget.takeExcess()).toEqual([]);
  });

  it('lets four times as many events pass where nobody hears a large part, then half give way', () => {
    const budget = new EventBudget((watcher) => [`host ${watcher}`], EVENTS_PER_TURN);
    const { event, leaving } = leavingAfter(budget, 100, 8 * EVENTS_PER_TURN);
    expect(event).toBe(4 * EVENTS_PER_TURN);
    expect(leaving).toHaveLength(50);
    budget.renew();
    expect(leavingAfter(budget, 100, 4 * EVENTS_PER_TURN - 1).leaving).toEqual([]);
  });

  it('looks for large hearers at the bound and at twice as many events, where there are none', () => {
    const looked: WatcherId[] = [];
    const groupsOf = (watcher: WatcherId) => {
      if (watcher === 0) looked.push(watcher);
      return [`host ${watcher}`];
    };
    const budget = new EventBudget(groupsOf, EVENTS_PER_TURN);
    leavingAfter(budget, 100, EVENTS_PER_TURN);
    const once = looked.length;
    expect(once).toBeGreaterThan(0);
    budget.renew();
    leavingAfter(budget, 100, 4 * EVENTS_PER_TURN - 1);
    expect(looked).toHaveLength(once * 3);
  });
});
