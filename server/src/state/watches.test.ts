import { EventType } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PathTree } from '../simulated/state/path-tree.js';
import { watchedPaths, watchers } from './watch-listing.js';
import { watchBytesOf } from './watched-paths.js';
import { type WatchChange, WatchFanOut, type WatchMode, WatchTable } from './watches.js';

const LIMITS = { watcherBytesMax: 1 << 20, bytesMax: 1 << 20 };

function fire(table: WatchTable, kind: WatchChange['kind'], path: string): string[] {
  const events: string[] = [];
  const name = (type: number) => Object.entries(EventType).find(([, value]) => value === type)?.[0];
  table.trigger({ kind, path }, (watcher, type, p) => {
    events.push(`${watcher} ${name(type)} ${p}`);
    return true;
  });
  return events;
}

describe('a watch', () => {
  it('fires once', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('data', '/a', 1);
    table.add('data', '/a', 1);
    expect(table.watchCount).toBe(1);
    expect(fire(table, 'dataChanged', '/a')).toEqual(['1 dataChanged /a']);
    expect(fire(table, 'dataChanged', '/a')).toEqual([]);
    expect(table.watchCount).toBe(0);
  });

  it('for children does not fire when data changes or a child is changed', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('child', '/a', 1);
    expect(fire(table, 'dataChanged', '/a')).toEqual([]);
    expect(fire(table, 'dataChanged', '/a/b')).toEqual([]);
    expect(fire(table, 'created', '/a/b/c')).toEqual([]);
    expect(table.has('child', '/a', 1)).toBe(true);
  });
});

describe('trigger', () => {
  it('tells of a create at the node, then at its parent', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('child', '/', 3);
    table.add('data', '/a', 2);
    table.add('data', '/a', 1);
    table.add('child', '/a', 9);
    expect(fire(table, 'created', '/a')).toEqual([
      '2 created /a',
      '1 created /a',
      '3 childrenChanged /',
    ]);
    expect(table.has('child', '/a', 9)).toBe(true);
  });

  it('tells a watcher once of a delete that both of its watches saw', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('child', '/p/a', 1);
    table.add('child', '/p/a', 2);
    table.add('data', '/p/a', 1);
    table.add('data', '/p/a', 3);
    table.add('child', '/p', 1);
    expect(fire(table, 'deleted', '/p/a')).toEqual([
      '1 deleted /p/a',
      '3 deleted /p/a',
      '2 deleted /p/a',
      '1 childrenChanged /p',
    ]);
    expect(table.watchCount).toBe(0);
    expect(table.pathCount).toBe(0);
    expect(table.watcherCount).toBe(0);
  });
});

describe('the watch table', () => {
  it('counts watches, paths and watchers per table', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('data', '/a', 1);
    table.add('data', '/a', 2);
    table.add('data', '/b', 1);
    table.add('child', '/a', 3);
    expect(table.counts('data')).toEqual({ watches: 3, paths: 2, watchers: 2 });
    expect(table.counts('child')).toEqual({ watches: 1, paths: 1, watchers: 1 });
    expect([table.watchCount, table.pathCount, table.watcherCount]).toEqual([4, 3, 3]);
    expect(table.remove('data', '/a', 2)).toBe(true);
    expect(table.remove('data', '/a', 2)).toBe(false);
    expect(table.counts('data')).toEqual({ watches: 2, paths: 2, watchers: 1 });
  });

  it('lists what hears of data by path and by watcher, each pair once', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('data', '/a', 1);
    table.add('persistent', '/a', 2);
    table.add('persistent', '/a', 1);
    table.add('recursive', '/b', 3);
    table.add('recursive', '/b', 1);
    table.add('child', '/c', 4);
    expect(pathsListed(table)).toEqual([
      ['/a', [1, 2]],
      ['/b', [3, 1]],
    ]);
    expect(watchersListed(table)).toEqual([
      [1, ['/a', '/b']],
      [2, ['/a']],
      [3, ['/b']],
    ]);
    expect(table.dataCounts).toEqual({ watches: 4, paths: 2, watchers: 3 });
  });

  it('ends a listing that goes on while ever more is watched', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('data', '/0', 1);
    table.add('data', '/1', 1);
    let added = 1;
    const seen: string[] = [];
    for (const one of watchedPaths(table)) {
      seen.push(one?.path ?? '');
      added += 1;
      table.add('data', `/${added}`, 1);
    }
    expect(seen).toEqual(['/0', '/1']);
    const [first] = watchers(table);
    const paths: string[] = [];
    for (const watched of first?.paths ?? []) {
      if (watched === null) continue;
      paths.push(watched);
      table.remove('data', watched, 1);
      table.add('data', watched, 1);
    }
    expect(paths.length).toBe(added + 1);
  });
});

