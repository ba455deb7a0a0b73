/**
 * Keeps a model of a subtree equal to the server's, by reading what the events of a recursive watch
 * point to, and by comparing the whole model if changes may have been missed.
 *
 * Events only say what to read, never what the result is. Each path has at most one request in
 * flight, so its reads are in order. A znode that is new in the model and has children is listed,
 * which finds what was reported before its parent was read. After a lost connection the stat and
 * the children of each znode in the model are requested, and only what differs is read. The number
 * of requests in flight is bounded. Used by the tree cache.
 */
import { joinPath, NoAuthError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Node, Stat, WatchEvent } from '../../api/values.js';
import { Changes } from './changes.js';
import { bounds, persist, type Within } from './persist.js';
import type { TreeModel } from './tree-model.js';
import { unlessAborted } from './wait-scope.js';
import { WorkQueue } from './work-queue.js';

/** The part of the tree to include. */
export interface TreeScope {
  /** Whether to include this znode and those below it; never called for the root. */
  readonly accepts: (path: string) => boolean;
  /** Whether to include the children of this znode; also called for the root. */
  readonly traverses: (path: string) => boolean;
  /** Whether the model has the data, or only the Stats. */
  readonly withData: boolean;
}

/** 'read' reads a znode; 'compare' requests its stat, and its children if they are included. */
type Task = 'read' | 'compare';

/** Enough to use the connection fully, but few enough for other requests to get through. */
const IN_FLIGHT_MAX = 128;

export class TreeFollower {
  readonly #client: Client;
  readonly #model: TreeModel;
  readonly #scope: TreeScope;
  readonly #onIdle: (hasResynced: boolean) => void;
  readonly #changes = new Changes();
  /** Paths that have no request in flight. */
  readonly #waiting = new WorkQueue<Task>();
  /** The paths with a request in flight, each with what to do after it, or null. */
  #inFlight = new Map<string, Task | null>();
  /** The reads to repeat, by the ancestor that must be read before them. */
  readonly #deferred = new Map<string, Map<string, Task>>();
  #isResyncing = false;
  #failure: { readonly error: unknown } | null = null;

  /** `onIdle` is called when everything has been read, with whether this completes a resync. */
  constructor(
    client: Client,
    model: TreeModel,
    scope: TreeScope,
    onIdle: (hasResynced: boolean) => void,
  ) {
    this.#client = client;
    this.#model = model;
    this.#scope = scope;
    this.#onIdle = onIdle;
    this.#want(model.root, 'read');
  }

