/**
 * Pages of children, of servers that have pages and of servers that have none.
 *
 * ZooKeeper answers with all names at once. A listing therefore stays open for a while after a page
 * of it, so that the next page continues it and the names are not sent again for each of them. What
 * comes and goes meanwhile may be missed, as between any two pages. How many are open is bounded.
 */
import type { Client } from '@rookery/client';

const LISTINGS_MAX = 8;
const OPEN_MS = 30_000;

interface Listing {
  readonly client: Client;
  readonly path: string;
  /** The last name of the page before. */
  readonly after: string;
  readonly names: AsyncIterator<string>;
  /** The name behind it, which told that there are more. */
  readonly ahead: string;
  readonly timer: NodeJS.Timeout;
}

interface NamePage {
  readonly names: readonly string[];
  readonly hasMore: boolean;
}

export class OpenListings {
  readonly #open: Listing[] = [];

  /** Rejects with what the client rejects with. */
  async page(
    client: Client,
    path: string,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<NamePage> {
    const open = this.#take(client, path, after);
    const names = open === null ? [] : [open.ahead];
    const rest =
      open?.names ?? client.listChildren(path, { startAfter: after })[Symbol.asyncIterator]();
    while (names.length <= limit) {
      const next = await rest.next();
      if (next.done === true) return { names, hasMore: false };
      names.push(next.value);
    }
    const ahead = names.pop() ?? '';
    this.#keep({ client, path, after: names.at(-1) ?? '', names: rest, ahead });
    return { names, hasMore: true };
  }

  #take(client: Client, path: string, after: string): Listing | null {
    const at = this.#open.findIndex((one) => {
      return one.client === client && one.path === path && one.after === after;
    });
    const [found = null] = at < 0 ? [] : this.#open.splice(at, 1);
    if (found !== null) clearTimeout(found.timer);
    return found;
  }

  #keep(listing: Omit<Listing, 'timer'>): void {
    if (this.#open.length >= LISTINGS_MAX) this.#end(this.#open[0]);
    const timer = setTimeout(() => this.#end(kept), OPEN_MS);
    timer.unref();
    const kept: Listing = { ...listing, timer };
    this.#open.push(kept);
  }

  #end(listing: Listing | undefined): void {
    const at = listing === undefined ? -1 : this.#open.indexOf(listing);
    if (listing === undefined || at < 0) return;
    this.#open.splice(at, 1);
    clearTimeout(listing.timer);
    void listing.names.return?.().catch(() => undefined);
  }
}
