/**
 * Distributes the entries of a queue among the callers in this process, each entry to one of them,
 * in order. Callers wait if there is none.
 *
 * However many callers wait, only one of them lists the directory and leaves a watch; the others
 * wait for its result, and one of them takes over if it stops waiting. While one caller tries to
 * claim an entry, the others do not see it. If the claim fails, the caller that lists is notified,
 * so that no entry is forgotten. An entry in the listing may already be gone; the attempt to claim
 * it shows that.
 */
import type { Client } from '../../api/client.js';
import type { WatchEvent } from '../../api/values.js';
import { Changes } from '../shared/changes.js';
import type { Within } from '../shared/persist.js';
import { changeOf } from '../shared/sight.js';
import type { Entry, EntrySource } from './entry-source.js';

export interface FeedOptions {
  /**
   * How many entries of one listing are delivered before the directory is listed again; unlimited
   * by default, because new entries go to the end of a queue without ranks.
   */
  readonly perListing?: number | undefined;
  /**
   * The clock, in milliseconds since 1970, for entries whose rank is the earliest time of their
   * delivery.
   */
  readonly now?: (() => number) | undefined;
}

/** After so many failed claims, the listing counts as outdated. */
const FAILURES_MAX = 8;
/** The maximum delay of Node's timers is below 2^31 ms; longer waits list again after this time. */
const DUE_WAIT_MAX_MS = 2 ** 30;

export class EntryFeed {
  readonly #client: Client;
  readonly #source: EntrySource;
  readonly #perListing: number;
  readonly #now: (() => number) | undefined;
  /** Entries that are listed and not tried yet, in order. */
  #known: Entry[] = [];
  /** The paths of entries that a caller in this process tries to claim. */
  readonly #trying = new Set<string>();
  /**
   * Entries that the last listing omitted because a caller in this process was trying to claim
   * them.
   */
  #leftOut = new Set<string>();
  #isLooking = false;
  #failures = 0;
  #given = 0;
  /** Notified when nobody lists any more, and when the caller that lists should list again. */
  readonly #lookEnds = new Changes();
  readonly #offers = new Changes();

  constructor(client: Client, source: EntrySource, options: FeedOptions = {}) {
    this.#client = client;
    this.#source = source;
    this.#perListing = options.perListing ?? Number.POSITIVE_INFINITY;
    this.#now = options.now;
  }

  /**
   * Resolves with the result of `claim` for an entry. `claim` returns null if the entry is gone or
   * belongs to another consumer.
   */
  async next<T>(within: Within, claim: (entry: Entry) => Promise<T | null>): Promise<T> {
    for (;;) {
      const claimed = await this.#claimKnown(within, claim);
      if (claimed !== null) return claimed;
      if (this.#isLooking) {
        await this.#lookEnds.wait(within.signal);
        continue;
      }
      this.#isLooking = true;
      try {
        await this.#lookAndWait(within);
      } finally {
        this.#isLooking = false;
        this.#lookEnds.notify();
      }
    }
  }

  /** The same without waiting: null if a listing newer than the call contained no free entry. */
  async nextNow<T>(within: Within, claim: (entry: Entry) => Promise<T | null>): Promise<T | null> {
    const known = await this.#claimKnown(within, claim);
    if (known !== null) return known;
    for (const isFresh of [false, true]) {
      this.#accept(await this.#source.list(within, isFresh));
      const claimed = await this.#claimKnown(within, claim);
      if (claimed !== null) return claimed;
    }
    return null;
  }

  /** The listing is outdated, because an entry was given back to its old position. */
  forgetKnown(): void {
    this.#known = [];
  }

  async #claimKnown<T>(
    within: Within,
    claim: (entry: Entry) => Promise<T | null>,
  ): Promise<T | null> {
    for (;;) {
      within.signal.throwIfAborted();
      const entry = this.#shift();
      if (entry === null) return null;
      const claimed = await this.#try(entry, claim);
      if (claimed !== null) return claimed;
    }
  }

  async #try<T>(entry: Entry, claim: (entry: Entry) => Promise<T | null>): Promise<T | null> {
    this.#trying.add(entry.path);
    let claimed: T | null = null;
    try {
      claimed = await claim(entry);
      return claimed;
    } finally {
      this.#trying.delete(entry.path);
      if (claimed === null) this.#onFailure(entry);
      else this.#onSuccess();
    }
  }

  #onSuccess(): void {
    this.#failures = 0;
    this.#given += 1;
    if (this.#given >= this.#perListing) this.#known = [];
  }

  #onFailure({ path }: Entry): void {
    this.#failures += 1;
    if (this.#failures >= FAILURES_MAX) this.#known = [];
    // The entry may be free again, and the last listing omitted it.
    if (this.#leftOut.has(path)) this.#offers.notify();
  }

  #shift(): Entry | null {
    const [first] = this.#known;
    if (first === undefined || this.#dueInMs(first) > 0) return null;
    this.#known.shift();
    return this.#trying.has(first.path) ? this.#shift() : first;
  }

  #accept(entries: readonly Entry[]): void {
    this.#leftOut = new Set(this.#trying);
    this.#known = entries.filter(({ path }) => !this.#trying.has(path));
    this.#failures = 0;
    this.#given = 0;
  }

  #dueInMs({ rank }: Entry): number {
    return this.#now === undefined ? 0 : rank - this.#now();
  }

  /** Returns when there is, or may be, an entry to try. */
  async #lookAndWait(within: Within): Promise<void> {
    const offer = this.#offers.next();
    try {
      await this.#lookUnlessOffered(offer.happens, within);
    } finally {
      offer.forget();
    }
  }

  async #lookUnlessOffered(offered: Promise<void>, within: Within): Promise<void> {
    for (const mustWatch of [false, true]) {
      const listing = await this.#source.look(within, mustWatch);
      try {
        this.#accept(listing.entries);
        const [first] = this.#known;
        const dueInMs = first === undefined ? null : this.#dueInMs(first);
        if (dueInMs !== null && dueInMs <= 0) return;
        const { changed } = listing;
        if (changed === null) continue;
        await this.#untilChange({ changed, offered, dueInMs }, within);
        return;
      } finally {
        listing.forget();
      }
    }
  }

  async #untilChange(expected: Expected, within: Within): Promise<void> {
    const { offered, dueInMs } = expected;
    const { surroundings } = this.#client;
    let cancel = () => {};
    const again: WatchEvent = { type: 'childrenChanged', path: '', zxid: null };
    const due = new Promise<WatchEvent>((resolve) => {
      if (dueInMs === null) return;
      const delayMs = Math.min(dueInMs, DUE_WAIT_MAX_MS);
      cancel = surroundings.setTimer(delayMs, () => resolve(again));
    });
    const changed = Promise.race([expected.changed, offered.then(() => again), due]);
    try {
      await changeOf({ seen: null, changed, forget: () => {} }, within);
    } finally {
      cancel();
    }
  }
}

interface Expected {
  readonly changed: Promise<WatchEvent>;
  readonly offered: Promise<void>;
  readonly dueInMs: number | null;
}
