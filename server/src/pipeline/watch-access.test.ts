// Goal: no event tells a client of a znode that it may not read (CVE-2024-23944). Method: watches
// are set while the client may read; then it loses the right, and the change comes.
import {
  type Acl,
  AddWatchMode,
  AddWatchRequest,
  AuthPacket,
  CreateRequest,
  encode,
  MultiRequest,
  OpCode,
  SetAclRequest,
  SetWatchesRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { fakeDigestOf, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const BOBS: readonly Acl[] = [{ perms: 31, scheme: 'digest', id: fakeDigestOf('bob:secret') }];
const UNREADABLE: readonly Acl[] = [{ perms: 30, scheme: 'world', id: 'anyone' }];

function newEnsemble(): { ensemble: TestEnsemble; watcher: TestClient; writer: TestClient } {
  const ensemble = new TestEnsemble();
  const writer = ensemble.connect();
  const watcher = ensemble.connect();
  writer.create('/p');
  writer.create('/p/c');
  ensemble.settle();
  return { ensemble, watcher, writer };
}
function setAcl(client: TestClient, path: string, acl: readonly Acl[]): void {
  client.send(OpCode.setAcl, SetAclRequest, { path, acl, version: -1 });
}
function create(client: TestClient, path: string, acl = OPEN_ACL as readonly Acl[]): void {
  client.send(OpCode.create, CreateRequest, { path, data: null, acl, flags: 0 });
}
function authenticate(client: TestClient): void {
  const packet = { type: 0, scheme: 'digest', auth: Buffer.from('bob:secret') };
  client.sendRaw(OpCode.auth, encode(AuthPacket, packet), -4);
}
function eventsOf(ensemble: TestEnsemble, client: TestClient): readonly string[] {
  ensemble.settle();
  return client.takeSummary().filter((line) => line.startsWith('event'));
}

describe('a watch event', () => {
  const changes: readonly (readonly [string, (writer: TestClient) => void, string])[] = [
    ['of data', (writer) => writer.setData('/p/c', 'x'), 'event 3 /p/c'],
    ['of a deletion', (writer) => writer.delete('/p/c'), 'event 2 /p/c'],
    ['of a child', (writer) => create(writer, '/p/c/d'), 'event 4 /p/c'],
  ];
  for (const [name, change, event] of changes) {
    const watch = (client: TestClient): number =>
      event.startsWith('event 4')
        ? client.read(OpCode.getChildren, '/p/c', true)
        : client.getData('/p/c', true);

    it(`${name} is told who may read the node`, () => {
      const { ensemble, watcher, writer } = newEnsemble();
      watch(watcher);
      change(writer);
      expect(eventsOf(ensemble, watcher)).toEqual([event]);
    });

    it(`${name} is not told who may no more read it, and the watch stays`, () => {
      const { ensemble, watcher, writer } = newEnsemble();
      watch(watcher);
      setAcl(writer, '/p/c', UNREADABLE);
      change(writer);
      expect(eventsOf(ensemble, watcher)).toEqual([]);
      expect(ensemble.leader.pipeline.watches.watchCount).toBe(1);
    });
  }

  it('is told who may read the node again, by the watch that has stayed', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    watcher.getData('/p/c', true);
    setAcl(writer, '/p/c', UNREADABLE);
    writer.setData('/p/c', 'x');
    writer.setData('/p/c', 'y');
    setAcl(writer, '/p/c', OPEN_ACL);
    writer.setData('/p/c', 'z');
    writer.setData('/p/c', 'z');
    expect(eventsOf(ensemble, watcher)).toEqual(['event 3 /p/c']);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
  });

  it('is counted if it is told', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    const { fanOut } = ensemble.leader.pipeline.watches;
    watcher.getData('/p/c', true);
    setAcl(writer, '/p/c', UNREADABLE);
    writer.setData('/p/c', 'x');
    ensemble.settle();
    expect(fanOut.dataChanged.count).toBe(0);
    setAcl(writer, '/p/c', OPEN_ACL);
    writer.setData('/p/c', 'y');
    ensemble.settle();
    expect(fanOut.dataChanged.count).toBe(1);
  });

  it('of a deletion goes by the ACL that the node had, of the children by the parent as it is', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    watcher.getData('/p/c', true);
    watcher.read(OpCode.getChildren, '/p', true);
    setAcl(writer, '/p/c', UNREADABLE);
    writer.delete('/p/c');
    expect(eventsOf(ensemble, watcher)).toEqual(['event 4 /p']);
  });

  it('of a creation is told by the ACL that the node is created with', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    watcher.exists('/secret', true);
    watcher.exists('/open', true);
    create(writer, '/secret', UNREADABLE);
    create(writer, '/open');
    expect(eventsOf(ensemble, watcher)).toEqual(['event 1 /open']);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(1);
  });

  it('is told to whom the connection has become by then', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    watcher.exists('/bobs', true);
    authenticate(watcher);
    create(writer, '/bobs', BOBS);
    expect(eventsOf(ensemble, watcher)).toEqual(['event 1 /bobs']);
  });

  it('within a multi goes by the ACL of that moment', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    watcher.exists('/m', true);
    watcher.read(OpCode.getChildren, '/', true);
    const request = { path: '/m', data: null, acl: UNREADABLE, flags: 0 };
    writer.send(OpCode.multi, MultiRequest, {
      ops: [
        { opcode: OpCode.create, request },
        { opcode: OpCode.delete, request: { path: '/m', version: -1 } },
        { opcode: OpCode.create, request: { ...request, acl: OPEN_ACL } },
      ],
    });
    expect(eventsOf(ensemble, watcher)).toEqual(['event 4 /', 'event 1 /m']);
    const { created } = ensemble.leader.pipeline.watches.fanOut;
    expect(created.count).toBe(1);
  });

  it('of the ephemerals of a session that ends is held back as any other', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    writer.create('/open', { flags: 1 });
    const secret = { path: '/secret', data: null, acl: OPEN_ACL, flags: 1 };
    writer.send(OpCode.create, CreateRequest, secret);
    ensemble.settle();
    watcher.exists('/open', true);
    watcher.exists('/secret', true);
    setAcl(writer, '/secret', UNREADABLE);
    writer.sendRaw(OpCode.closeSession, new Uint8Array());
    expect(eventsOf(ensemble, watcher)).toEqual(['event 2 /open']);
  });

  it('is told to everybody where the checks are off', () => {
    const ensemble = new TestEnsemble({ pipeline: { skipAcl: true } });
    const client = ensemble.connect();
    client.exists('/secret', true);
    create(client, '/secret', UNREADABLE);
    expect(eventsOf(ensemble, client)).toEqual(['event 1 /secret']);
  });
});