describe('a persistent watch', () => {
  it('hears of the node, of its children and of its deletion, and stays', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('persistent', '/a', 1);
    expect(fire(table, 'created', '/a')).toEqual(['1 created /a']);
    expect(fire(table, 'dataChanged', '/a')).toEqual(['1 dataChanged /a']);
    expect(fire(table, 'created', '/a/b')).toEqual(['1 childrenChanged /a']);
    expect(fire(table, 'dataChanged', '/a/b')).toEqual([]);
    expect(fire(table, 'created', '/a/b/c')).toEqual([]);
    expect(fire(table, 'deleted', '/a/b')).toEqual(['1 childrenChanged /a']);
    expect(fire(table, 'deleted', '/a')).toEqual(['1 deleted /a']);
    expect(fire(table, 'created', '/a')).toEqual(['1 created /a']);
  });
});

describe('a recursive watch', () => {
  it('hears of every change at its node and below, and never of children', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('recursive', '/a', 1);
    expect(fire(table, 'created', '/a')).toEqual(['1 created /a']);
    expect(fire(table, 'created', '/a/b/c')).toEqual(['1 created /a/b/c']);
    expect(fire(table, 'dataChanged', '/a/b')).toEqual(['1 dataChanged /a/b']);
    expect(fire(table, 'deleted', '/a/b/c')).toEqual(['1 deleted /a/b/c']);
    expect(fire(table, 'created', '/ab')).toEqual([]);
  });

  it('of the root hears of everything', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    table.add('recursive', '/', 1);
    expect(fire(table, 'created', '/a')).toEqual(['1 created /a']);
    expect(fire(table, 'dataChanged', '/')).toEqual(['1 dataChanged /']);
  });
});

describe('watches of several modes on one path', () => {
  it('give a watcher one event per change, and only the one-shot ones are used up', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    for (const mode of ['data', 'child', 'persistent', 'recursive'] as const) {
      table.add(mode, '/a', 1);
    }
    expect(fire(table, 'dataChanged', '/a')).toEqual(['1 dataChanged /a']);
    expect(table.has('data', '/a', 1)).toBe(false);
    expect(fire(table, 'created', '/a/b')).toEqual(['1 created /a/b', '1 childrenChanged /a']);
    expect(table.has('child', '/a', 1)).toBe(false);
    expect(fire(table, 'deleted', '/a')).toEqual(['1 deleted /a']);
    expect(table.watchCount).toBe(2);
    table.removeWatcher(1);
    expect(table.watchCount).toBe(0);
  });
});

