// Goal: containers and TTL znodes are deleted once the rules allow it, and only then. Method:
// the leader ticks; times are arguments, so nothing waits.
import { CreateTtlRequest, MultiRequest, type MultiRequestOp, OpCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble, type TestEnsembleOptions } from '../simulated/pipeline/test-ensemble.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { Reaper } from './reaper.js';

const CHECK_MS = 1_000;
const PER_MINUTE = 60_000;
/** Every znode was modified longer ago than any TTL. */
const OLD = { ageMs: () => 1_000 };

function newEnsemble({
  neverUsedMs = 0,
  ...more
}: TestEnsembleOptions & { readonly neverUsedMs?: number } = {}): {
  ensemble: TestEnsemble;
  client: TestClient;
} {
  const reaper = { intervalMs: CHECK_MS, perMinuteMax: PER_MINUTE, neverUsedMs };
  const ensemble = new TestEnsemble({ ...more, preparer: { reaper } });
  return { ensemble, client: ensemble.connect() };
}
function createTtl(client: TestClient, path: string, ttlMs: number): void {
  const body = { path, data: null, acl: OPEN_ACL, flags: 5, ttlMs };
  client.send(OpCode.createTtl, CreateTtlRequest, body);
}
function createContainer(client: TestClient, path: string): void {
  client.create(path, { opcode: OpCode.createContainer, flags: 4 });
}
/** Time passes in ticks; what they propose is applied, unless the test wants to do that itself. */
function pass(ensemble: TestEnsemble, ms: number, apply = true): void {
  for (let passed = 0; passed < ms; passed += 50) {
    ensemble.nowMs += 50;
    ensemble.wallMs += 50;
    ensemble.tick();
    if (apply) ensemble.settle();
  }
}
function has(ensemble: TestEnsemble, path: string): boolean {
  return ensemble.leader.state.tree.find(path) !== -1;
}

describe('a container', () => {
  it('goes at the next search once it was used and is empty, on every member', () => {
    const { ensemble, client } = newEnsemble({ size: 2 });
    createContainer(client, '/c');
    client.create('/c/x');
    client.delete('/c/x');
    ensemble.settle();
    pass(ensemble, CHECK_MS + 100);
    for (const { state } of ensemble.members) expect(state.tree.find('/c')).toBe(-1);
    expect(ensemble.member(2).state.digest()).toBe(ensemble.leader.state.digest());
  });

  it('stays while it was never used, or has children', () => {
    const { ensemble, client } = newEnsemble();
    createContainer(client, '/unused');
    createContainer(client, '/full');
    client.create('/full/x');
    ensemble.settle();
    pass(ensemble, 5 * CHECK_MS);
    expect([has(ensemble, '/unused'), has(ensemble, '/full')]).toEqual([true, true]);
  });

  it('that was never used goes once it was left alone for the time that is set', () => {
    const { ensemble, client } = newEnsemble({ size: 2, neverUsedMs: 3 * CHECK_MS });
    createContainer(client, '/unused');
    createContainer(client, '/written');
    createContainer(client, '/full');
    client.create('/full/x');
    ensemble.settle();
    pass(ensemble, 2.5 * CHECK_MS);
    expect(has(ensemble, '/unused')).toBe(true);
    client.setData('/written', 'x');
    ensemble.settle();
    pass(ensemble, 2 * CHECK_MS);
    const there = ['/unused', '/written', '/full'].map((path) => has(ensemble, path));
    expect(there).toEqual([false, true, true]);
    expect(ensemble.member(2).state.digest()).toBe(ensemble.leader.state.digest());
  });

  it('that was never used stays when a child is being created as its time comes', () => {
    const { ensemble, client } = newEnsemble({ neverUsedMs: CHECK_MS });
    createContainer(client, '/c');
    ensemble.settle();
    pass(ensemble, CHECK_MS - 100);
    client.create('/c/y');
    ensemble.forward();
    pass(ensemble, 2 * CHECK_MS, false);
    ensemble.settle();
    expect(has(ensemble, '/c/y')).toBe(true);
  });

  it('fires the watches of a delete', () => {
    const { ensemble, client } = newEnsemble();
    createContainer(client, '/c');
    client.create('/c/x');
    client.delete('/c/x');
    ensemble.settle();
    client.exists('/c', true);
    client.take();
    pass(ensemble, CHECK_MS + 100);
    expect(client.takeSummary()).toEqual(['event 2 /c']);
  });

  it('stays when a child is being created as its time comes', () => {
    const { ensemble, client } = newEnsemble();
    createContainer(client, '/c');
    client.create('/c/x');
    client.delete('/c/x');
    ensemble.settle();
    client.create('/c/y');
    ensemble.forward();
    pass(ensemble, CHECK_MS + 100, false);
    ensemble.settle();
    expect(has(ensemble, '/c/y')).toBe(true);
  });

  it('is deleted once, though its delete is long in flight', () => {
    const { ensemble, client } = newEnsemble();
    createContainer(client, '/c');
    client.create('/c/x');
    client.delete('/c/x');
    ensemble.settle();
    pass(ensemble, 5 * CHECK_MS, false);
    client.create('/c/late');
    ensemble.settle();
    expect(has(ensemble, '/c')).toBe(false);
    expect(client.takeSummary().at(-1)).toBe('reply 4 -101');
    expect(ensemble.preparer.txns.overlay.size).toBe(0);
  });
});