  /** An exception of a selector ends it, as an error of the server does. */
  onEvent(event: WatchEvent): void {
    try {
      this.#take(event);
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(event: WatchEvent): void {
    switch (event.type) {
      case 'created':
      case 'dataChanged':
      case 'deleted':
        if (!this.#isNews(event.type, event.path, event.zxid)) return;
        this.#want(event.path, 'read');
        break;
      case 'resync':
        this.#isResyncing = true;
        for (const path of this.#model.paths()) this.#look(path);
        this.#look(this.#model.root);
        break;
      default:
        // 'childrenChanged' belongs to other watches, and the end of the watch is handled by the
        // watcher.
        return;
    }
    this.#changes.notify();
  }

  /**
   * Reads until the session is over. What was in progress then is read again in the next session.
   */
  async run(within: Within): Promise<never> {
    const inFlight = new Map<string, Task | null>();
    this.#inFlight = inFlight;
    let next = this.#changes.next();
    try {
      for (;;) {
        next.forget();
        next = this.#changes.next();
        if (this.#failure !== null) throw this.#failure.error;
        while (inFlight.size < IN_FLIGHT_MAX) {
          const work = this.#waiting.take();
          if (work === null) break;
          const { key: path, task } = work;
          const blocker = this.#pendingAncestorOf(path);
          if (blocker !== null) {
            this.#defer(path, task, blocker);
            continue;
          }
          inFlight.set(path, null);
          void this.#perform(path, task, within, inFlight);
        }
        if (inFlight.size === 0) this.#tellIdle();
        await unlessAborted(next.happens, within.signal);
      }
    } finally {
      next.forget();
      this.#inFlight = new Map();
      for (const path of inFlight.keys()) this.#look(path);
      for (const blocker of [...this.#deferred.keys()]) this.#resume(blocker);
    }
  }

  #tellIdle(): void {
    const hasResynced = this.#isResyncing;
    this.#isResyncing = false;
    this.#onIdle(hasResynced);
  }

  /** Whether the event may report something that the model should know and does not. */
  #isNews(type: string, path: string, zxid: bigint | null): boolean {
    const { root } = this.#model;
    if (!this.#isPending(path)) {
      const held = this.#model.get(path);
      if (held === null && type === 'deleted') return false;
      if (held !== null && zxid !== null) {
        const { czxid, mzxid } = held.stat;
        if (type === 'deleted' ? zxid < czxid : zxid <= mzxid) return false;
      }
    }
    if (path === root) return true;
    const parent = parentOf(path);
    // If the parent is neither in the model nor about to be, it will be listed if it ever is.
    if (!this.#model.has(parent) && !this.#isPending(parent)) return false;
    return this.#scope.traverses(parent) && this.#scope.accepts(path);
  }

  #isPending(path: string): boolean {
    return this.#waiting.has(path) || this.#inFlight.has(path);
  }

  #look(path: string): void {
    this.#want(path, this.#model.has(path) ? 'compare' : 'read');
  }

  #want(path: string, task: Task): void {
    const list = this.#inFlight.has(path) ? this.#inFlight : this.#waiting;
    // A comparison includes a read: it detects different data and different children.
    if (list.get(path) !== 'compare') list.set(path, task);
  }

  /** Never rejects. A result that arrives after the end of its run changes nothing. */
  async #perform(
    path: string,
    task: Task,
    within: Within,
    inFlight: Map<string, Task | null>,
  ): Promise<void> {
    const isOver = () => inFlight !== this.#inFlight;
    try {
      const apply = await (task === 'read'
        ? this.#read(path, within)
        : this.#compare(path, within));
      if (isOver()) return;
      const again = inFlight.get(path) ?? null;
      inFlight.delete(path);
      if (again !== null) this.#want(path, again);
      const blocker = this.#pendingAncestorOf(path);
      if (blocker === null) apply();
      else this.#defer(path, task, blocker);
      this.#resume(path);
      this.#changes.notify();
    } catch (error) {
      if (!isOver() && !within.signal.aborted) this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#changes.notify();
  }

  /**
   * If an ancestor may turn out to be a different znode from the one in the model, what is below it
   * would be attributed to the old one, and deleted with it.
   */
  #pendingAncestorOf(path: string): string | null {
    for (let at = path; at !== this.#model.root; ) {
      at = parentOf(at);
      if (this.#isPending(at)) return at;
    }
    return null;
  }

  #defer(path: string, task: Task, blocker: string): void {
    const deferred = this.#deferred.get(blocker) ?? new Map<string, Task>();
    if (deferred.get(path) !== 'compare') deferred.set(path, task);
    this.#deferred.set(blocker, deferred);
  }

  #resume(blocker: string): void {
    const deferred = this.#deferred.get(blocker);
    this.#deferred.delete(blocker);
    for (const [path, task] of deferred ?? []) this.#want(path, task);
  }

  async #read(path: string, within: Within): Promise<() => void> {
    const seen = await this.#orNull(path, within, () => this.#readNode(path, within));
    return () => {
      const isNew = this.#model.take(path, seen);
      const mayHaveChildren = isNew && (seen?.stat.numChildren ?? 0) > 0;
      if (mayHaveChildren && this.#scope.traverses(path)) this.#want(path, 'compare');
    };
  }

  async #readNode(path: string, within: Within): Promise<Node | null> {
    if (this.#scope.withData) return await this.#client.getData(path, bounds(within));
    const stat = await this.#client.exists(path, bounds(within));
    return stat === null ? null : { data: null, stat };
  }

  async #compare(path: string, within: Within): Promise<() => void> {
    if (!this.#scope.traverses(path)) {
      const stat = await this.#orNull(path, within, () =>
        this.#client.exists(path, bounds(within)),
      );
      return () => this.#onStat(path, stat);
    }
    const seen = await this.#orNull(path, within, () =>
      this.#client.getChildren(path, bounds(within)),
    );
    return () => {
      if (this.#onStat(path, seen?.stat ?? null)) this.#onNames(path, seen?.children ?? []);
    };
  }

  /** True if it is the znode in the model. */
  #onStat(path: string, stat: Stat | null): boolean {
    const held = this.#model.get(path);
    if (stat === null) {
      this.#model.take(path, null);
      return false;
    }
    if (held === null || stat.mzxid > held.stat.mzxid) this.#want(path, 'read');
    return stat.czxid === held?.stat.czxid;
  }

  /**
   * A name that differs only says what to read, because it may have been created or deleted since.
   */
  #onNames(path: string, names: readonly string[]): void {
    const listed = new Set(names);
    const held = this.#model.childrenOf(path);
    for (const name of held) {
      if (!listed.has(name)) this.#want(joinPath(path, name), 'read');
    }
    for (const name of listed) {
      const child = joinPath(path, name);
      if (!held.has(name) && this.#scope.accepts(child)) this.#want(child, 'read');
    }
  }

  /** Null for a znode that does not exist, or may not be read unless it is the root. */
  async #orNull<T>(path: string, within: Within, read: () => Promise<T | null>): Promise<T | null> {
    try {
      return await persist(this.#client, within, read);
    } catch (error) {
      const isHidden = error instanceof NoAuthError && path !== this.#model.root;
      if (error instanceof NoNodeError || isHidden) return null;
      throw error;
    }
  }
}
