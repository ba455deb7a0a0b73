/**
 * Handles and removals over a session that the test plays: replies come when it says, and what
 * would go to the server is listed.
 */
import {
  AddWatchMode,
  ConnectionLossError,
  EventType,
  KeeperState,
  NoWatcherError,
  WatcherType,
} from '@rookery/protocol';
import { expect, test } from 'vitest';
import type { WatchEvent } from '../api/values.js';
import { type WatchChannel, WatchOperations } from './watch-operations.js';
import { WatchRegistry } from './watch-registry.js';

interface Sent {
  readonly request: string;
  succeed(): void;
  fail(error: Error): void;
}

class PlayedSession implements WatchChannel {
  connected = true;
  lastZxidSeen = 1n;
  readonly sent: Sent[] = [];

  addWatch(request: { path: string; mode: number }, _options: object, onDone: () => void) {
    return this.#send(`addWatch ${request.path} ${request.mode}`, onDone);
  }

  removeWatches(request: { path: string; type: number }, _options: object, onDone: () => void) {
    return this.#send(`removeWatches ${request.path} ${request.type}`, onDone);
  }

  checkWatches(request: { path: string; type: number }) {
    return this.#send(`checkWatches ${request.path} ${request.type}`, () => undefined);
  }

  /** The last one sent. */
  get last(): Sent {
    const last = this.sent.at(-1);
    if (last === undefined) throw new Error('nothing was sent');
    return last;
  }

  requests(): string[] {
    return this.sent.map(({ request }) => request);
  }

  #send(request: string, onDone: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const succeed = () => {
        onDone();
        resolve();
      };
      this.sent.push({ request, succeed, fail: reject });
    });
  }
}

function setUp() {
  const registry = new WatchRegistry();
  const session = new PlayedSession();
  const events: WatchEvent[] = [];
  const change = (path: string) =>
    registry.onEvent(
      { type: EventType.dataChanged, state: KeeperState.syncConnected, path },
      BigInt(events.length + 1),
    );
  const watcher = (event: WatchEvent) => events.push(event);
  return {
    registry,
    session,
    operations: new WatchOperations(registry, session),
    events,
    watcher,
    change,
  };
}

test('a watch stands from the frame of its reply, before its promise has settled', async () => {
  const { registry, session, operations, events, watcher, change } = setUp();
  const added = operations.addWatch('/a', watcher, { recursive: true });
  expect(session.requests()).toEqual([`addWatch /a ${AddWatchMode.persistentRecursive}`]);
  change('/a/b');
  expect(events).toEqual([]);
  session.last.succeed();
  change('/a/b');
  expect(events).toHaveLength(1);
  expect(await added).toMatchObject({ path: '/a', mode: AddWatchMode.persistentRecursive });
  expect(registry.pendingCount).toBe(0);
});

test('the last of several handles on a path drops the watch of the server, and only that', async () => {
  const { registry, session, operations, events, watcher, change } = setUp();
  const adding = [1, 2].map(() => operations.addWatch('/a', watcher));
  for (const sent of session.sent) sent.succeed();
  const [first, second] = await Promise.all(adding);
  change('/a');
  expect(events).toHaveLength(2);
  await first?.remove();
  change('/a');
  expect(events).toHaveLength(3);
  expect(session.sent).toHaveLength(2);
  const removed = second?.remove();
  expect(session.last.request).toBe(`removeWatches /a ${WatcherType.any}`);
  change('/a');
  expect(events).toHaveLength(3);
  session.last.succeed();
  await removed;
  await second?.remove();
  expect(session.sent).toHaveLength(3);
  expect(registry.size).toBe(0);
});

test('removing a handle never fails, whatever the server says', async () => {
  const { session, operations, watcher } = setUp();
  const adding = operations.addWatch('/a', watcher);
  session.last.succeed();
  const handle = await adding;
  const removed = handle.remove();
  session.last.fail(new NoWatcherError('/a'));
  await expect(removed).resolves.toBeUndefined();
});

test('without a connection no server has the watch: none is told', async () => {
  const { registry, session, operations, watcher } = setUp();
  const adding = operations.addWatch('/a', watcher);
  session.last.succeed();
  const handle = await adding;
  session.connected = false;
  await handle.remove();
  expect(session.sent).toHaveLength(1);
  expect(registry.rearm(1n, 100)).toEqual([]);
});

test('an addWatch that was given up after it was sent is dropped on the server', async () => {
  const { registry, session, operations, watcher } = setUp();
  const adding = operations.addWatch('/a', watcher);
  const refused = expect(adding).rejects.toThrow('given up');
  session.last.fail(new Error('given up'));
  await refused;
  expect(session.requests().slice(1)).toEqual([`removeWatches /a ${WatcherType.any}`]);
  expect([registry.size, registry.pendingCount]).toEqual([0, 0]);
});