describe('a TTL znode', () => {
  it('goes when it was not written to for its time', () => {
    const { ensemble, client } = newEnsemble();
    createTtl(client, '/t', 3_000);
    ensemble.settle();
    pass(ensemble, 2_500);
    client.setData('/t', 'x');
    ensemble.settle();
    pass(ensemble, 2_500);
    expect(has(ensemble, '/t')).toBe(true);
    pass(ensemble, 2 * CHECK_MS);
    expect(has(ensemble, '/t')).toBe(false);
  });

  it('stays as long as it has children', () => {
    const { ensemble, client } = newEnsemble();
    createTtl(client, '/t', 1);
    client.create('/t/x');
    ensemble.settle();
    pass(ensemble, 3 * CHECK_MS);
    expect(has(ensemble, '/t')).toBe(true);
    client.delete('/t/x');
    ensemble.settle();
    pass(ensemble, 2 * CHECK_MS);
    expect(has(ensemble, '/t')).toBe(false);
  });

  it('that is written to as its time comes stays', () => {
    const { ensemble, client } = newEnsemble();
    createTtl(client, '/t', 500);
    ensemble.settle();
    client.setData('/t', 'x');
    ensemble.forward();
    pass(ensemble, CHECK_MS + 100, false);
    ensemble.settle();
    expect(has(ensemble, '/t')).toBe(true);
  });

  it('of a multi goes like any other', () => {
    const { ensemble, client } = newEnsemble();
    const request = { path: '/t', data: null, acl: OPEN_ACL, flags: 5, ttlMs: 10 };
    const ops: MultiRequestOp[] = [{ opcode: OpCode.createTtl, request }];
    client.send(OpCode.multi, MultiRequest, { ops });
    ensemble.settle();
    expect(has(ensemble, '/t')).toBe(true);
    pass(ensemble, CHECK_MS + 100);
    expect(has(ensemble, '/t')).toBe(false);
  });
});

describe('the reaper', () => {
  function stateWithTtls(count: number): ReplicatedState {
    const state = new ReplicatedState();
    const sink = {
      created: () => undefined,
      deleted: () => undefined,
      dataChanged: () => undefined,
    };
    for (let index = 0; index < count; index++) {
      const path = `/t${index}`;
      const create = { kind: 'create', path, data: null, acl: OPEN_ACL, mode: 'ttl' } as const;
      const op = { ...create, ttlMs: 1, opcode: OpCode.createTtl };
      state.apply(index + 1, { origin: 1, request: 1, session: 0, time: 1, op }, sink);
    }
    return state;
  }

  it('hands out no more than its rate, and each path once', () => {
    const options = { intervalMs: 100, perMinuteMax: 6_000, neverUsedMs: 0 };
    const reaper = new Reaper({ state: stateWithTtls(500), ages: OLD }, options, 0);
    const got: string[] = [];
    const times: number[] = [];
    for (let nowMs = 10; got.length < 500 && nowMs < 10_000; nowMs += 10) {
      const due = reaper.due(nowMs, 1_000);
      got.push(...due);
      times.push(due.length);
    }
    expect(new Set(got).size).toBe(500);
    expect(Math.max(...times)).toBeLessThanOrEqual(10);
    // A hundred each second, from the first search on.
    expect(times.length * 10).toBeGreaterThanOrEqual(4_900);
    expect(times.length * 10).toBeLessThanOrEqual(5_300);
  });

  it('looks through many in slices, and not before its interval has passed', () => {
    const options = { intervalMs: 100, perMinuteMax: 60_000_000, neverUsedMs: 0 };
    const reaper = new Reaper({ state: stateWithTtls(12_000), ages: OLD }, options, 0);
    expect(reaper.due(99, 100_000)).toEqual([]);
    const first = reaper.due(100, 100_000);
    expect(first.length).toBeLessThanOrEqual(5_000);
    const all = new Set(first);
    for (let nowMs = 110; nowMs < 400; nowMs += 10) {
      for (const path of reaper.due(nowMs, 100_000)) all.add(path);
    }
    expect(all.size).toBe(12_000);
  });
});
