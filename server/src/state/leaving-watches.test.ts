// A closed connection may have had millions of watches. They are removed over many turns; meanwhile
// the watcher is notified of nothing, and its watches still count against the bound.
import { EventType } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PathTree } from '../simulated/state/path-tree.js';
import { watchedPaths } from './watch-listing.js';
import { watchBytesOf } from './watched-paths.js';
import { type WatchChange, type WatchMode, WatchTable } from './watches.js';

const LIMITS = { watcherBytesMax: 1 << 30, bytesMax: 1 << 30 };
/** The number that one turn removes. */
const PER_TURN = 5_000;
const GONE = 1;
const OTHER = 2;

function watching(count: number, limits = LIMITS): WatchTable {
  const table = new WatchTable(limits, new PathTree());
  for (let at = 0; at < count; at++) table.add('data', `/n${at}`, GONE);
  return table;
}

function fire(table: WatchTable, kind: WatchChange['kind'], path: string): readonly string[] {
  const told: string[] = [];
  table.trigger({ kind, path }, (watcher, type, at) => {
    told.push(`${watcher} ${type} ${at}`);
    return true;
  });
  return told;
}

/** The paths with data watches, in order, and their watchers. */
function listed(table: WatchTable): [string, number[]][] {
  const all = [...watchedPaths(table)].flatMap((one): [string, number[]][] =>
    one === null ? [] : [[one.path, [...one.watchers].filter((watcher) => watcher !== null)]],
  );
  return all.filter(([, watchers]) => watchers.length > 0).sort();
}

describe('the watches of a watcher that is gone', () => {
  it('are removed at once as long as they are few', () => {
    const table = watching(PER_TURN);
    table.removeWatcher(GONE);
    expect(table.watchCount).toBe(0);
    expect(table.isEmpty).toBe(true);
  });

  it('are removed over as many turns as their number needs, and count until then', () => {
    const count = 20 * PER_TURN;
    const table = watching(count);
    table.removeWatcher(GONE);
    for (let left = count - PER_TURN; left > 0; left -= PER_TURN) {
      expect(table.watchCount).toBe(left);
      table.release();
    }
    expect(table.watchCount).toBe(0);
    expect(table.isEmpty).toBe(true);
    table.release();
    expect(table.release()).toBe(false);
  });

  it('of many watchers that close in one turn are not all removed in that turn', () => {
    const table = new WatchTable(LIMITS, new PathTree());
    const few = PER_TURN / 10;
    for (let watcher = 1; watcher <= 100; watcher++) {
      for (let at = 0; at < few; at++) table.add('child', `/${watcher}/${at}`, watcher);
    }
    for (let watcher = 1; watcher <= 100; watcher++) table.removeWatcher(watcher);
    expect(table.watchCount).toBe(90 * few);
    expect(table.watcherCount).toBe(0);
    for (let left = 90; left > 0; left -= 10) {
      expect(table.watchCount).toBe(left * few);
      expect(table.release()).toBe(true);
    }
    expect(table.watchCount).toBe(0);
  });

  it('notify the closed watcher of nothing, in any mode, and others of everything', () => {
    const table = watching(2 * PER_TURN);
    for (const mode of ['data', 'child', 'persistent', 'recursive'] as const) {
      table.add(mode, '/last', GONE);
    }
    table.add('data', '/last', OTHER);
    table.add('persistent', '/last', OTHER);
    table.removeWatcher(GONE);
    expect(table.has('data', '/last', GONE)).toBe(false);
    expect(table.watcherCount).toBe(1);
    expect(listed(table)).toEqual([['/last', [OTHER]]]);
    expect(fire(table, 'deleted', '/last')).toEqual([`${OTHER} ${EventType.deleted} /last`]);
    expect(fire(table, 'created', `/n${2 * PER_TURN - 1}`)).toEqual([]);
    expect(fire(table, 'created', '/last/x')).toEqual([
      `${OTHER} ${EventType.childrenChanged} /last`,
    ]);
    while (table.release());
    expect(table.watchCount).toBe(1);
    expect(table.has('persistent', '/last', OTHER)).toBe(true);
  });

  it('count until they are removed, but for an eighth that newcomers use meanwhile', () => {
    const path = (at: number) => `/n${String(at).padStart(5, '0')}`;
    const bytesMax = 2 * PER_TURN * watchBytesOf(path(0));
    const table = new WatchTable({ watcherBytesMax: bytesMax, bytesMax }, new PathTree());
    for (let at = 0; at < 2 * PER_TURN; at++) table.add('data', path(at), GONE);
    table.removeWatcher(GONE);
    const most = PER_TURN + PER_TURN / 4;
    for (let at = 0; at < most; at++) expect(table.add('data', path(at), OTHER)).toBe(true);
    expect(table.add('data', path(most), OTHER)).toBe(false);
    table.release();
    expect(table.add('data', path(most), OTHER)).toBe(true);
  });

  it('leave the watches of others as they would be without them, whatever happens meanwhile', () => {
    const path = fc.constantFrom('/a', '/a/b', '/a/c', '/d');
    const mode = fc.constantFrom<WatchMode>('data', 'child', 'persistent', 'recursive');
    const kind = fc.constantFrom<WatchChange['kind']>('created', 'deleted', 'dataChanged');
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), mode, path }),
      fc.record({ do: fc.constant('fire' as const), kind, path }),
      fc.record({ do: fc.constant('release' as const) }),
    );
    const held = fc.array(fc.record({ mode, path }), { maxLength: 16 });
    fc.assert(
      fc.property(held, fc.array(step, { maxLength: 20 }), (watches, steps) => {
        const table = watching(3 * PER_TURN);
        const alone = new WatchTable(LIMITS, new PathTree());
        for (const one of watches) table.add(one.mode, one.path, GONE);
        table.removeWatcher(GONE);
        for (const next of steps) {
          if (next.do === 'add') {
            for (const each of [table, alone]) each.add(next.mode, next.path, OTHER);
          } else if (next.do === 'fire') {
            expect(fire(table, next.kind, next.path)).toEqual(fire(alone, next.kind, next.path));
          } else table.release();
          const { watches: left, watchers } = table.dataCounts;
          expect(alone.dataCounts).toMatchObject({ watches: left, watchers });
        }
        while (table.release());
        expect(table.watchCount).toBe(alone.watchCount);
        expect(table.pathCount).toBe(alone.pathCount);
        expect(listed(table)).toEqual(listed(alone));
        expect(table.dataCounts).toEqual(alone.dataCounts);
      }),
      { numRuns: 50 },
    );
  });
});