test('one that was given up leaves alone what another handle needs', async () => {
  const { registry, session, operations, watcher } = setUp();
  const standing = operations.addWatch('/a', watcher);
  session.last.succeed();
  await standing;
  const adding = operations.addWatch('/a', watcher);
  const refused = expect(adding).rejects.toThrow('given up');
  session.last.fail(new Error('given up'));
  await refused;
  expect(session.sent).toHaveLength(2);
  expect(registry.size).toBe(1);
});

test('a handle removed while another addWatch is under way drops nothing; that one drops it', async () => {
  const { session, operations, watcher } = setUp();
  const standing = operations.addWatch('/a', watcher);
  session.last.succeed();
  const handle = await standing;
  const adding = operations.addWatch('/a', watcher);
  await handle.remove();
  expect(session.sent).toHaveLength(2);
  const refused = expect(adding).rejects.toThrow('given up');
  session.last.fail(new Error('given up'));
  await refused;
  expect(session.requests().slice(2)).toEqual([`removeWatches /a ${WatcherType.any}`]);
});

test('a lost connection fails addWatch and sends nothing more', async () => {
  const { registry, session, operations, watcher } = setUp();
  const adding = operations.addWatch('/a', watcher);
  session.connected = false;
  const refused = expect(adding).rejects.toBeInstanceOf(ConnectionLossError);
  session.last.fail(new ConnectionLossError('/a'));
  await refused;
  expect(session.sent).toHaveLength(1);
  expect(registry.pendingCount).toBe(0);
});

test('a watcher of a read is taken back here at once and on the server if it was the last', () => {
  const { registry, session, operations, events, watcher, change } = setUp();
  const other = () => undefined;
  registry.add('data', '/a', watcher);
  registry.add('data', '/a', other);
  operations.removeWatcher('/a', watcher);
  change('/a');
  expect([events.length, session.sent.length, registry.size]).toEqual([0, 0, 0]);
  registry.add('child', '/a', watcher);
  operations.removeWatcher('/a', watcher);
  expect(session.requests()).toEqual([`removeWatches /a ${WatcherType.children}`]);
});

test('removeWatches ends the watches that stood when its reply came, and tells them', async () => {
  const { registry, session, operations, events, watcher } = setUp();
  registry.add('data', '/a', watcher);
  const removing = operations.removeWatches('/a', WatcherType.data);
  const [removal] = session.sent;
  expect(events).toEqual([]);
  removal?.succeed();
  await removing;
  expect(events).toEqual([{ type: 'removed', path: '/a' }]);
  const refused = operations.removeWatches('/a', WatcherType.data);
  session.last.fail(new NoWatcherError('/a'));
  await expect(refused).rejects.toBeInstanceOf(NoWatcherError);
});

test('a watched read on the path of a persistent watch asks for that again, by its mode', async () => {
  const { registry, session, operations, watcher } = setUp();
  operations.keepPersistent('/a', 'data');
  expect(session.sent).toHaveLength(0);
  const adding = operations.addWatch('/a', watcher, { recursive: true });
  operations.keepPersistent('/a', 'child');
  expect(session.sent).toHaveLength(1);
  operations.keepPersistent('/a', 'data');
  const [first, again] = session.sent;
  expect([first?.request, again?.request]).toEqual(['addWatch /a 1', 'addWatch /a 1']);
  first?.succeed();
  const handle = await adding;
  const removed = handle.remove();
  // Not yet: what is asked for again would stand after it.
  expect(session.sent).toHaveLength(2);
  await removed;
  again?.succeed();
  await new Promise((resolve) => setImmediate(resolve));
  expect(session.requests().slice(2)).toEqual([`removeWatches /a ${WatcherType.any}`]);
  expect([registry.size, registry.pendingCount]).toEqual([0, 0]);
});

test.each([true, false])(
  'a persistent watch on the path of a recursive one asks for that again, with changes meanwhile: %s',
  async (has) => {
    const { session, operations, events, watcher } = setUp();
    const recursive = operations.addWatch('/a', watcher, { recursive: true });
    session.last.succeed();
    await recursive;
    const other: WatchEvent[] = [];
    const adding = operations.addWatch('/a', (event) => other.push(event));
    expect(session.requests().slice(1)).toEqual(['addWatch /a 0', 'addWatch /a 1']);
    session.sent[1]?.succeed();
    if (has) session.lastZxidSeen += 1n;
    session.last.succeed();
    await adding;
    expect(events).toEqual(has ? [{ type: 'resync', path: '/a', reason: 're-added' }] : []);
    expect(other).toEqual([]);
  },
);

test.each([true, false])(
  'a read that displaced a recursive watch, with changes meanwhile: %s',
  async (has) => {
    const { session, operations, events, watcher } = setUp();
    const adding = operations.addWatch('/a', watcher, { recursive: true });
    session.last.succeed();
    await adding;
    operations.keepPersistent('/a', 'data', () => has);
    session.last.succeed();
    expect(events).toEqual(has ? [{ type: 'resync', path: '/a', reason: 're-added' }] : []);
  },
);
