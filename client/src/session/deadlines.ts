/**
 * The deadlines of all pending requests on one timer.
 *
 * Requests of one timeout are in a list of their own, in which deadlines only grow; so a request
 * costs a few assignments when it comes and when it goes, and the next deadline is the least of the
 * lists' heads. Always: what expires was overdue, and was still so after the sockets were polled,
 * for a reply that waits there while the process is busy has not come too late.
 */
import type { Surroundings } from '../api/surroundings.js';

/** What the lists are linked by; a request's own fields, so that none is allocated for each. */
export interface Dated {
  deadlineMs: number;
  list: DeadlineList | null;
  previous: Dated | null;
  next: Dated | null;
  /** The deadline has passed; the request is in no list any more. */
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
  /** When the timer fires, or infinity. */
  #wakeAtMs = Number.POSITIVE_INFINITY;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Whether nothing has a deadline. */
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

  /** Idempotent. */
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

  /** No timer is left behind; nothing expires any more. */
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
