// Tests how sessions end (closed by the client, or expired by the leader), and how a member's role
// ends.
import { OpCode, PathRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { isExpired, resume, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

describe('closing a session', () => {
  it('answers, ends the connection, and deletes its ephemerals', () => {
    const ensemble = new TestEnsemble();
    const [watcher, client] = [ensemble.connect(), ensemble.connect()];
    for (const path of ['/c', '/a', '/b']) {
      client.create(path, { flags: 1 });
      watcher.exists(path, true);
    }
    ensemble.settle();
    watcher.take();
    client.take();
    for (const path of ['/c', '/a', '/b']) watcher.exists(path, true);
    watcher.take();
    client.sendRaw(OpCode.closeSession, new Uint8Array());
    client.create('/after');
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 4 0']);
    expect(client.state).toBe('ended');
    const events = [...watcher.takeSummary()].sort();
    expect(events).toEqual(['event 2 /a', 'event 2 /b', 'event 2 /c']);
    expect(ensemble.leader.state.tree.find('/after')).toBe(-1);
    const again = resume(ensemble, 1, client);
    ensemble.settle();
    expect(isExpired(again.takeConnectResponse())).toBe(true);
  });

  it('in flight refuses later requests of the session and shows its ephemerals gone', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const [dying, other] = [ensemble.connect(2), ensemble.connect(1)];
    dying.create('/parent');
    dying.create('/parent/applied', { flags: 1 });
    ensemble.settle();
    dying.create('/parent/flying', { flags: 1 });
    ensemble.forward();
    ensemble.nowMs += 30_000;
    ensemble.preparer.onTouch(1, [Number(other.session)], ensemble.time);
    ensemble.nowMs += 5_000;
    ensemble.tick();
    dying.create('/late', { flags: 1 });
    dying.create('/late2');
    other.create('/parent/applied');
    other.delete('/parent/applied');
    other.delete('/parent/flying');
    other.delete('/parent');
    ensemble.settle();
    expect(other.takeSummary()).toEqual(['reply 1 0', 'reply 2 0', 'reply 3 -101', 'reply 4 0']);
    expect(dying.state).toBe('ended');
    const { tree } = ensemble.leader.state;
    expect([tree.find('/late'), tree.find('/late2'), tree.find('/parent')]).toEqual([-1, -1, -1]);
  });

  it('in flight is enough for a resume to be answered as expired', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const first = ensemble.connect(1);
    first.sendRaw(OpCode.closeSession, new Uint8Array());
    ensemble.forward();
    const second = resume(ensemble, 2, first);
    ensemble.forward();
    expect(isExpired(second.takeConnectResponse())).toBe(true);
  });

  it('happens once, though the client closes and the lease runs out in the same moment', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.sendRaw(OpCode.closeSession, new Uint8Array());
    ensemble.nowMs += 30_000;
    ensemble.forward();
    ensemble.tick();
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 1 0']);
    expect(ensemble.leader.state.sessions.count).toBe(0);
    expect(ensemble.leader.state.lastZxid).toBe(0x1_0000_0002);
    expect(ensemble.preparer.txns.overlay.size).toBe(0);
  });
});

describe('the close of a session whose client disconnects before it is answered', () => {
  function closeAndLeave(sendFirst: (client: TestClient) => void): void {
    const ensemble = new TestEnsemble();
    const { pipeline, state } = ensemble.leader;
    const client = ensemble.connect();
    client.create('/ephemeral', { flags: 1 });
    ensemble.settle();
    client.take();
    sendFirst(client);
    client.create('/last');
    client.sendRaw(OpCode.closeSession, new Uint8Array());
    pipeline.onClosed(client.id);
    expect(pipeline.outstanding).toBeGreaterThanOrEqual(2);
    ensemble.settle();
    expect([state.sessions.count, state.tree.find('/ephemeral')]).toEqual([0, -1]);
    expect(state.tree.find('/last')).not.toBe(-1);
    expect([client.take(), pipeline.outstanding]).toEqual([[], 0]);
  }

  it('is done after the writes before it, though a sync before them is not answered', () => {
    closeAndLeave((client) => client.send(OpCode.sync, PathRequest, { path: '/' }));
  });

  it('is done after the writes before it, though these wait for reads with large answers', () => {
    closeAndLeave((client) => {
      client.setData('/ephemeral', 'x');
      for (const path of ['/a', '/b']) {
        client.send(OpCode.getEphemerals, PathRequest, { path });
      }
    });
  });
});

describe('expiry', () => {
  it('comes after timeout and slack, not before, and pings put it off', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const client = ensemble.connect(2);
    for (let round = 0; round < 10; round++) {
      ensemble.nowMs += 9_000;
      client.sendRaw(OpCode.ping, new Uint8Array(), -2);
      ensemble.touch();
      ensemble.tick();
    }
    ensemble.tickIn(10_499);
    expect(client.state).toBe('open');
    ensemble.tickIn(101);
    expect(client.state).toBe('ended');
    expect(ensemble.preparer.leases.count).toBe(0);
  });

  it('starts anew with a fresh full timeout under a new leader', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    ensemble.nowMs += 10_000;
    ensemble.leader.pipeline.stopServing();
    ensemble.preparer = ensemble.newPreparer(2);
    ensemble.leader.pipeline.startServing();
    ensemble.nowMs += 10_000;
    ensemble.tick();
    const again = resume(ensemble, 1, client);
    ensemble.settle();
    expect(isExpired(again.takeConnectResponse())).toBe(false);
    expect(ensemble.leader.state.lastZxid).toBe(0x1_0000_0001);
  });

  it('ignores the touches of a member that the session has left', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const client = ensemble.connect(2);
    ensemble.nowMs += 10_000;
    ensemble.preparer.onTouch(1, [Number(client.session)], ensemble.time);
    ensemble.tickIn(700);
    expect(client.state).toBe('ended');
  });
});

describe('the end of a role', () => {
  it('ends every client connection, answers nothing that is pending and forgets it', () => {
    const ensemble = new TestEnsemble();
    const { pipeline } = ensemble.leader;
    const [live, joining, open] = [ensemble.connect(), ensemble.open(), ensemble.open()];
    joining.connect();
    live.exists('/', true);
    live.create('/a');
    live.exists('/a');
    expect(pipeline.stopServing()).toEqual([live.id, joining.id]);
    expect([live.state, joining.state, open.state]).toEqual(['ended', 'ended', 'open']);
    expect(live.takeSummary()).toEqual(['reply 1 0']);
    expect(pipeline.takeForLeader()).toEqual([]);
    expect(pipeline.watches.watchCount).toBe(0);
    expect(pipeline.stopServing()).toEqual([]);
    pipeline.startServing();
    open.connect();
    ensemble.settle();
    expect(open.takeConnectResponse().timeoutMs).toBe(10_000);
  });

  it('drops the answers of its last turn when it is given a reason to', () => {
    const ensemble = new TestEnsemble();
    const { pipeline } = ensemble.leader;
    const [live, open] = [ensemble.connect(), ensemble.open()];
    live.exists('/');
    expect(pipeline.stopServing('this member was suspended or busy')).toEqual([live.id]);
    expect([live.state, open.state]).toEqual(['closed', 'open']);
    expect(pipeline.stopServing()).toEqual([]);
  });

  it('requests of a session that no member has attached since are dropped', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    ensemble.preparer = ensemble.newPreparer(2);
    client.create('/a');
    ensemble.settle();
    expect(client.state).toBe('ended');
    expect(ensemble.leader.state.tree.find('/a')).toBe(-1);
  });
});
