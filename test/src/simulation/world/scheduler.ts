/**
 * The run's clock and everything that is going to happen, in order.
 *
 * Actions run one at a time, by due time and then by the order of the calls; between two of them
 * every promise that can settle does. Time does not advance while an action runs. Nothing here is
 * random, so a run is the same each time.
 */
import type { Timer } from '../../simulated.js';

interface Scheduled {
  readonly dueMs: number;
  readonly order: number;
  /** Null if the action was cancelled. */
  action: (() => void) | null;
}

/**
 * A moment with more actions than this does not end; without this bound, nobody would know in which
 * seed.
 */
const ACTIONS_OF_A_MOMENT_MAX = 1_000_000;

export class Scheduler {
  #nowMs = 0;
  /** The number of actions that have run at `#nowMs`. */
  #ranNow = 0;
  #order = 0;
  /** A binary heap with the next action first. */
  readonly #heap: Scheduled[] = [];
  #urgent: (() => void)[] = [];
  /** The number of actions that have run. */
  #ran = 0;
  #afterRan: { readonly ran: number; readonly action: () => void }[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, action: () => void): Timer {
    const dueMs = this.#nowMs + Math.max(0, delayMs);
    const scheduled: Scheduled = { dueMs, order: this.#order++, action };
    this.#push(scheduled);
    return {
      cancel: () => {
        scheduled.action = null;
      },
    };
  }

  /** Runs before anything else, once the current action and its promises have completed. */
  next(action: () => void): void {
    this.#urgent.push(action);
  }

  /**
   * Runs between two actions, once this many more have run: any point of a run can be named in this
   * way.
   */
  afterActions(count: number, action: () => void): void {
    this.#afterRan.push({ ran: this.#ran + count, action });
  }

  /**
   * Runs everything that is due within the next `durationMs`; rejects with what an action throws.
   */
  advance(durationMs: number): Promise<void> {
    const untilMs = this.#nowMs + durationMs;
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          if (this.#runOne(untilMs)) setImmediate(step);
          else resolve();
        } catch (error) {
          reject(error);
        }
      };
      setImmediate(step);
    });
  }

  #runOne(untilMs: number): boolean {
    if (this.#urgent.length > 0) {
      const urgent = this.#urgent;
      this.#urgent = [];
      for (const action of urgent) action();
      return true;
    }
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.dueMs > untilMs) {
        this.#nowMs = untilMs;
        return false;
      }
      this.#pop();
      if (next.action === null) continue;
      this.#moveTo(next.dueMs);
      next.action();
      this.#ran += 1;
      if (this.#afterRan.length > 0) this.#callAfterRan();
      return true;
    }
  }

  #moveTo(dueMs: number): void {
    if (dueMs > this.#nowMs) {
      this.#nowMs = dueMs;
      this.#ranNow = 0;
    }
    this.#ranNow += 1;
    if (this.#ranNow <= ACTIONS_OF_A_MOMENT_MAX) return;
    throw new Error(`time stands still at ${this.#nowMs} ms: what is done there has no end`);
  }

  #callAfterRan(): void {
    const due = this.#afterRan.filter(({ ran }) => ran <= this.#ran);
    if (due.length === 0) return;
    this.#afterRan = this.#afterRan.filter(({ ran }) => ran > this.#ran);
    this.#urgent.push(...due.map(({ action }) => action));
  }

  #push(scheduled: Scheduled): void {
    const heap = this.#heap;
    let place = heap.length;
    while (place > 0) {
      const above = (place - 1) >>> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, scheduled)) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = scheduled;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      let child = heap[below];
      const right = heap[below + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        below += 1;
        child = right;
      }
      if (child === undefined || isBefore(last, child)) break;
      heap[place] = child;
      place = below;
    }
    heap[place] = last;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
