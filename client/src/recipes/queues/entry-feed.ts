/**
 * Gives a queue's entries to those of one process who want them: each to one of them, the first
 * ones first, and waits when there is none.
 *
 * However many wait here, one of them looks at the server and leaves its watch there; the others
 * wait for it, and one of them takes over when it leaves. An entry that somebody here tries to get
 * is kept from the others; when the attempt fails whoever looks is told, so that no entry is
 * forgotten. What was listed may be gone by now; the attempt to get it says so.
 */
import type { Client } from '../../api/client.js';
import type { WatchEvent } from '../../api/values.js';
import { Changes } from '../shared/changes.js';
import type { Within } from '../shared/persist.js';
import { changeOf } from '../shared/sight.js';
import type { Entry, EntrySource } from './entry-source.js';

export interface FeedOptions {
  /**
   * How many entries of one listing are given before the directory is listed again; without end by
   * default, for what is put later goes behind in a queue without ranks.
   */
  readonly perListing?: number | undefined;
  /**
   * Milliseconds since 1970, for entries whose rank is the time before which they are not given.
   */
  readonly now?: (() => number) | undefined;
}

/** So many attempts in vain, and the listing is taken for outdated. */
const FAILURES_MAX = 8;
/** Timers of the platform end below 2^31 ms; whoever waits longer looks again. */
const DUE_WAIT_MAX_MS = 2 ** 30;

export class EntryFeed {
  readonly #client: Client;
  readonly #source: EntrySource;
  readonly #perListing: number;
  readonly #now: (() => number) | undefined;
  /** Listed and not tried yet, in order. */
  #known: Entry[] = [];
  /** Paths of those that somebody here tries to get. */
  readonly #trying = new Set<string>();
  /** Of the last look: those it left out because somebody here tried to get them. */
  #leftOut = new Set<string>();
  #isLooking = false;
  #failures = 0;
  #given = 0;
  /** Told when nobody looks any more; told when whoever looks shall look again. */
  readonly #lookEnds = new Changes();
  readonly #offers = new Changes();

  constructor(client: Client, source: EntrySource, options: FeedOptions = {}) {
    this.#client = client;
    this.#source = source;
    this.#perListing = options.perListing ?? Number.POSITIVE_INFINITY;
    this.#now = options.now;
  }

  /** What `claim` makes of an entry; it gives null for one that is gone or somebody else's. */
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

  /**
   * The same without waiting: null when nothing was there in a reading that is newer than the
   * call.
   */
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

  /** What was listed is outdated: an entry is back at its old place. */
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
    // It may be free again, and whoever looked has not seen it.
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

  /** Returns when there is something to try, or may be. */
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
