/**
 * Copies what changes at the source, by a recursive watch, until it is told to end.
 *
 * The watch says which znodes have changed, and their present state is read. So events may be
 * merged, and a late one does no harm. If events may have been missed, and periodically because no
 * event reports a changed ACL, the whole subtree is compared again. Memory is bounded: if more than
 * DIRTY_MAX paths have changed, none is remembered, and everything is compared.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { UnimplementedError } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { Reconciler } from './reconciler.js';
import type { Ends, WritableEnds } from './steps.js';
import { Tally } from './tally.js';

interface FollowerOptions {
  /** Called with whether it receives events from now on. */
  readonly listens: boolean;
  /** As the reconciler takes it. */
  readonly rootCzxid: bigint | null;
  /** The time between two comparisons of the whole subtree, in ms. */
  readonly compareEveryMs: number;
  /** Aborting it ends the following; changes that are already known are still copied. */
  readonly cutOver: AbortSignal;
  /** Aborting it ends everything at once. */
  readonly abort: AbortSignal;
}

const DIRTY_MAX = 100_000;
const AT_ONCE = 64;
const IDLE_MS = 20;
const NO_WATCH = 'the source cannot be followed: that takes ZooKeeper 3.6 or later; --once copies';

export class Follower {
  /** Counts since the beginning; `znodes` are counted again with each change. */
  readonly tally = new Tally();
  /** Changed paths that are not copied yet. */
  readonly #dirty = new Set<string>();
  readonly #options: FollowerOptions;
  readonly #reconciler: Reconciler;
  #comparesAll = false;
  #comparedAtMs = performance.now();
  #failure: unknown = null;
  readonly #listening: Promise<void>;

  constructor(ends: WritableEnds, options: FollowerOptions) {
    this.#options = options;
    const { rootCzxid, abort: signal } = options;
    const how = { purpose: 'apply', deletes: true, rootCzxid, signal } as const;
    this.#reconciler = new Reconciler(ends, how, this.tally);
    this.#listening = options.listens ? this.#listen(ends) : Promise.resolve();
  }

  get behind(): number {
    return this.#dirty.size;
  }

  /** Resolves when the cut-over was requested and all reported changes are copied. */
  async run(): Promise<void> {
    const { cutOver, abort } = this.#options;
    for (;;) {
      abort.throwIfAborted();
      if (this.#failure !== null) throw this.#failure;
      const isDue = performance.now() - this.#comparedAtMs >= this.#options.compareEveryMs;
      if (this.#comparesAll || (isDue && !cutOver.aborted)) await this.compareAll();
      else if (this.#dirty.size > 0) await this.#carrySome();
      else if (cutOver.aborted) break;
      else await delay(IDLE_MS);
    }
    await this.#listening;
  }

  async compareAll(): Promise<void> {
    this.#comparesAll = false;
    this.#dirty.clear();
    this.tally.refused.clear();
    this.tally.differing.clear();
    await this.#reconciler.subtree('/');
    this.#comparedAtMs = performance.now();
  }

  /** Parents were created before their children, so they come first. */
  async #carrySome(): Promise<void> {
    const paths = [...this.#firstDirty()];
    for (const path of paths) this.#dirty.delete(path);
    await Promise.all(paths.map((path) => this.#reconciler.node(path)));
  }

  *#firstDirty(): Generator<string> {
    let count = 0;
    for (const path of this.#dirty) {
      if (count++ === AT_ONCE) return;
      yield path;
    }
  }

  async #listen({ source }: Ends): Promise<void> {
    const { cutOver, abort } = this.#options;
    const signal = AbortSignal.any([cutOver, abort]);
    try {
      for await (const event of source.watch('/', { recursive: true, signal, capacity: 65_536 })) {
        if (event.type === 'resync' || this.#dirty.size >= DIRTY_MAX) this.#comparesAll = true;
        else if ('zxid' in event) this.#dirty.add(event.path);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#failure = error instanceof UnimplementedError ? new OperatorError(NO_WATCH) : error;
    }
  }
}
