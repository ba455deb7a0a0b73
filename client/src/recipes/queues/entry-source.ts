/**
 * Reads a queue's entries from its directory, and the locks of those that are being processed from
 * another one. look() lists the free entries and leaves a watch on both directories.
 *
 * A huge directory (ZooKeeper makes "a very bad queue source", says Curator's Tech Note 4) is never
 * listed completely if its names are in the order of the queue: its size is requested first, and
 * then its first pages. There are usually entries to deliver then, so no watch is needed. A caller
 * that can get none of them watches the directory with a persistent watch, which does not list
 * anything. Used by the feed.
 */
import { joinPath, NoNodeError, UnimplementedError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { WatchEvent, Watcher } from '../../api/values.js';
import { bounds, persist, type Within } from '../shared/persist.js';
import { lookAtChildren, type Sight } from '../shared/sight.js';
import { compareEntries, type EntryLayout, type EntryName } from './entry-names.js';

export interface Entry extends EntryName {
  readonly path: string;
  /** The path of its lock; null in a queue without locks. */
  readonly lockPath: string | null;
}

export interface Listing {
  /** The free entries, in order. */
  readonly entries: readonly Entry[];
  /** Resolves with the event of a change; null if there is no watch. */
  readonly changed: Promise<WatchEvent> | null;
  forget(): void;
}

export interface EntrySource {
  /** Leaves no watch on a huge directory, unless it must. */
  look(within: Within, mustWatch: boolean): Promise<Listing>;
  /** The same without a watch. With `isFresh`, the result is at least as new as the call. */
  list(within: Within, isFresh: boolean): Promise<readonly Entry[]>;
}

/** From this size on, only the first names of a directory are read, at least one page. */
export const HUGE_ENTRIES_MIN = 5_000;
const PAGE_ENTRIES = 1_000;

export interface Place {
  readonly directory: string;
  readonly locks: string | null;
  readonly layout: EntryLayout;
}

export class DirectorySource implements EntrySource {
  readonly #client: Client;
  readonly #place: Place;

  constructor(client: Client, place: Place) {
    this.#client = client;
    this.#place = place;
  }

  async look(within: Within, mustWatch: boolean): Promise<Listing> {
    const first = await this.#firstOfHuge(within);
    if (first.length > 0 && !mustWatch) return { entries: first, changed: null, forget() {} };
    if (first.length > 0) {
      try {
        return await this.#watchHuge(within);
      } catch (error) {
        // Before ZooKeeper 3.6, a watch requires a complete listing.
        if (!(error instanceof UnimplementedError)) throw error;
      }
    }
    const { directory, locks } = this.#place;
    const locked = locks === null ? null : await lookAtChildren(this.#client, locks, within);
    let entries: Sight<readonly string[]>;
    try {
      entries = await lookAtChildren(this.#client, directory, within);
    } catch (error) {
      locked?.forget();
      throw error;
    }
    return {
      entries: this.#freeOf(entries.seen ?? [], locked?.seen ?? []),
      changed: locked === null ? entries.changed : Promise.race([entries.changed, locked.changed]),
      forget: () => {
        entries.forget();
        locked?.forget();
      },
    };
  }

  async list(within: Within, isFresh: boolean): Promise<readonly Entry[]> {
    const { directory, locks } = this.#place;
    if (isFresh) {
      await persist(this.#client, within, () => this.#client.sync(directory, bounds(within)));
    }
    const first = await this.#firstOfHuge(within);
    if (first.length > 0) return first;
    const locked = locks === null ? [] : await this.#names(locks, within);
    return this.#freeOf(await this.#names(directory, within), locked);
  }

  /** Reads the first entries and watches the whole directory, including what follows them. */
  async #watchHuge(within: Within): Promise<Listing> {
    const { directory, locks } = this.#place;
    let onEvent: Watcher = () => {};
    const changed = new Promise<WatchEvent>((resolve) => {
      onEvent = resolve;
    });
    const handle = await persist(this.#client, within, () =>
      this.#client.addWatch(directory, (event) => onEvent(event), bounds(within)),
    );
    let locked: Sight<unknown> | null = null;
    const forget = () => {
      locked?.forget();
      handle.remove().catch(() => {
        // Without a connection there is no watch to remove on a server.
      });
    };
    try {
      locked = locks === null ? null : await lookAtChildren(this.#client, locks, within);
      const entries = await this.list(within, false);
      const ofLocks = locked === null ? [] : [locked.changed];
      return { entries, changed: Promise.race([changed, ...ofLocks]), forget };
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** Empty for a directory that may be listed completely, and if no entry is free. */
  async #firstOfHuge(within: Within): Promise<readonly Entry[]> {
    const { directory, locks, layout } = this.#place;
    if (!layout.isSortedByName) return [];
    const options = bounds(within);
    const stat = await persist(this.#client, within, () => this.#client.exists(directory, options));
    if (stat === null || stat.numChildren < HUGE_ENTRIES_MIN) return [];
    const locked = new Set(locks === null ? [] : await this.#names(locks, within));
    const entries: Entry[] = [];
    try {
      const names = this.#client.listChildren(directory, { ...options, pageSize: PAGE_ENTRIES });
      for await (const name of names) {
        if (!locked.has(name)) entries.push(...this.#freeOf([name], []));
        if (entries.length === PAGE_ENTRIES) break;
      }
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
    return entries.sort(compareEntries);
  }

  async #names(path: string, within: Within): Promise<readonly string[]> {
    try {
      const { children } = await persist(this.#client, within, () =>
        this.#client.getChildren(path, bounds(within)),
      );
      return children;
    } catch (error) {
      if (error instanceof NoNodeError) return [];
      throw error;
    }
  }

  #freeOf(names: readonly string[], lockedNames: readonly string[]): Entry[] {
    const { directory, locks, layout } = this.#place;
    const locked = new Set(lockedNames);
    const entries: Entry[] = [];
    for (const name of names) {
      const parsed = locked.has(name) ? null : layout.parse(name);
      if (parsed === null) continue;
      const lockPath = locks === null ? null : joinPath(locks, name);
      entries.push({ ...parsed, path: joinPath(directory, name), lockPath });
    }
    return entries.sort(compareEntries);
  }
}
