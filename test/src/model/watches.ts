/**
 * The model's watches: two tables, data and child, of path, connection and mode.
 *
 * One-shot watches are removed when they fire, and stay when their client may not hear of it.
 * Persistent ones stay, and recursive ones receive everything at and below their path except
 * childrenChanged; there is one event per change and path. In ZooKeeper 3.8.0 a connection has one
 * mode per path and table, and recursive ones are in both tables. A connection is a number that is
 * never used again.
 */
import { EventType, WatcherType } from '@rookery/protocol';
import type { Dialect } from './dialect.js';

type Mode = 'once' | 'persistent' | 'recursive';
type Kind = 'data' | 'child';
type Table = Map<string, Map<number, Set<Mode>>>;

/** Returns false if the client may not hear of it. */
export type TellWatcher = (connection: number, type: EventType, path: string) => boolean;

export class Watches {
  readonly #dialect: Dialect;
  readonly #members = new Map<number, number>();
  readonly #tables: Readonly<Record<Kind, Table>> = { data: new Map(), child: new Map() };

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** In ZooKeeper 3.8.0, clients at the same member see each other's watches. */
  connected(connection: number, member: number): void {
    this.#members.set(connection, member);
  }

  memberOf(connection: number): number | undefined {
    return this.#members.get(connection);
  }

  addOnce(kind: Kind, path: string, connection: number): void {
    this.#add(kind, path, connection, 'once');
  }

  addLasting(mode: 'persistent' | 'recursive', path: string, connection: number): void {
    this.#add('data', path, connection, mode);
    if (mode === 'persistent' || !this.#dialect.watchModesCoexist) {
      this.#add('child', path, connection, mode);
    }
  }

  dropConnection(connection: number): void {
    for (const table of Object.values(this.#tables)) {
      for (const watchers of table.values()) watchers.delete(connection);
    }
  }

  /** The watches of this connection, which its client would set again elsewhere. */
  of(connection: number, kind: Kind, mode: Mode): string[] {
    const table = [...this.#tables[kind]];
    const own = table.filter(([, watchers]) => watchers.get(connection)?.has(mode));
    return own.map(([path]) => path);
  }

  created(path: string, tell: TellWatcher): void {
    this.#fire('data', EventType.created, path, tell);
    this.#fire('child', EventType.childrenChanged, parentOf(path), tell);
  }

  changed(path: string, tell: TellWatcher): void {
    this.#fire('data', EventType.dataChanged, path, tell);
  }

  deleted(path: string, tell: TellWatcher): void {
    const told = new Map<number, boolean>();
    this.#fire('data', EventType.deleted, path, (connection, type, at) => {
      const hasHeard = tell(connection, type, at);
      told.set(connection, hasHeard);
      return hasHeard;
    });
    this.#fire('child', EventType.deleted, path, (connection, type, at) => {
      return told.get(connection) ?? tell(connection, type, at);
    });
    this.#fire('child', EventType.childrenChanged, parentOf(path), tell);
  }

  /** Whether there is a watch of this WatcherType; it is also removed if requested. */
  find(options: {
    readonly path: string;
    readonly type: number;
    readonly connection: number;
    readonly remove: boolean;
  }): boolean {
    let found = false;
    for (const [kind, mode] of this.#meaningOf(options.type)) {
      const modes = this.#tables[kind].get(options.path)?.get(options.connection);
      if (modes?.has(mode) !== true) continue;
      found = true;
      if (options.remove) modes.delete(mode);
    }
    return found;
  }

  /** Whether any client at the member of this connection has a watch in these tables. */
  findAnybodys(options: {
    readonly path: string;
    readonly type: number;
    readonly connection: number;
  }): boolean {
    const member = this.#members.get(options.connection);
    return this.#meaningOf(options.type).some(([kind]) => {
      const watchers = [...(this.#tables[kind].get(options.path) ?? [])];
      return watchers.some(
        ([connection, modes]) => modes.size > 0 && this.#members.get(connection) === member,
      );
    });
  }

  #meaningOf(type: number): readonly (readonly [Kind, Mode])[] {
    const once = [['data', 'once'] as const, ['child', 'once'] as const];
    const lasting = (mode: Mode) => [['data', mode] as const, ['child', mode] as const];
    const all = [...once, ...lasting('persistent'), ...lasting('recursive')];
    const byMode = this.#dialect.watchesRemovedByMode;
    const inTable = (wanted: Kind) =>
      all.filter(([kind, mode]) => kind === wanted && (mode === 'once' || !byMode));
    switch (type) {
      case WatcherType.children:
        return inTable('child');
      case WatcherType.data:
        return inTable('data');
      case WatcherType.any:
        return all;
      case WatcherType.persistent:
        return lasting('persistent');
      case WatcherType.persistentRecursive:
        return lasting('recursive');
      default:
        throw new Error(`${type} is not a WatcherType`);
    }
  }

  #add(kind: Kind, path: string, connection: number, mode: Mode): void {
    const table = this.#tables[kind];
    const watchers = table.get(path) ?? new Map<number, Set<Mode>>();
    table.set(path, watchers);
    const modes = this.#dialect.watchModesCoexist ? watchers.get(connection) : undefined;
    watchers.set(connection, new Set([...(modes ?? []), mode]));
  }

  #fire(kind: Kind, type: EventType, path: string, tell: TellWatcher): void {
    const told = new Set<number>();
    const once = new Map<number, Set<Mode>>();
    for (let at = path; ; at = parentOf(at)) {
      for (const [connection, modes] of this.#tables[kind].get(at) ?? []) {
        const recursive = modes.has('recursive') && type !== EventType.childrenChanged;
        const here = at === path && (modes.has('once') || modes.has('persistent'));
        if (at === path && modes.delete('once')) once.set(connection, modes);
        if (recursive || here) told.add(connection);
      }
      if (at === '/') break;
    }
    for (const connection of told) {
      if (tell(connection, type, path) || !this.#dialect.hiddenWatchesStay) continue;
      once.get(connection)?.add('once');
    }
  }
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}
