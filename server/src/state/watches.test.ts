import { EventType } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WatchChange, type WatchKind, WatchTable } from './watches.js';

function fire(table: WatchTable, kind: WatchChange['kind'], path: string): string[] {
  const events: string[] = [];
  const name = (type: number) => Object.entries(EventType).find(([, value]) => value === type)?.[0];
  table.trigger({ kind, path }, (watcher, type, p) => events.push(`${watcher} ${name(type)} ${p}`));
  return events;
}

describe('a watch', () => {
  it('fires once', () => {
    const table = new WatchTable();
    table.add('data', '/a', 1);
    table.add('data', '/a', 1);
    expect(table.watchCount).toBe(1);
    expect(fire(table, 'dataChanged', '/a')).toEqual(['1 dataChanged /a']);
    expect(fire(table, 'dataChanged', '/a')).toEqual([]);
    expect(table.watchCount).toBe(0);
  });

  it('for children does not fire when data changes or a child is changed', () => {
    const table = new WatchTable();
    table.add('child', '/a', 1);
    expect(fire(table, 'dataChanged', '/a')).toEqual([]);
    expect(fire(table, 'dataChanged', '/a/b')).toEqual([]);
    expect(fire(table, 'created', '/a/b/c')).toEqual([]);
    expect(table.has('child', '/a', 1)).toBe(true);
  });
});

describe('trigger', () => {
  it('tells of a create at the node, then at its parent', () => {
    const table = new WatchTable();
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
    const table = new WatchTable();
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
    const table = new WatchTable();
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

  it('holds what a set of triples holds, after any adds, removals and triggers', () => {
    const kind = fc.constantFrom<WatchKind>('data', 'child');
    const path = fc.constantFrom('/a', '/a/b', '/a/c', '/d');
    const watcher = fc.integer({ min: 1, max: 4 });
    const change = fc.constantFrom<WatchChange['kind']>('created', 'deleted', 'dataChanged');
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), kind, path, watcher }) },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('remove' as const), kind, path, watcher }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('gone' as const), watcher }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('trigger' as const), change, path }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const table = new WatchTable();
        const model = new Set<string>();
        for (const next of steps) {
          if (next.do === 'add') {
            table.add(next.kind, next.path, next.watcher);
            model.add(`${next.kind} ${next.path} ${next.watcher}`);
          } else if (next.do === 'remove') {
            const had = model.delete(`${next.kind} ${next.path} ${next.watcher}`);
            expect(table.remove(next.kind, next.path, next.watcher)).toBe(had);
          } else if (next.do === 'gone') {
            table.removeWatcher(next.watcher);
            for (const watch of [...model].filter((w) => w.endsWith(` ${next.watcher}`))) {
              model.delete(watch);
            }
          } else {
            const fired = [`data ${next.path} `];
            if (next.change !== 'dataChanged') {
              fired.push(`child ${next.path.slice(0, next.path.lastIndexOf('/')) || '/'} `);
            }
            if (next.change === 'deleted') {
              fired.push(`child ${next.path} `);
            }
            const gone = [...model].filter((w) => fired.some((prefix) => w.startsWith(prefix)));
            const told = fire(table, next.change, next.path);
            expect(new Set(told).size).toBe(told.length);
            expect(told.length).toBeLessThanOrEqual(gone.length);
            for (const watch of gone) {
              model.delete(watch);
            }
          }
          expect(table.watchCount).toBe(model.size);
          for (const watch of model) {
            const [k, p, w] = watch.split(' ');
            expect(table.has(k === 'data' ? 'data' : 'child', p ?? '', Number(w))).toBe(true);
          }
          const paths = new Set([...model].map((w) => w.slice(0, w.lastIndexOf(' '))));
          expect(table.pathCount).toBe(paths.size);
        }
      }),
    );
  });
});
