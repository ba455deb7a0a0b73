/**
 * A reference model of the watch registry, as simple as possible: one list that is searched for
 * every question. The calls are a multiset without an order. Only for tests.
 */
import { WatcherType } from '@rookery/protocol';
import type { WatchKind } from '../watches/watch-registry.js';

export interface Registration {
  readonly kind: WatchKind | 'persistent' | 'recursive';
  readonly path: string;
  readonly watcher: number;
  /** Distinguishes several persistent watches of one watcher on one path. */
  readonly handle: number | null;
}

export type Change = 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
/** Entries of the form "watcher event path", sorted. */
export type Calls = string[];

const FIRED: Readonly<Record<Change, readonly Registration['kind'][]>> = {
  created: ['data', 'exist'],
  dataChanged: ['data', 'exist'],
  deleted: ['data', 'exist', 'child'],
  childrenChanged: ['child'],
};
const OF_TYPE: ReadonlyMap<number, readonly Registration['kind'][]> = new Map([
  [WatcherType.children, ['child']],
  [WatcherType.data, ['data', 'exist']],
  [WatcherType.any, ['data', 'exist', 'child', 'persistent', 'recursive']],
  [WatcherType.persistent, ['persistent']],
  [WatcherType.persistentRecursive, ['recursive']],
]);

export class NaiveWatches {
  registrations: Registration[] = [];

  add(added: Registration): void {
    const same = this.registrations.some(
      (one) =>
        one.kind === added.kind &&
        one.path === added.path &&
        one.watcher === added.watcher &&
        one.handle === added.handle,
    );
    if (!same) this.registrations.push(added);
  }

  removeReads(path: string, watcher: number): void {
    this.#takeWhere((one) => one.handle === null && one.path === path && one.watcher === watcher);
  }

  removeHandle(handle: number): void {
    this.#takeWhere((one) => one.handle === handle);
  }

  removeType(path: string, type: number): Calls {
    const kinds = OF_TYPE.get(type) ?? [];
    const taken = this.#takeWhere((one) => one.path === path && kinds.includes(one.kind));
    return calls('removed', onceEach(taken));
  }

  change(type: Change, path: string): Calls {
    const fired = this.#takeWhere((one) => one.path === path && FIRED[type].includes(one.kind));
    const told = this.registrations.filter(({ kind, path: watched }) => {
      if (kind === 'persistent') return watched === path;
      if (kind !== 'recursive' || type === 'childrenChanged') return false;
      return watched === '/' || watched === path || path.startsWith(`${watched}/`);
    });
    const all = [...onceEach(fired), ...told].map((one) => ({ ...one, path }));
    return calls(type, all);
  }

  resync(): Calls {
    return calls(
      'resync',
      this.registrations.filter((one) => one.handle !== null),
    );
  }

  lost(): Calls {
    return calls('lost', onceEach(this.#takeWhere((one) => one.handle === null)));
  }

  closed(): Calls {
    return calls('closed', onceEach(this.#takeWhere(() => true)));
  }

  /** The paths of a kind, each once, sorted. */
  paths(kind: Registration['kind']): string[] {
    const paths = this.registrations.filter((one) => one.kind === kind).map((one) => one.path);
    return [...new Set(paths)].sort();
  }

  #takeWhere(taken: (one: Registration) => boolean): Registration[] {
    const gone = this.registrations.filter(taken);
    this.registrations = this.registrations.filter((one) => !taken(one));
    return gone;
  }
}

/**
 * One event calls a watcher of reads once for a path, and a persistent watcher once for each
 * handle.
 */
function onceEach(taken: readonly Registration[]): Registration[] {
  return taken.filter((one, index) => {
    if (one.handle !== null) return true;
    const first = taken.findIndex(
      ({ handle, path, watcher }) =>
        handle === null && path === one.path && watcher === one.watcher,
    );
    return first === index;
  });
}

function calls(type: string, told: readonly Registration[]): Calls {
  return told.map((one) => `${one.watcher} ${type} ${one.path}`).sort();
}