describe('the bounds of watches', () => {
  const cost = watchBytesOf('/a');

  it('of one watcher refuse the first watch that does not fit, in whatever mode', () => {
    const table = new WatchTable(
      { watcherBytesMax: 3 * cost, bytesMax: 100 * cost },
      new PathTree(),
    );
    expect(table.add('data', '/a', 1)).toBe(true);
    expect(table.add('child', '/a', 1)).toBe(true);
    expect(table.add('persistent', '/b', 1)).toBe(true);
    expect(table.add('recursive', '/c', 1)).toBe(false);
    expect(table.has('recursive', '/c', 1)).toBe(false);
    expect(table.add('child', '/a', 1)).toBe(true);
    expect(table.add('data', '/a', 2)).toBe(true);
    expect(table.watchCount).toBe(4);
  });

  it('of all watchers refuse what one of them alone might have', () => {
    const table = new WatchTable({ watcherBytesMax: 2 * cost, bytesMax: 3 * cost }, new PathTree());
    expect([1, 1, 2, 2].map((who, at) => table.add('data', `/${at}`, who))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('give room back for every watch that fires, is removed or goes with its watcher', () => {
    const table = new WatchTable({ watcherBytesMax: 2 * cost, bytesMax: 2 * cost }, new PathTree());
    const isFull = () => !table.add('data', '/x', 1);
    const fill = () => table.add('data', '/a', 1) && table.add('child', '/a', 1);
    expect(fill()).toBe(true);
    expect(isFull()).toBe(true);
    fire(table, 'deleted', '/a');
    expect(fill()).toBe(true);
    expect(isFull()).toBe(true);
    expect(table.remove('data', '/a', 1) && table.remove('child', '/a', 1)).toBe(true);
    expect(fill()).toBe(true);
    table.removeWatcher(1);
    expect(fill()).toBe(true);
    expect(isFull()).toBe(true);
  });

  it('count what a path weighs', () => {
    const table = new WatchTable({ watcherBytesMax: 1 << 20, bytesMax: 1 << 20 }, new PathTree());
    expect(table.add('data', `/${'x'.repeat(1 << 19)}`, 1)).toBe(false);
    expect(table.add('data', `/${'x'.repeat((1 << 19) - 65)}`, 1)).toBe(true);
  });
});

/** A set of `mode path watcher`, and the rules of the protocol written down one by one. */
class WatchModel {
  readonly watches = new Set<string>();

  fire(kind: WatchChange['kind'], path: string): ReadonlySet<string> {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    const ancestors = ['/', path];
    for (let at = parent; at !== '/'; at = at.slice(0, at.lastIndexOf('/')) || '/') {
      ancestors.push(at);
    }
    const events = new Set<string>();
    const tell = (mode: WatchMode, watched: string, event: string): void => {
      for (const watch of [...this.watches]) {
        const [itsMode, itsPath, watcher] = watch.split(' ');
        if (itsMode !== mode || itsPath !== watched) continue;
        events.add(`${watcher} ${event}`);
        if (mode === 'data' || mode === 'child') this.watches.delete(watch);
      }
    };
    tell('data', path, `${kind} ${path}`);
    tell('persistent', path, `${kind} ${path}`);
    for (const ancestor of new Set(ancestors)) tell('recursive', ancestor, `${kind} ${path}`);
    if (kind === 'deleted') tell('child', path, `${kind} ${path}`);
    if (kind !== 'dataChanged') {
      tell('child', parent, `childrenChanged ${parent}`);
      tell('persistent', parent, `childrenChanged ${parent}`);
    }
    return events;
  }
}

const MODES = ['data', 'child', 'persistent', 'recursive'] as const;
const mode = fc.constantFrom<WatchMode>(...MODES);
const path = fc.constantFrom('/', '/a', '/a/b', '/a/b/c', '/a/c', '/d');
/** At the beginning none of them exists. */
const CHANGED = ['/a', '/a/b', '/a/b/c', '/a/c', '/d'] as const;
const watcher = fc.integer({ min: 1, max: 4 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), mode, path, watcher }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), mode, path, watcher }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('gone' as const), watcher }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('trigger' as const),
      change: fc.constantFrom<WatchChange['kind']>('created', 'deleted', 'dataChanged'),
      path: fc.constantFrom(...CHANGED),
    }),
  },
);

function isPossible(
  existing: ReadonlySet<string>,
  change: WatchChange['kind'],
  changed: string,
): boolean {
  if (change === 'dataChanged') return existing.has(changed);
  const parent = changed.slice(0, changed.lastIndexOf('/')) || '/';
  if (change === 'created') return !existing.has(changed) && existing.has(parent);
  return existing.has(changed) && ![...existing].some((one) => one.startsWith(`${changed}/`));
}

