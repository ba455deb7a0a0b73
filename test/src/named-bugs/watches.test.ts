/**
 * ZooKeeper's watches: wrong events after a reconnect, and watches that interfered with each other
 * on one path.
 */
import {
  AddWatchRequest,
  EventType,
  JuteReader,
  OpCode,
  SetWatches2Request,
  WATCH_XID,
  WatcherEvent,
  WatcherType,
  WatchesRequest,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { resume, type TestClient, TestEnsemble } from '../simulated.js';

const MODE = { persistent: 0, recursive: 1 } as const;

function addWatch(client: TestClient, path: string, mode: number): void {
  client.send(OpCode.addWatch, AddWatchRequest, { path, mode });
}
function removeWatches(client: TestClient, path: string, type: number): void {
  client.send(OpCode.removeWatches, WatchesRequest, { path, type });
}

/** The events since the last call, as `type path`, in order. */
function events(client: TestClient): readonly string[] {
  return client
    .takeSummary()
    .filter((line) => line.startsWith('event '))
    .map((line) => line.slice('event '.length));
}

/** A client that watches at /w, and another one that makes changes. */
function watched() {
  const ensemble = new TestEnsemble();
  const [watcher, writer] = [ensemble.connect(), ensemble.connect()];
  writer.create('/w');
  ensemble.settle();
  writer.take();
  return { ensemble, watcher, writer };
}

const CHANGED = `${EventType.dataChanged} /w`;
const CHILDREN = `${EventType.childrenChanged} /w`;

it('ZK-1412: a client that reconnects is notified once of each change that it missed, and of none that it saw', () => {
  const changes: readonly ((client: TestClient) => void)[] = [
    (client) => client.setData('/w', '1'),
    (client) => client.create('/w/c'),
    (client) => client.create('/later'),
    (client) => client.setData('/w', '2'),
    (client) => client.delete('/w/c'),
    (client) => client.delete('/later'),
  ];
  const isData = (index: number) => index === 0 || index === 3;
  const isChild = (index: number) => index === 1 || index === 4;
  for (let seen = 0; seen <= changes.length; seen++) {
    for (let now = seen; now <= changes.length; now++) {
      const { ensemble, watcher, writer } = watched();
      let relativeZxid = ensemble.leader.state.lastZxid;
      for (const [index, change] of changes.slice(0, now).entries()) {
        change(writer);
        ensemble.settle();
        if (index < seen) relativeZxid = ensemble.leader.state.lastZxid;
      }
      const again = resume(ensemble, 1, watcher);
      ensemble.settle();
      again.takeConnectResponse();
      again.send(OpCode.setWatches2, SetWatches2Request, {
        relativeZxid,
        dataWatches: ['/w'],
        existWatches: ['/later'],
        childWatches: ['/w'],
        persistentWatches: [],
        persistentRecursiveWatches: [],
      });
      const missed = changes.slice(seen, now).map((_, index) => seen + index);
      // A watch that has fired is used up; one that remains fires at the next change.
      const expected = [
        ...(missed.some(isData) ? [CHANGED] : []),
        ...(now > 2 && now < 6 ? [`${EventType.created} /later`] : []),
        ...(missed.some(isChild) ? [CHILDREN] : []),
      ];
      expect(events(again), `saw ${seen} of ${now}`).toEqual(expected);
      writer.setData('/w', 'next');
      writer.create('/w/next');
      ensemble.settle();
      const next = [
        ...(missed.some(isData) ? [] : [CHANGED]),
        ...(missed.some(isChild) ? [] : [CHILDREN]),
      ];
      expect(events(again), `then, saw ${seen} of ${now}`).toEqual(next);
    }
  }
});

it('ZK-4466: a one-shot watch and a persistent one on the same path do not affect each other', () => {
  for (const mode of [MODE.persistent, MODE.recursive]) {
    const { ensemble, watcher, writer } = watched();
    addWatch(watcher, '/w', mode);
    watcher.getData('/w', true);
    watcher.take();
    for (const data of ['1', '2', '3']) writer.setData('/w', data);
    ensemble.settle();
    expect(events(watcher)).toEqual([CHANGED, CHANGED, CHANGED]);
    // In the opposite order: the persistent watch is set second and removed first.
    const late = ensemble.connect();
    late.getData('/w', true);
    addWatch(late, '/w', mode);
    const { persistent, persistentRecursive } = WatcherType;
    removeWatches(late, '/w', mode === MODE.persistent ? persistent : persistentRecursive);
    late.take();
    writer.setData('/w', '4');
    writer.setData('/w', '5');
    ensemble.settle();
    expect(events(late)).toEqual([CHANGED]);
  }
});

it('ZK-4471: removing the child watches of a path does not affect its persistent watch', () => {
  const { ensemble, watcher, writer } = watched();
  addWatch(watcher, '/w', MODE.persistent);
  watcher.read(OpCode.getChildren, '/w', true);
  watcher.take();
  removeWatches(watcher, '/w', WatcherType.children);
  expect(watcher.takeOne().error).toBe(0);
  writer.create('/w/1');
  writer.create('/w/2');
  ensemble.settle();
  expect(events(watcher)).toEqual([CHILDREN, CHILDREN]);
});

it('ZK-4472: a persistent watch can be removed alone, and the one-shot watches stay', () => {
  const { ensemble, watcher, writer } = watched();
  addWatch(watcher, '/w', MODE.persistent);
  watcher.getData('/w', true);
  watcher.read(OpCode.getChildren, '/w', true);
  watcher.take();
  removeWatches(watcher, '/w', WatcherType.persistent);
  expect(watcher.takeOne().error).toBe(0);
  for (let round = 0; round < 2; round++) {
    writer.setData('/w', String(round));
    writer.create(`/w/${round}`);
  }
  ensemble.settle();
  expect(events(watcher)).toEqual([CHANGED, CHILDREN]);
});

it('ZK-4475: a recursive watch never receives childrenChanged, whoever else watches the parent', () => {
  const { ensemble, watcher, writer } = watched();
  addWatch(watcher, '/w', MODE.recursive);
  const other = ensemble.connect();
  other.read(OpCode.getChildren, '/w', true);
  addWatch(other, '/w', MODE.persistent);
  for (const client of [watcher, other]) client.take();
  writer.create('/w/c');
  writer.delete('/w/c');
  ensemble.settle();
  expect(events(watcher)).toEqual([`${EventType.created} /w/c`, `${EventType.deleted} /w/c`]);
  expect(events(other)).toEqual([CHILDREN, CHILDREN]);
});

it('ZK-4655: an event carries the zxid of the change that it reports', () => {
  const { ensemble, watcher, writer } = watched();
  addWatch(watcher, '/w', MODE.persistent);
  watcher.take();
  for (let change = 0; change < 3; change++) {
    writer.setData('/w', String(change));
    ensemble.settle();
    const { xid, zxid, body } = watcher.takeOne();
    expect(xid).toBe(WATCH_XID);
    expect(WatcherEvent.read(new JuteReader(body)).path).toBe('/w');
    expect(zxid).toBe(ensemble.leader.state.lastZxid);
    expect(zxid).toBe(writer.takeOne().zxid);
  }
});
