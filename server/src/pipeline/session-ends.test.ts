// Tests the end of a session with many ephemerals: it happens in parts, between which everybody
// else is served.
import { decode, MultiRequest, OpCode, WatcherEvent } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { OPEN_ACL } from '../simulated/pipeline/test-client.js';
import { isExpired, resume, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const EPHEMERAL = 1;
const PART = 10;
const MANY = 95;
const WATCH_XID = -1;

function newEnsemble(): TestEnsemble {
  const ensemble = new TestEnsemble({ size: 2, preparer: { ephemeralsPerPartMax: PART } });
  ensemble.raiseLevel();
  return ensemble;
}

/** A session at member 2 with `count` ephemerals below /e. */
function owner(ensemble: TestEnsemble, count: number): TestClient {
  const client = ensemble.connect(2);
  client.create('/e');
  const ops = Array.from({ length: count }, (_, at) => ({
    opcode: OpCode.create,
    request: { path: `/e/${at}`, data: null, acl: OPEN_ACL, flags: EPHEMERAL },
  }));
  client.send(OpCode.multi, MultiRequest, { ops });
  ensemble.settle();
  client.take();
  return client;
}

function expire(ensemble: TestEnsemble, session: number): void {
  ensemble.preparer.leases.end(session);
  ensemble.tick();
}

function close(client: TestClient): void {
  client.sendRaw(OpCode.closeSession, new Uint8Array());
}

/**
 * Applies what is proposed, one transaction at a time; returns how many ephemerals each deleted.
 */
function applyOneByOne(ensemble: TestEnsemble): readonly number[] {
  const deleted: number[] = [];
  for (;;) {
    const { state } = ensemble.leader;
    const before = state.tree.ephemeralCount;
    const { lastZxid } = state;
    ensemble.apply(1, 1);
    ensemble.apply(2, 1);
    if (ensemble.leader.state.lastZxid === lastZxid) return deleted;
    deleted.push(before - ensemble.leader.state.tree.ephemeralCount);
  }
}

describe('the end of a session with many ephemerals', () => {
  it('is not ended again by an operator once it is decided', () => {
    const ensemble = newEnsemble();
    const session = Number(owner(ensemble, MANY).session);
    expect(ensemble.preparer.leases.end(session)).toBe(true);
    expect(ensemble.preparer.leases.end(session), 'before the next tick').toBe(false);
    ensemble.tick();
    ensemble.apply(1, 1);
    expect(ensemble.leader.state.sessions.get(session)?.isClosing).toBe(true);
    expect(ensemble.preparer.leases.end(session), 'while it is closing').toBe(false);
  });

  it('deletes a bounded number of them in each transaction, the session with the last', () => {
    const ensemble = newEnsemble();
    const session = Number(owner(ensemble, MANY).session);
    expire(ensemble, session);
    const { state } = ensemble.leader;
    const turns: (readonly number[])[] = [];
    for (;;) {
      expect(state.sessions.has(session)).toBe(true);
      const parts = ensemble.continueEnds();
      expect(parts).toBeLessThanOrEqual(2);
      if (parts === 0 && state.tree.ephemeralCount === 0) break;
      turns.push(applyOneByOne(ensemble));
      if (!state.sessions.has(session)) break;
    }
    // The decision comes first, in the same turn as the first parts.
    expect(turns[0]).toEqual([0, PART, PART]);
    expect(turns.slice(1).flat()).toEqual([...new Array(7).fill(PART), 5]);
    expect(Math.max(...turns.map((turn) => turn.length))).toBe(3);
    expect(state.tree.ephemeralCount).toBe(0);
    expect(ensemble.member(2).state.digest()).toBe(state.digest());
    expect(ensemble.preparer.txns.overlay.size).toBe(0);
  });

  it('lets others be served in between, who see what is left of it', () => {
    const ensemble = newEnsemble();
    const dying = owner(ensemble, MANY);
    const other = ensemble.connect(1);
    close(dying);
    ensemble.forward();
    const left: number[] = [];
    for (let turn = 0; ensemble.leader.state.sessions.has(Number(dying.session)); turn++) {
      other.create(`/between-${turn}`);
      ensemble.forward();
      ensemble.continueEnds();
      ensemble.apply(1);
      ensemble.apply(2);
      expect(other.takeOne().error).toBe(0);
      left.push(ensemble.leader.state.tree.ephemeralCount);
    }
    expect(left).toEqual([75, 55, 35, 15, 0]);
  });

  it('is answered to who asked for it when all is gone, and nothing else is', () => {
    const ensemble = newEnsemble();
    const client = owner(ensemble, MANY);
    const { state } = ensemble.member(2);
    close(client);
    client.create('/after');
    ensemble.forward();
    for (let rounds = 0; state.tree.ephemeralCount > 0; rounds++) {
      expect(client.take()).toEqual([]);
      expect(client.state).toBe('open');
      ensemble.continueEnds();
      ensemble.apply(1);
      ensemble.apply(2);
      expect(rounds).toBeLessThan(MANY);
    }
    ensemble.settle();
    expect(client.take().map(({ error, zxid }) => [error, zxid])).toEqual([[0, state.lastZxid]]);
    expect(client.state).toBe('ended');
    expect([state.tree.find('/after'), state.sessions.count]).toEqual([-1, 0]);
    expect(ensemble.member(2).pipeline.outstanding).toBe(0);
  });

  it('ends the connection of a session that expires as soon as it has begun', () => {
    const ensemble = newEnsemble();
    const client = owner(ensemble, MANY);
    expire(ensemble, Number(client.session));
    client.create('/late', { flags: EPHEMERAL });
    ensemble.forward();
    ensemble.apply(1, 1);
    ensemble.apply(2, 1);
    expect(client.state).toBe('ended');
    ensemble.settle();
    expect(client.take()).toEqual([]);
    expect(ensemble.leader.state.tree.find('/late')).toBe(-1);
    expect(ensemble.leader.state.tree.ephemeralCount).toBe(0);
  });

  it('is continued by the next leader, which lets nobody resume the session', () => {
    const ensemble = newEnsemble();
    const client = owner(ensemble, MANY);
    const session = Number(client.session);
    close(client);
    ensemble.forward();
    ensemble.continueEnds();
    ensemble.apply(1);
    ensemble.apply(2);
    expect(ensemble.leader.state.tree.ephemeralCount).toBe(MANY - 2 * PART);
    // Everything proposed is applied, so no request is on its way: a role change drops them.
    for (const { pipeline } of ensemble.members) {
      pipeline.stopServing();
      pipeline.startServing();
    }
    ensemble.preparer = ensemble.newPreparer(2, { ephemeralsPerPartMax: PART });
    expect(ensemble.preparer.leases.count).toBe(0);
    // It receives nothing before the end is committed, and takes nobody's place in line meanwhile.
    const early = resume(ensemble, 1, client);
    ensemble.forward();
    expect([early.state, early.take()]).toEqual(['ended', []]);
    expect(ensemble.member(1).pipeline.outstanding).toBe(0);
    expect(ensemble.preparer.txns.overlay.sessions.isClosing(session)).toBe(true);
    ensemble.settle();
    const again = resume(ensemble, 1, client);
    ensemble.settle();
    expect(isExpired(again.takeConnectResponse())).toBe(true);
    expect(ensemble.leader.state.tree.ephemeralCount).toBe(0);
    expect(ensemble.leader.state.sessions.count).toBe(0);
    expect(ensemble.preparer.txns.overlay.sessions.isClosing(session)).toBe(false);
    expect(ensemble.member(2).state.digest()).toBe(ensemble.leader.state.digest());
  });

  it('copes with ephemerals that others delete meanwhile, and with those being created', () => {
    const ensemble = newEnsemble();
    const dying = owner(ensemble, MANY);
    const other = ensemble.connect(1);
    for (let at = 0; at < 3 * PART; at++) dying.create(`/e/late-${at}`, { flags: EPHEMERAL });
    close(dying);
    ensemble.forward();
    for (let at = 0; at < MANY; at += 3) {
      other.delete(`/e/${at}`);
      other.create(`/e/${at}`);
    }
    ensemble.forward();
    other.delete('/e/1');
    ensemble.settle();
    const { tree, sessions } = ensemble.leader.state;
    expect([tree.ephemeralCount, sessions.count]).toEqual([0, 1]);
    expect(tree.childCount(tree.find('/e'))).toBe(Math.ceil(MANY / 3));
    expect(ensemble.member(2).state.digest()).toBe(ensemble.leader.state.digest());
  });

  it('is interleaved with the ends of other sessions, and keeps no small one waiting', () => {
    const ensemble = newEnsemble();
    const dying = [owner(ensemble, MANY)];
    for (let at = 0; at < 3; at++) {
      const client = ensemble.connect(1);
      for (let of = 0; of <= PART; of++) client.create(`/e-${at}-${of}`, { flags: EPHEMERAL });
      dying.push(client);
    }
    const idle = ensemble.connect(1);
    ensemble.settle();
    for (const client of dying) close(client);
    close(idle);
    ensemble.forward();
    const { sessions } = ensemble.leader.state;
    const isOver = (client: TestClient) => !sessions.has(Number(client.session));
    const over: number[] = [];
    for (let turn = 0; sessions.count > 0; turn++) {
      ensemble.continueEnds();
      ensemble.apply(1);
      ensemble.apply(2);
      over.push([...dying, idle].filter(isOver).length);
      expect(turn).toBeLessThan(MANY);
    }
    // The idle one ends at once; each of the small ones waits for two parts of each other's.
    expect(over[0]).toBe(1);
    expect(over.indexOf(4)).toBeLessThan(over.indexOf(5) - 2);
  });

  it('tells of each deletion once, in the order of zxids', () => {
    const ensemble = newEnsemble();
    const dying = owner(ensemble, MANY);
    const watcher = ensemble.connect(2);
    for (let at = 0; at < MANY; at++) watcher.exists(`/e/${at}`, true);
    watcher.take();
    expire(ensemble, Number(dying.session));
    ensemble.settle();
    const events = watcher.take().filter(({ xid }) => xid === WATCH_XID);
    const zxids = events.map(({ zxid }) => Number(zxid));
    expect([...zxids].sort((a, b) => a - b)).toEqual(zxids);
    expect(new Set(zxids).size).toBe(10);
    const paths = events.map(({ body }) => decode(WatcherEvent, body).path);
    expect(new Set(paths).size).toBe(MANY);
  });
});
