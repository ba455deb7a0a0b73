/**
 * The deadlines of all pending requests, on one timer.
 *
 * Requests with the same timeout share a list, in which deadlines only grow. A request therefore
 * costs a few assignments when it is added and removed, and the next deadline is the smallest one
 * at the head of a list. A request expires only if it is still overdue after the sockets were
 * polled: a reply that waited in a socket because the process was busy was not late.
 */
import type { Surroundings } from '../api/surroundings.js';

/**
 * The links of a list. They are fields of the request itself, so nothing is allocated for each one.
 */
export interface Dated {
  deadlineMs: number;
  list: DeadlineList | null;
  previous: Dated | null;
  next: Dated | null;
  /** Called when the deadline has passed, after the request was removed from its list. */
  expire(): void;
}

export interface DeadlineList {
  readonly timeoutMs: number;
  head: Dated | null;
  tail: Dated | null;
}

export class Deadlines {
  readonly #surroundings: Surroundings;
  readonly #lists = new Map<number, DeadlineList>();
  #cancelTimer: (() => void) | null = null;
  /** The time for which the timer is set, or infinity. */
  #wakeAtMs = Number.POSITIVE_INFINITY;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Whether no request has a deadline. */
  get isEmpty(): boolean {
    return this.#lists.size === 0;
  }

  add(dated: Dated, timeoutMs: number, nowMs: number): void {
    let list = this.#lists.get(timeoutMs);
    if (list === undefined) {
      list = { timeoutMs, head: null, tail: null };
      this.#lists.set(timeoutMs, list);
    }
    dated.deadlineMs = nowMs + timeoutMs;
    dated.list = list;
    dated.previous = list.tail;
    if (list.tail === null) list.head = dated;
    else list.tail.next = dated;
    list.tail = dated;
    if (dated.deadlineMs < this.#wakeAtMs) this.#arm(dated.deadlineMs);
  }

  /** Calling it again has no effect. */
  remove(dated: Dated): void {
    const { list, previous, next } = dated;
    if (list === null) return;
    if (previous === null) list.head = next;
    else previous.next = next;
    if (next === null) list.tail = previous;
    else next.previous = previous;
    dated.list = null;
    dated.previous = null;
    dated.next = null;
    if (list.head === null) this.#lists.delete(list.timeoutMs);
  }

  /** Cancels the timer, so that nothing expires any more. */
  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#wakeAtMs = Number.NEGATIVE_INFINITY;
  }

  #arm(atMs: number): void {
    this.#cancelTimer?.();
    this.#wakeAtMs = atMs;
    this.#cancelTimer = this.#surroundings.setTimer(atMs - this.#surroundings.nowMs(), () => {
      this.#cancelTimer = null;
      if (this.#earliestMs() > this.#surroundings.nowMs()) this.#rearm();
      else setImmediate(() => this.#expireOverdue());
    });
  }

  #expireOverdue(): void {
    if (this.#wakeAtMs === Number.NEGATIVE_INFINITY) return;
    const nowMs = this.#surroundings.nowMs();
    for (const list of [...this.#lists.values()]) {
      while (list.head !== null && list.head.deadlineMs <= nowMs) {
        const overdue = list.head;
        this.remove(overdue);
        overdue.expire();
      }
    }
    this.#rearm();
  }

  #rearm(): void {
    const earliestMs = this.#earliestMs();
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    if (earliestMs !== Number.POSITIVE_INFINITY) this.#arm(earliestMs);
  }

  #earliestMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const list of this.#lists.values()) {
      if (list.head !== null) earliestMs = Math.min(earliestMs, list.head.deadlineMs);
    }
    return earliestMs;
  }
}