describe('the watch table, against a naive model', () => {
  it('holds and tells the same, after any adds, removals and triggers in any modes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const tree = new PathTree();
        const table = new WatchTable(LIMITS, tree);
        const model = new WatchModel();
        const existing = new Set(['/']);
        for (const one of CHANGED) tree.delete(one);
        for (const next of steps) {
          if (next.do === 'add') {
            table.add(next.mode, next.path, next.watcher);
            model.watches.add(`${next.mode} ${next.path} ${next.watcher}`);
          } else if (next.do === 'remove') {
            const had = model.watches.delete(`${next.mode} ${next.path} ${next.watcher}`);
            expect(table.remove(next.mode, next.path, next.watcher)).toBe(had);
          } else if (next.do === 'gone') {
            table.removeWatcher(next.watcher);
            for (const watch of [...model.watches]) {
              if (watch.endsWith(` ${next.watcher}`)) model.watches.delete(watch);
            }
          } else if (isPossible(existing, next.change, next.path)) {
            if (next.change === 'created') tree.create(next.path);
            if (next.change === 'created') existing.add(next.path);
            if (next.change === 'deleted') tree.delete(next.path);
            if (next.change === 'deleted') existing.delete(next.path);
            const told = fire(table, next.change, next.path);
            expect(new Set(told).size).toBe(told.length);
            expect(new Set(told)).toEqual(model.fire(next.change, next.path));
          }
          expect(heldBy(table)).toEqual(model.watches);
          expect(table.watchCount).toBe(model.watches.size);
          const paths = new Set([...model.watches].map((w) => w.slice(0, w.lastIndexOf(' '))));
          expect(table.pathCount).toBe(paths.size);
          expectDataWatches(table, model.watches);
        }
      }),
    );
  });
});

/** What is counted and listed of data watches equals what a walk over all watches finds. */
function expectDataWatches(table: WatchTable, watches: ReadonlySet<string>): void {
  const held = [...watches].map((watch) => watch.split(' ')).filter(([one]) => one !== 'child');
  const pairs = [...new Set(held.map(([, at, who]) => `${at} ${who}`))].sort();
  expect(table.dataCounts).toEqual({
    watches: pairs.length,
    paths: new Set(held.map(([, at]) => at)).size,
    watchers: new Set(held.map(([, , who]) => who)).size,
  });
  const byPath = pathsListed(table).flatMap(([at, all]) => all.map((who) => `${at} ${who}`));
  expect(byPath.sort()).toEqual(pairs);
  const byWatcher = watchersListed(table).flatMap(([who, all]) => all.map((at) => `${at} ${who}`));
  expect(byWatcher.sort()).toEqual(pairs);
}

function present<T>(all: Iterable<T | null>): T[] {
  return [...all].filter((one) => one !== null);
}

function pathsListed(table: WatchTable): [string, number[]][] {
  return [...watchedPaths(table)].flatMap((one): [string, number[]][] =>
    one === null ? [] : [[one.path, present(one.watchers)]],
  );
}

function watchersListed(table: WatchTable): [number, string[]][] {
  return [...watchers(table)].flatMap((one): [number, string[]][] =>
    one === null ? [] : [[one.watcher, present(one.paths)]],
  );
}

function heldBy(table: WatchTable): ReadonlySet<string> {
  const held = new Set<string>();
  for (const one of MODES) {
    for (const at of ['/', '/a', '/a/b', '/a/b/c', '/a/c', '/d']) {
      for (const who of [1, 2, 3, 4]) if (table.has(one, at, who)) held.add(`${one} ${at} ${who}`);
    }
  }
  return held;
}

it('counts the watchers of each change, and of a change in two places apart', () => {
  const fanOut = new WatchFanOut();
  fanOut.told(EventType.deleted, '/a/1');
  fanOut.told(EventType.deleted, '/a/1');
  fanOut.told(EventType.childrenChanged, '/a');
  fanOut.told(EventType.deleted, '/a/2');
  fanOut.end();
  fanOut.told(EventType.deleted, '/a/2');
  fanOut.end();
  fanOut.end();
  const { deleted, childrenChanged, created, dataChanged } = fanOut;
  expect([deleted.count, deleted.sum, deleted.max]).toEqual([3, 4, 2]);
  expect([childrenChanged.count, created.count, dataChanged.count]).toEqual([1, 0, 0]);
});
