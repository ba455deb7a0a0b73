/**
 * Bounds the open streams without a session: those not identified yet, in their handshake, or
 * getting the answer to a word.
 *
 * A stream that has no session in time is dropped, and so is one that ends its side before it sent
 * a whole word or frame. The time of a stream whose client waits for this member starts over. The
 * number of streams is bounded: when there is one too many, the oldest stream of the address with
 * the most is dropped (fair-slots.ts). Strangers may open as many streams as there are files at one
 * moment, and dropping one takes some microseconds, so one turn drops at most 256 that had no
 * session in time, and at most 256 that ended their side or lost their place. Owned by the client
 * port, which reports each stream that comes, goes, or gets a session.
 */
import { Fifo } from '@rookery/protocol';
import { addressGroup } from '../security/address-group.js';
import { type FairSlot, FairSlots } from './fair-slots.js';
import type { Timer, Timers } from './timers.js';

/** The port of the streams. */
export interface SessionlessOwner {
  /** Whether the stream's client can do nothing but wait for this member. */
  isClientWaiting(id: number): boolean;
  /** A stream has lost its place to another one, and is dropped. */
  onEvicted(id: number): void;
  /** Drops a stream that had no session in time. */
  onExpired(id: number): void;
}

interface Place extends FairSlot {
  readonly id: number;
}

interface Sessionless {
  readonly place: Place;
  readonly sinceMs: number;
  readonly drop: () => void;
}

/** A stream without a session is closed after this time. */
export const SESSIONLESS_TIMEOUT_MS = 10_000;
/** How often the streams are checked within their timeout. */
const CHECKS = 4;
/** Streams of each of the two kinds that one turn drops. To drop so many takes about 3 ms. */
const DROPS_PER_TURN = 256;

export class SessionlessStreams {
  readonly #owner: SessionlessOwner;
  readonly #timers: Timers;
  /** Ordered by their last activity, the oldest first. */
  readonly #streams = new Map<number, Sessionless>();
  readonly #places: FairSlots<Place>;
  /** Streams that are to be dropped. */
  readonly #due = new Fifo<number>();
  #check: Timer | null = null;
  #isDropping = false;
  #isClosed = false;

  constructor(owner: SessionlessOwner, timers: Timers, placesMax: number) {
    this.#owner = owner;
    this.#timers = timers;
    this.#places = new FairSlots(placesMax);
  }

  /** Adds a new stream. One without an address takes no place and is never evicted. */
  add(id: number, drop: () => void, address = ''): void {
    const place = { id, group: addressGroup(address) };
    this.#streams.set(id, { place, sinceMs: this.#timers.nowMs(), drop });
    const evicted = address === '' ? null : this.#places.add(place);
    if (evicted !== null) this.#drop(evicted);
    this.#maybeStartCheck();
  }

  /** Takes the place of the oldest stream of the address with the most, if there is one. */
  evict(): void {
    const evicted = this.#places.evict();
    if (evicted !== null) this.#drop(evicted);
  }

  #drop({ id }: Place): void {
    this.#owner.onEvicted(id);
    this.leave(id);
  }

  /** Changes how the stream is dropped; its time continues. */
  dropBy(id: number, drop: () => void): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#streams.set(id, { ...stream, drop });
  }

  /** Something happened on the stream, so its time starts over. */
  renew(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#streams.set(id, { ...stream, sinceMs: this.#timers.nowMs() });
  }

  /** Removes a stream that is gone or has a session. */
  delete(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#places.delete(stream.place);
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
    this.#check = this.#timers.after(SESSIONLESS_TIMEOUT_MS / CHECKS, () => {
      this.#check = null;
      this.#expire();
      this.#maybeStartCheck();
    });
  }

  /** Looks at no more streams than one turn drops. */
  #expire(): void {
    const nowMs = this.#timers.nowMs();
    let left = DROPS_PER_TURN;
    for (const [id, { place, sinceMs, drop }] of this.#streams) {
      if (nowMs - sinceMs < SESSIONLESS_TIMEOUT_MS) return;
      if (left === 0) {
        this.#timers.defer(() => this.#expire());
        return;
      }
      left -= 1;
      if (this.#owner.isClientWaiting(id)) {
        this.renew(id);
        continue;
      }
      this.#streams.delete(id);
      this.#places.delete(place);
      this.#owner.onExpired(id);
      drop();
    }
  }

  #dropSoon(): void {
    if (this.#isDropping || this.#due.length === 0) return;
    this.#isDropping = true;
    this.#timers.defer(() => {
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
