/**
 * The open streams without a session: not identified yet, in their handshake, or getting the answer
 * to a word.
 *
 * A stream that has no session in time is dropped, and so is one that ends its side before it sent
 * anything. Strangers may open as many streams as there are files at one moment, and dropping one
 * takes some microseconds, so each turn drops only a few. Owned by the client port, which reports
 * each stream that comes, goes, or gets a session.
 */
import { Fifo } from '@rookery/protocol';
import type { Timer, Timers } from './timers.js';

export interface SessionlessParts {
  readonly timeoutMs: number;
  readonly timers: Timers;
  /** Drops a stream that had no session in time. */
  onExpired(id: number): void;
}

interface Sessionless {
  readonly sinceMs: number;
  readonly drop: () => void;
}

/** How often the streams are checked within their timeout. */
const CHECKS = 4;
/** Streams dropped in one turn, which takes about 3 ms. */
const DROPS_PER_TURN = 256;

export class SessionlessStreams {
  readonly #parts: SessionlessParts;
  /** Ordered by their last activity, the oldest first. */
  readonly #streams = new Map<number, Sessionless>();
  /** Streams that are to be dropped. */
  readonly #due = new Fifo<number>();
  #check: Timer | null = null;
  #isDropping = false;
  #isClosed = false;

  constructor(parts: SessionlessParts) {
    this.#parts = parts;
  }

  /** Adds a new stream. */
  add(id: number, drop: () => void): void {
    this.#streams.set(id, { sinceMs: this.#parts.timers.nowMs(), drop });
    this.#maybeStartCheck();
  }

  /** Changes how the stream is dropped; its time continues. */
  dropBy(id: number, drop: () => void): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#streams.set(id, { ...stream, drop });
  }

  /** Something happened on the stream, so its time begins anew. */
  renew(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#streams.set(id, { ...stream, sinceMs: this.#parts.timers.nowMs() });
  }

  /** Removes a stream that is gone or has a session. */
  delete(id: number): void {
    this.#streams.delete(id);
  }

  /** Drops the stream in one of the next turns. */
  leave(id: number): void {
    this.#due.push(id);
    this.#dropSoon();
  }

  close(): void {
    this.#isClosed = true;
    this.#check?.cancel();
    this.#check = null;
  }

  #maybeStartCheck(): void {
    if (this.#check !== null || this.#streams.size === 0 || this.#isClosed) return;
    this.#check = this.#parts.timers.after(this.#parts.timeoutMs / CHECKS, () => {
      this.#check = null;
      this.#expire();
      this.#maybeStartCheck();
    });
  }

  /** Takes at most as many as one turn drops. */
  #expire(): void {
    const { timers, timeoutMs, onExpired } = this.#parts;
    const nowMs = timers.nowMs();
    let left = DROPS_PER_TURN;
    for (const [id, { sinceMs, drop }] of this.#streams) {
      if (nowMs - sinceMs < timeoutMs) return;
      if (left === 0) {
        timers.defer(() => this.#expire());
        return;
      }
      left -= 1;
      this.#streams.delete(id);
      onExpired(id);
      drop();
    }
  }

  #dropSoon(): void {
    if (this.#isDropping || this.#due.length === 0) return;
    this.#isDropping = true;
    this.#parts.timers.defer(() => {
      this.#isDropping = false;
      for (let left = DROPS_PER_TURN; left > 0 && this.#due.length > 0; left--) {
        this.#dropDue(this.#due.shift());
      }
      this.#dropSoon();
    });
  }

  #dropDue(id: number | undefined): void {
    if (id === undefined) return;
    this.#streams.get(id)?.drop();
  }
}
