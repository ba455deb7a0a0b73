/**
 * The registry against the naive one, step by step: the same watchers called with the same events,
 * the same size, the same paths re-armed, and what the server is told to drop is needed by nobody.
 */
import { EventType, KeeperState, OpCode, WatcherType } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Watcher } from '../api/values.js';
import {
  type Calls,
  type Change,
  NaiveWatches,
  type Registration,
} from '../testing/naive-watches.js';
import type { RearmRequest } from './rearm.js';
import {
  type DroppedWatch,
  type PersistentWatch,
  type WatchKind,
  WatchRegistry,
} from './watch-registry.js';

const PATHS = ['/', '/a', '/a/b', '/a/b/c', '/ab'];
const CHANGES: readonly Change[] = ['created', 'deleted', 'dataChanged', 'childrenChanged'];
const KINDS: readonly WatchKind[] = ['data', 'exist', 'child'];
const WATCHERS = 3;

type Step =
  | { readonly step: 'add'; readonly kind: WatchKind; readonly path: string; readonly by: number }
  | { readonly step: 'remove'; readonly path: string; readonly by: number }
  | {
      readonly step: 'addPersistent';
      readonly path: string;
      readonly recursive: boolean;
      readonly by: number;
    }
  | { readonly step: 'removePersistent'; readonly index: number }
  | { readonly step: 'removeAll'; readonly path: string; readonly type: WatcherType }
  | { readonly step: 'change'; readonly type: Change; readonly path: string }
  | { readonly step: 'resumed' | 'lost' | 'newSession' };

const path = fc.constantFrom(...PATHS);
const by = fc.nat(WATCHERS - 1);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant('add' as const),
      kind: fc.constantFrom(...KINDS),
      path,
      by,
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('remove' as const), path, by }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('addPersistent' as const),
      path,
      recursive: fc.boolean(),
      by,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant('removePersistent' as const), index: fc.nat(20) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('removeAll' as const),
      path,
      type: fc.constantFrom(...Object.values(WatcherType)),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant('change' as const),
      type: fc.constantFrom(...CHANGES),
      path,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constantFrom('resumed', 'lost', 'newSession') }),
  },
);

class Pair {
  readonly registry = new WatchRegistry();
  readonly naive = new NaiveWatches();
  readonly handles: PersistentWatch[] = [];
  calls: Calls = [];
  readonly watchers: readonly Watcher[] = Array.from({ length: WATCHERS }, (_, by): Watcher => {
    return (event) => this.calls.push(`${by} ${event.type} ${event.path}`);
  });

  watcher(by: number): Watcher {
    const watcher = this.watchers[by];
    if (watcher === undefined) throw new Error(`no watcher ${by}`);
    return watcher;
  }

  /** Applies it to both; gives the calls that the naive one expects. */
  apply(step: Step): Calls {
    const { registry, naive } = this;
    switch (step.step) {
      case 'add':
        registry.add(step.kind, step.path, this.watcher(step.by));
        naive.add({ kind: step.kind, path: step.path, watcher: step.by, handle: null });
        return [];
      case 'remove':
        naive.removeReads(step.path, step.by);
        this.checkDropped(registry.remove(step.path, this.watcher(step.by)));
        return [];
      case 'addPersistent': {
        const { recursive, path: at } = step;
        const kind = recursive ? 'recursive' : 'persistent';
        naive.add({ kind, path: at, watcher: step.by, handle: this.handles.length });
        this.handles.push(registry.addPersistent(at, recursive, this.watcher(step.by)));
        return [];
      }
      case 'removePersistent': {
        const handle = this.handles[step.index];
        if (handle === undefined) return [];
        naive.removeHandle(step.index);
        this.checkDropped(registry.removePersistent(handle));
        return [];
      }
      case 'removeAll':
        registry.removeAll(step.path, step.type);
        return naive.removeType(step.path, step.type);
      case 'change': {
        const { type, path: at } = step;
        const state = KeeperState.syncConnected;
        registry.onEvent({ type: EventType[type], state, path: at }, 7n);
        return naive.change(type, at);
      }
      case 'resumed':
        registry.onResumed();
        return naive.resync();
      case 'newSession':
        registry.onNewSession();
        return naive.resync();
      case 'lost':
        registry.onSessionLost();
        return naive.lost();
      default:
        throw new Error('no such step');
    }
  }

  /** Nothing that anybody still needs. */
  checkDropped(dropped: readonly DroppedWatch[]): void {
    for (const { path: at, type } of dropped) {
      const probe = new NaiveWatches();
      probe.registrations = [...this.naive.registrations];
      expect(probe.removeType(at, type)).toEqual([]);
    }
  }

  check(expected: Calls): void {
    expect(this.calls.sort()).toEqual(expected);
    this.calls = [];
    expect(this.registry.size).toBe(this.naive.registrations.length);
    for (const pathBytesMax of [1, 12, 1_000]) {
      const requests = this.registry.rearm(5n, pathBytesMax);
      const kinds: Registration['kind'][] = [...KINDS, 'persistent', 'recursive'];
      for (const kind of kinds) {
        const listed = requests.flatMap((request) => [...pathsOf(request, kind)]);
        expect(listed.sort()).toEqual(this.naive.paths(kind));
      }
    }
  }
}

function pathsOf(rearm: RearmRequest, kind: Registration['kind']): readonly string[] {
  const { request } = rearm;
  if (kind === 'data') return request.dataWatches;
  if (kind === 'exist') return request.existWatches;
  if (kind === 'child') return request.childWatches;
  if (rearm.opcode === OpCode.setWatches) return [];
  const { persistentWatches, persistentRecursiveWatches } = rearm.request;
  return kind === 'persistent' ? persistentWatches : persistentRecursiveWatches;
}

test('whatever is added, removed, changed, resumed and lost: called as the naive one says', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const pair = new Pair();
      for (const step of steps) pair.check(pair.apply(step));
      pair.registry.onClosed();
      pair.check(pair.naive.closed());
      expect(pair.registry.size).toBe(0);
      expect(pair.registry.rearm(9n, 1_000)).toEqual([]);
      // After the end nobody hears of anything.
      for (const at of PATHS) pair.apply({ step: 'change', type: 'deleted', path: at });
      pair.registry.onResumed();
      pair.check([]);
    }),
    { numRuns: 1_000 },
  );
});

test('each one-shot watcher is called exactly once, whatever ends its wait', () => {
  // Every registration has its own function here, so that a call tells which one it was.
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const registry = new WatchRegistry();
      const counts: number[] = [];
      for (const step of steps) {
        if (step.step === 'add') {
          const index = counts.push(0) - 1;
          registry.add(step.kind, step.path, () => {
            counts[index] = (counts[index] ?? 0) + 1;
          });
        } else if (step.step === 'change') {
          const state = KeeperState.syncConnected;
          registry.onEvent({ type: EventType[step.type], state, path: step.path }, 7n);
        } else if (step.step === 'lost') {
          registry.onSessionLost();
        } else if (step.step === 'removeAll') {
          registry.removeAll(step.path, step.type);
        }
      }
      registry.onClosed();
      expect(counts).toEqual(counts.map(() => 1));
    }),
    { numRuns: 1_000 },
  );
});