describe('a recursive watch', () => {
  it('leaks no path that its client may not read, and stays', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    const mode = AddWatchMode.persistentRecursive;
    watcher.send(OpCode.addWatch, AddWatchRequest, { path: '/p', mode });
    create(writer, '/p/secret', BOBS);
    create(writer, '/p/open');
    setAcl(writer, '/p/c', UNREADABLE);
    writer.setData('/p/c', 'x');
    writer.delete('/p/c');
    writer.delete('/p/secret');
    writer.setData('/p', 'x');
    expect(eventsOf(ensemble, watcher)).toEqual(['event 1 /p/open', 'event 3 /p']);
  });

  it('of a client that authenticates meanwhile tells it more from then on', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    const mode = AddWatchMode.persistentRecursive;
    watcher.send(OpCode.addWatch, AddWatchRequest, { path: '/p', mode });
    create(writer, '/p/one', BOBS);
    ensemble.settle();
    authenticate(watcher);
    create(writer, '/p/two', BOBS);
    writer.delete('/p/one');
    expect(eventsOf(ensemble, watcher)).toEqual(['event 1 /p/two', 'event 2 /p/one']);
  });
});

describe('what setWatches tells of missed changes', () => {
  it('is nothing of znodes that the client may not read, whose watches are set again', () => {
    const { ensemble, watcher, writer } = newEnsemble();
    const relativeZxid = ensemble.leader.state.lastZxid;
    for (const path of ['/data', '/exist', '/child', '/open']) {
      create(writer, path);
      create(writer, `${path}/x`);
      writer.setData(path, 'x');
      if (path !== '/open') setAcl(writer, path, UNREADABLE);
    }
    ensemble.settle();
    watcher.send(OpCode.setWatches, SetWatchesRequest, {
      relativeZxid,
      dataWatches: ['/data', '/open', '/gone'],
      existWatches: ['/exist', '/open'],
      childWatches: ['/child', '/open'],
    });
    expect(eventsOf(ensemble, watcher)).toEqual([
      'event 3 /open',
      'event 2 /gone',
      'event 1 /open',
      'event 4 /open',
    ]);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(3);
  });
});
