/**
 * What the registry promises beyond who is called when, which watch-registry-properties.test.ts
 * has: events as the user sees them, watchers that throw and that call back, what the server is
 * told to drop and when it is not.
 */
import { EventType, KeeperState, WatcherType } from '@rookery/protocol';
import { describe, expect, test } from 'vitest';
import type { WatchEvent, Watcher } from '../api/values.js';
import { WatchRegistry } from './watch-registry.js';

function event(type: EventType, path: string) {
  return { type, state: KeeperState.syncConnected, path };
}

/** A watcher that keeps what it is told. */
function keeper() {
  const events: WatchEvent[] = [];
  const watcher: Watcher = (told) => events.push(told);
  return { events, watcher };
}

describe('events', () => {
  test('tell the zxid of the change, null for none, 0 and -1', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.addPersistent('/a', false, watcher);
    for (const zxid of [0x1_0000_0002n, null, 0n, -1n]) {
      registry.onEvent(event(EventType.dataChanged, '/a'), zxid);
    }
    expect(events).toEqual(
      [0x1_0000_0002n, null, null, null].map((zxid) => ({ type: 'dataChanged', path: '/a', zxid })),
    );
  });

  test('of the empty path are of the root', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.add('child', '/', watcher);
    registry.onEvent(event(EventType.childrenChanged, ''), 1n);
    expect(events).toEqual([{ type: 'childrenChanged', path: '/', zxid: 1n }]);
  });

  test('of a type that is no change of a znode call nobody and take nobody off', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.add('data', '/a', watcher);
    registry.addPersistent('/a', true, watcher);
    const types = [EventType.none, EventType.dataWatchRemoved, EventType.persistentWatchRemoved];
    for (const type of types) registry.onEvent(event(type, '/a'), 1n);
    registry.onEvent({ type: 99, state: 3, path: '/a' }, 1n);
    expect(events).toEqual([]);
    expect(registry.size).toBe(2);
  });

  test('of a child reach a recursive watch of any ancestor but not one that shares letters', () => {
    const registry = new WatchRegistry();
    const [root, far, near, own, other] = [keeper(), keeper(), keeper(), keeper(), keeper()];
    registry.addPersistent('/', true, root.watcher);
    registry.addPersistent('/a', true, far.watcher);
    registry.addPersistent('/a/b', true, near.watcher);
    registry.addPersistent('/a/b/c', true, own.watcher);
    registry.addPersistent('/a/b/cc', true, other.watcher);
    registry.addPersistent('/a/bb', true, other.watcher);
    registry.onEvent(event(EventType.created, '/a/b/c'), 3n);
    for (const { events } of [root, far, near, own]) {
      expect(events).toEqual([{ type: 'created', path: '/a/b/c', zxid: 3n }]);
    }
    expect(other.events).toEqual([]);
  });

  test('of a path with a million ancestors, as no honest server sends, take no time to match', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.addPersistent('/a/b', true, watcher);
    registry.addPersistent('/', true, watcher);
    const path = `/a/b${'/c'.repeat(1_000_000)}`;
    registry.onEvent(event(EventType.created, path), 3n);
    expect(events.map((told) => told.path === path)).toEqual([true, true]);
  });

  test('childrenChanged reaches a persistent watch of the path and no recursive one', () => {
    const registry = new WatchRegistry();
    const [persistent, recursive, above] = [keeper(), keeper(), keeper()];
    registry.addPersistent('/a/b', false, persistent.watcher);
    registry.addPersistent('/a/b', true, recursive.watcher);
    registry.addPersistent('/a', true, above.watcher);
    registry.onEvent(event(EventType.childrenChanged, '/a/b'), 3n);
    expect(persistent.events).toHaveLength(1);
    expect([...recursive.events, ...above.events]).toEqual([]);
  });

  test('one change calls each of all modes on a path once', () => {
    const registry = new WatchRegistry();
    const once = keeper();
    const persistent = keeper();
    const recursive = keeper();
    registry.add('data', '/a', once.watcher);
    registry.add('child', '/a', once.watcher);
    registry.addPersistent('/a', false, persistent.watcher);
    registry.addPersistent('/a', true, recursive.watcher);
    registry.onEvent(event(EventType.deleted, '/a'), 3n);
    for (const { events } of [once, persistent, recursive]) expect(events).toHaveLength(1);
    expect(registry.size).toBe(2);
  });

  test('an end and a resync name the watched path', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.add('data', '/a', watcher);
    registry.addPersistent('/b', true, watcher);
    registry.onResumed();
    registry.onSessionLost();
    registry.onNewSession();
    registry.onClosed();
    expect(events).toEqual([
      { type: 'resync', path: '/b', reason: 'reconnected' },
      { type: 'lost', path: '/a' },
      { type: 'resync', path: '/b', reason: 'new-session' },
      { type: 'closed', path: '/b' },
    ]);
  });

  test('a session that none follows ends persistent watches too', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.addPersistent('/b', true, watcher);
    registry.onSessionLost(false);
    registry.onClosed();
    expect(events).toEqual([{ type: 'lost', path: '/b' }]);
  });
});

