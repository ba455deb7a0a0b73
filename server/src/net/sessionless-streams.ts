/**
 * The open streams without a session: at the door, past it, or being told the answer to a word.
 *
 * Who has no session in time is dropped, and so is who ends its side before it said anything.
 * Strangers may open as many streams as the files allow, in one moment, and to drop one takes some
 * microseconds: so a turn drops a few, and the others follow in the next ones. Owned by the client
 * port, which tells of each stream that comes, goes, or gets a session.
 */
import { Fifo } from '@rookery/protocol';
import type { Timer, Timers } from './timers.js';

export interface SessionlessParts {
  readonly timeoutMs: number;
  readonly timers: Timers;
  /** It is dropped because it had no session in time. */
  onExpired(id: number): void;
}

interface Sessionless {
  readonly sinceMs: number;
  readonly drop: () => void;
}

/** How often the streams are looked through, in parts of their timeout. */
const CHECKS = 4;
/** About three ms. */
const DROPS_PER_TURN = 256;

export class SessionlessStreams {
  readonly #parts: SessionlessParts;
  /** By the time since which nothing happened, the longest first. */
  readonly #streams = new Map<number, Sessionless>();
  /** Those that are to be dropped. */
  readonly #due = new Fifo<number>();
  #check: Timer | null = null;
  #isDropping = false;
  #isClosed = false;

  constructor(parts: SessionlessParts) {
    this.#parts = parts;
  }

  /** It has just come. */
  add(id: number, drop: () => void): void {
    this.#streams.set(id, { sinceMs: this.#parts.timers.nowMs(), drop });
    this.#maybeStartCheck();
  }

  /** It is dropped in another way from now on; its time runs on. */
  dropBy(id: number, drop: () => void): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#streams.set(id, { ...stream, drop });
  }

  /** Something happened on it: its time begins anew. */
  renew(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#streams.set(id, { ...stream, sinceMs: this.#parts.timers.nowMs() });
  }

  /** It is gone, or has a session. */
  delete(id: number): void {
    this.#streams.delete(id);
  }

  /** It is dropped in one of the next turns. */
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

  /** At most as many as a turn drops; the next ones when these are dropped. */
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
