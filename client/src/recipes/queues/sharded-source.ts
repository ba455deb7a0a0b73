/**
 * The entries of all shards of a sharded queue, those with the lowest numbers first. look() leaves
 * watches on the list of shards and on each shard.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { WatchEvent } from '../../api/values.js';
import { bounds, persist, type Within } from '../shared/persist.js';
import { lookAtChildren } from '../shared/sight.js';
import { CURATOR_ENTRY, compareEntries, PlainLayout } from './entry-names.js';
import { DirectorySource, type Entry, type EntrySource, type Listing } from './entry-source.js';

const SHARD = /^queue-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class ShardedSource implements EntrySource {
  readonly layout = PlainLayout;
  readonly #client: Client;
  readonly #path: string;
  readonly #locks: string | null;

  constructor(
    client: Client,
    { path, locks }: { readonly path: string; readonly locks: string | null },
  ) {
    this.#client = client;
    this.#path = path;
    this.#locks = locks;
  }

  async look(within: Within, mustWatch: boolean): Promise<Listing> {
    const shards = await lookAtChildren(this.#client, this.#path, within);
    const listings: Listing[] = [];
    const forget = () => {
      shards.forget();
      for (const listing of listings) listing.forget();
    };
    try {
      for (const name of (shards.seen ?? []).filter(isShard)) {
        listings.push(await this.#sourceOf(name).look(within, mustWatch));
      }
    } catch (error) {
      forget();
      throw error;
    }
    const changes: Promise<WatchEvent>[] = listings.flatMap(({ changed }) => changed ?? []);
    const isWatched = changes.length === listings.length;
    return {
      entries: listings.flatMap(({ entries }) => entries).sort(compareEntries),
      changed: isWatched ? Promise.race([shards.changed, ...changes]) : null,
      forget,
    };
  }

  async list(within: Within, isFresh: boolean): Promise<readonly Entry[]> {
    if (isFresh) {
      await persist(this.#client, within, () => this.#client.sync(this.#path, bounds(within)));
    }
    const entries: Entry[] = [];
    for (const name of await shardsIn(this.#client, this.#path, within)) {
      entries.push(...(await this.#sourceOf(name).list(within, false)));
    }
    return entries.sort(compareEntries);
  }

  #sourceOf(name: string): DirectorySource {
    return new DirectorySource(this.#client, {
      directory: joinPath(this.#path, name),
      locks: this.#locks === null ? null : joinPath(this.#locks, name),
      layout: this.layout,
    });
  }
}

/** The names of the shards, none if there is no queue yet. */
export async function shardsIn(
  client: Client,
  path: string,
  within: Within,
): Promise<readonly string[]> {
  try {
    const { children } = await persist(client, within, () =>
      client.getChildren(path, bounds(within)),
    );
    return children.filter(isShard);
  } catch (error) {
    if (error instanceof NoNodeError) return [];
    throw error;
  }
}

function isShard(name: string): boolean {
  return name.startsWith(CURATOR_ENTRY) && SHARD.test(name);
}
