// Tests the cost of a write far below the root, counted in characters that are read of paths and in
// fields of rows: both are at most a small multiple of the path's length and depth. Also tests that
// recursive watchers are notified of everything, whichever was there first.

import { AddWatchMode, AddWatchRequest, OpCode } from '@rookery/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const DEPTH = 2000;
const pathOf = (depth: number): string => '/n'.repeat(depth);

function deepTree(): TestEnsemble {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  for (let depth = 1; depth <= DEPTH; depth++) {
    client.create(pathOf(depth));
    if (depth % 100 === 0) ensemble.settle();
  }
  ensemble.settle();
  client.take();
  return ensemble;
}

describe('a write far below the root', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('reads its path a few times, not once for each of its ancestors', () => {
    const ensemble = deepTree();
    const watcher = ensemble.connect();
    for (let depth = 1; depth <= DEPTH; depth += 200) {
      watcher.send(OpCode.addWatch, AddWatchRequest, {
        path: pathOf(depth),
        mode: AddWatchMode.persistentRecursive,
      });
    }
    for (const name of ['', '/zookeeper_limits', '/zookeeper_stats']) {
      watcher.create(`/zookeeper/quota/n${name}`, { data: 'count=-1,bytes=-1' });
    }
    const writer = ensemble.connect();
    ensemble.settle();
    const gets = vi.spyOn(Map.prototype, 'get');
    const has = vi.spyOn(Set.prototype, 'has');
    writer.setData(pathOf(DEPTH), 'x');
    writer.create(`${pathOf(DEPTH - 1)}/other`);
    ensemble.settle();
    const looked = [...gets.mock.calls, ...has.mock.calls];
    const read = looked.reduce((sum, [key]) => sum + (typeof key === 'string' ? key.length : 0), 0);
    // At commit b785b9c it was 24 million: each ancestor's path was read by itself.
    expect(read).toBeLessThan(100 * pathOf(DEPTH).length);
    vi.restoreAllMocks();
    expect(writer.take().map(({ error }) => error)).toEqual([0, 0]);
    const events = watcher.take().filter(({ xid }) => xid === -1);
    expect(events).toHaveLength(2);
  });
});

describe('a recursive watch', () => {
  const watchAt = (path: string) => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    const mode = AddWatchMode.persistentRecursive;
    client.send(OpCode.addWatch, AddWatchRequest, { path, mode });
    const writer = ensemble.connect();
    ensemble.settle();
    client.take();
    const told = (write: () => void): readonly string[] => {
      write();
      ensemble.settle();
      return client.takeSummary().filter((line) => line.startsWith('event'));
    };
    return { ensemble, writer, told };
  };

  it('that was there before its znode hears of all below it, and again when it comes back', () => {
    const { writer, told } = watchAt('/a/b');
    expect(told(() => writer.create('/a'))).toEqual([]);
    expect(told(() => writer.create('/a/b'))).toEqual(['event 1 /a/b']);
    expect(told(() => writer.create('/a/b/c'))).toEqual(['event 1 /a/b/c']);
    expect(told(() => writer.delete('/a/b/c'))).toEqual(['event 2 /a/b/c']);
    expect(told(() => writer.delete('/a/b'))).toEqual(['event 2 /a/b']);
    // It takes the row of what was deleted.
    expect(told(() => writer.create('/other'))).toEqual([]);
    expect(told(() => writer.create('/other/x'))).toEqual([]);
    expect(told(() => writer.create('/a/b'))).toEqual(['event 1 /a/b']);
    expect(told(() => writer.create('/a/b/d'))).toEqual(['event 1 /a/b/d']);
    expect(told(() => writer.setData('/a/b/d', 'x'))).toEqual(['event 3 /a/b/d']);
  });

  it('at the root hears of everything', () => {
    const { writer, told } = watchAt('/');
    expect(told(() => writer.create('/a'))).toEqual(['event 1 /a']);
    expect(told(() => writer.setData('/', 'x'))).toEqual(['event 3 /']);
  });
});