describe('watchers', () => {
  test('that throw are reported, and the others are told', () => {
    const reported: unknown[] = [];
    const registry = new WatchRegistry((error) => reported.push(error));
    const { events, watcher } = keeper();
    const fault = new Error('of a watcher');
    const throws: Watcher = () => {
      throw fault;
    };
    registry.add('data', '/a', throws);
    registry.add('data', '/a', watcher);
    registry.addPersistent('/a', false, throws);
    registry.addPersistent('/a', false, watcher);
    registry.onEvent(event(EventType.dataChanged, '/a'), 1n);
    expect(reported).toEqual([fault, fault]);
    expect(events).toHaveLength(2);
    expect(registry.size).toBe(2);
  });

  test('that remove another one for the same event: it is not called', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.add('data', '/a', () => {
      registry.remove('/a', watcher);
      registry.removePersistent(handle);
    });
    registry.add('data', '/a', watcher);
    const handle = registry.addPersistent('/a', false, watcher);
    registry.onEvent(event(EventType.dataChanged, '/a'), 1n);
    expect(events).toEqual([]);
    expect(registry.size).toBe(0);
  });

  test('that close the client: the rest of their event is told, persistent ones only the end', () => {
    const registry = new WatchRegistry();
    const [once, elsewhere, persistent] = [keeper(), keeper(), keeper()];
    registry.add('data', '/a', () => registry.onClosed());
    registry.add('data', '/a', once.watcher);
    registry.add('data', '/b', elsewhere.watcher);
    registry.addPersistent('/a', false, persistent.watcher);
    registry.onEvent(event(EventType.dataChanged, '/a'), 1n);
    expect(once.events.map(({ type }) => type)).toEqual(['dataChanged']);
    expect(elsewhere.events.map(({ type }) => type)).toEqual(['closed']);
    expect(persistent.events.map(({ type }) => type)).toEqual(['closed']);
  });

  test('that are added while their path is told wait for the next change', () => {
    const registry = new WatchRegistry();
    const { events, watcher } = keeper();
    registry.add('data', '/a', () => registry.add('data', '/a', watcher));
    registry.addPersistent('/a', false, () => registry.addPersistent('/a', false, watcher));
    registry.onEvent(event(EventType.dataChanged, '/a'), 1n);
    expect(events).toEqual([]);
    registry.onEvent(event(EventType.dataChanged, '/a'), 2n);
    expect(events).toHaveLength(2);
  });
});

describe('what the server is told to drop', () => {
  test('is the type of which the last watcher of the path has gone', () => {
    const registry = new WatchRegistry();
    const [one, other] = [keeper().watcher, keeper().watcher];
    registry.add('data', '/a', one);
    registry.add('exist', '/a', other);
    registry.add('child', '/a', one);
    expect(registry.remove('/a', one)).toEqual([{ path: '/a', type: WatcherType.children }]);
    expect(registry.remove('/a', other)).toEqual([{ path: '/a', type: WatcherType.data }]);
    expect(registry.remove('/a', other)).toEqual([]);
  });

  test('is nothing while a read under way may have set it again', () => {
    const registry = new WatchRegistry();
    const { watcher } = keeper();
    registry.add('data', '/a', watcher);
    registry.begin('read', '/a');
    expect(registry.pendingCount).toBe(1);
    expect(registry.remove('/a', watcher)).toEqual([]);
    registry.end('read', '/a');
    expect(registry.pendingCount).toBe(0);
    registry.add('data', '/a', watcher);
    expect(registry.remove('/a', watcher)).toHaveLength(1);
  });

  test('is no one-shot watch where a persistent one stands: old servers would drop both', () => {
    const registry = new WatchRegistry();
    const { watcher } = keeper();
    const handle = registry.addPersistent('/a', true, watcher);
    registry.add('data', '/a', watcher);
    expect(registry.remove('/a', watcher)).toEqual([]);
    expect(registry.removePersistent(handle)).toEqual([{ path: '/a', type: WatcherType.any }]);
    registry.begin('persistent', '/a');
    registry.add('data', '/a', watcher);
    expect(registry.remove('/a', watcher)).toEqual([]);
  });

  test('is a mode of a path when its last handle is removed, once', () => {
    const registry = new WatchRegistry();
    const { watcher } = keeper();
    const handles = [1, 2].map(() => registry.addPersistent('/a', false, watcher));
    const recursive = registry.addPersistent('/a', true, watcher);
    const [first, second] = handles;
    if (first === undefined || second === undefined) throw new Error('two were added');
    expect(registry.removePersistent(first)).toEqual([]);
    expect(registry.removePersistent(first)).toEqual([]);
    const type = WatcherType.persistent;
    expect(registry.removePersistent(second)).toEqual([{ path: '/a', type }]);
    expect(registry.removePersistent(recursive)).toEqual([{ path: '/a', type: WatcherType.any }]);
  });

  test('is no mode of a path that an addWatch under way asks for', () => {
    const registry = new WatchRegistry();
    const handle = registry.addPersistent('/a', true, keeper().watcher);
    registry.begin('recursive', '/a');
    expect(registry.removePersistent(handle)).toEqual([]);
    registry.end('recursive', '/a');
    const dropped = registry.unusedPersistent('/a', true);
    expect(dropped).toEqual([{ path: '/a', type: WatcherType.any }]);
  });

  test('is told by type where reads wait at the path of a persistent watch', () => {
    const registry = new WatchRegistry();
    const { watcher } = keeper();
    const handle = registry.addPersistent('/a', true, watcher);
    registry.add('child', '/a', watcher);
    const type = WatcherType.persistentRecursive;
    expect(registry.removePersistent(handle)).toEqual([{ path: '/a', type }]);
  });
});

test('a request that ends and never began is refused: its count would hide another', () => {
  expect(() => new WatchRegistry().end('read', '/a')).toThrow(/more often than begun/);
});

test('by default what a watcher throws reaches the process, after the event is told', async () => {
  const registry = new WatchRegistry();
  const { events, watcher } = keeper();
  const fault = new Error('of a watcher');
  registry.add('data', '/a', () => {
    throw fault;
  });
  registry.addPersistent('/a', false, watcher);
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  registry.onEvent(event(EventType.dataChanged, '/a'), 1n);
  expect(events).toHaveLength(1);
  expect(await uncaught).toBe(fault);
  for (const listener of before) process.on('uncaughtException', listener);
});
