/**
 * Who holds what right now, as the holders themselves see it: every lease that a test is given goes
 * through here, and at that moment those whose signals are not aborted must be allowed together.
 *
 * Also counts what a client's recipes ask for and hear, by a view of the client that passes all on.
 */
import type { Client, Lease, WatchedReadOptions, Watcher } from '@rookery/client';

export class HoldersLedger {
  readonly #mayCoexist: (live: readonly Lease[]) => boolean;
  readonly #isExclusive: boolean;
  #live: Lease[] = [];
  #lastToken = 0n;
  /** What must never have happened; read by the test at its end. */
  readonly violations: string[] = [];
  given = 0;

  constructor(options: {
    readonly mayCoexist: (live: readonly Lease[]) => boolean;
    readonly isExclusive: boolean;
  }) {
    this.#mayCoexist = options.mayCoexist;
    this.#isExclusive = options.isExclusive;
  }

  static ofExclusive(): HoldersLedger {
    return new HoldersLedger({ mayCoexist: (live) => live.length <= 1, isExclusive: true });
  }

  /** To be called in the turn in which the lease was given. */
  add(lease: Lease): void {
    this.given++;
    this.#live = this.#live.filter(({ held }) => held);
    if (lease.held) this.#live.push(lease);
    if (!this.#mayCoexist(this.#live)) {
      this.violations.push(`held at once: ${this.#live.map(({ path }) => path).join(', ')}`);
    }
    if (this.#isExclusive && lease.fencingToken <= this.#lastToken) {
      this.violations.push(`token ${lease.fencingToken} after ${this.#lastToken}`);
    }
    this.#lastToken = lease.fencingToken;
  }
}

export interface Traffic {
  /** Events that watchers were called with. */
  events: number;
  /** Listings of directories that were answered. */
  listings: number;
}

/** The client, with its one-shot watches and listings counted. */
export function counted(client: Client, traffic: Traffic): Client {
  const wrapped = new WeakMap<Watcher, Watcher>();
  const wrap = (watcher: Watcher): Watcher => {
    const known = wrapped.get(watcher);
    if (known !== undefined) return known;
    const counting: Watcher = (event) => {
      traffic.events++;
      watcher(event);
    };
    wrapped.set(watcher, counting);
    return counting;
  };
  const counting = (options: WatchedReadOptions = {}): WatchedReadOptions =>
    options.watcher === undefined ? options : { ...options, watcher: wrap(options.watcher) };
  const view: Pick<Client, 'exists' | 'getChildren' | 'getData' | 'removeWatcher'> = {
    exists: (path, options) => client.exists(path, counting(options)),
    getData: (path, options) => client.getData(path, counting(options)),
    getChildren: async (path, options) => {
      const children = await client.getChildren(path, counting(options));
      traffic.listings++;
      return children;
    },
    removeWatcher: (path, watcher) => client.removeWatcher(path, wrapped.get(watcher) ?? watcher),
  };
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(key in view ? view : target, key);
      return typeof value === 'function' ? value.bind(key in view ? view : target) : value;
    },
  });
}
