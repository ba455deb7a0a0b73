/**
 * Chooses which containers and TTL znodes the leader deletes next: see `Tree.isReapable`.
 *
 * It examines the state's index of them once in each interval, a slice at each tick, and hands out
 * what it found at a bounded rate. It only proposes: whether a znode may really be deleted is
 * decided anew when the delete is prepared. Time is an argument. Called by RequestPreparer.
 */
import type { ReplicatedState } from '../state/replicated-state.js';
import type { NodeAges, ReapRules, Tree } from '../state/tree.js';

export interface ReaperOptions {
  /** The time from one search to the next, in ms. */
  readonly intervalMs: number;
  readonly perMinuteMax: number;
  /** As in `ReapRules`. */
  readonly neverUsedMs: number;
}

/** The znodes examined in one tick: about a millisecond. */
const SLICE = 5_000;
/** What one search keeps for its interval; the next one finds the rest. */
const FOUND_MAX = 10_000;
/** A tick that comes late makes up for this much, in ms. */
const CATCH_UP_MS = 1_000;
const NONE: readonly string[] = [];

export class Reaper {
  readonly #tree: Tree;
  /** By these a delete is decided anew when it is prepared. */
  readonly rules: ReapRules;
  readonly #options: ReaperOptions;
  #nextSearchMs: number;
  /** Index entries below this one are still to be examined. */
  #unseen = 0;
  #found: string[] = [];
  #tickedMs: number;
  /** The number of deletes that the rate allows by now, with fractions. */
  #allowed = 0;

  constructor(
    { state, ages }: { readonly state: ReplicatedState; readonly ages: NodeAges },
    options: ReaperOptions,
    nowMs: number,
  ) {
    this.#tree = state.tree;
    this.rules = { ages, neverUsedMs: options.neverUsedMs };
    this.#options = options;
    this.#nextSearchMs = nowMs + options.intervalMs;
    this.#tickedMs = nowMs;
  }

  /** The paths to delete now, if they still may be deleted. */
  due(nowMs: number, max: number): readonly string[] {
    const elapsedMs = Math.min(nowMs - this.#tickedMs, CATCH_UP_MS);
    this.#tickedMs = nowMs;
    if (this.#unseen === 0 && this.#found.length === 0) {
      if (nowMs < this.#nextSearchMs) return NONE;
      this.#nextSearchMs = nowMs + this.#options.intervalMs;
      this.#unseen = this.#tree.timedCount;
    }
    this.#search();
    if (this.#found.length === 0) return NONE;
    const rate = this.#options.perMinuteMax / 60_000;
    this.#allowed = Math.min(this.#allowed + elapsedMs * rate, Math.max(1, CATCH_UP_MS * rate));
    const count = Math.min(Math.floor(this.#allowed), max);
    this.#allowed -= count;
    return this.#found.splice(0, count);
  }

  /** Goes from the end to the start: what a delete moves to a freed entry has been examined. */
  #search(): void {
    let place = Math.min(this.#unseen, this.#tree.timedCount);
    const end = Math.max(0, place - SLICE);
    while (place > end && this.#found.length < FOUND_MAX) {
      place -= 1;
      const node = this.#tree.timedNode(place);
      if (this.#tree.isReapable(node, this.rules)) this.#found.push(this.#tree.path(node));
    }
    this.#unseen = this.#found.length < FOUND_MAX ? place : 0;
  }
}
