/**
 * All names of a directory in code-unit order, page by page where the server has pages.
 *
 * A small directory is listed by one getChildren: it fits in a frame. Only before a large one is it
 * found out whether the server has pages, once for a session and never over the session's own
 * connection (page-probe.ts); a server without them is asked for all names at once, which fails
 * where they do not fit in a frame. A page is asked for again after a lost connection: it is known
 * where it begins. Called by `client.listChildren()`.
 */
import { NoNodeError, UnimplementedError } from '@rookery/protocol';
import type { Client, ListOptions } from '../api/client.js';
import type { OperationOptions } from '../api/values.js';
import { OptionError } from '../errors.js';
import { operationOptions } from './options.js';
import { retry } from './retry.js';
import { exponentialBackoff } from './retry-policy.js';

export interface ChildrenPage {
  /** Names above `startAfter`, in code-unit order, at most `limit`. */
  readonly children: readonly string[];
  /** There are names above the last one. */
  readonly more: boolean;
}

/** What only the session itself can do. */
export interface PageSource {
  /** By operation 10001, on the session's connection; only when it is known there. */
  getPage(request: PageRequest, options: OperationOptions): Promise<ChildrenPage>;
  /** See probePages. */
  probe(): Promise<boolean | null>;
}

export interface PageRequest {
  readonly path: string;
  readonly startAfter: string;
  readonly limit: number;
}

const PAGE_SIZE_DEFAULT = 10_000;
const PAGE_SIZE_MAX = 100_000;
/** Even with long names they fit in a frame of 1 MB. */
const SMALL_MAX = 1_000;
const PROBES_MAX = 3;
const POLICY = exponentialBackoff({ baseMs: 50, maxMs: 2_000, attemptsMax: 8 });

/** Of one client: what it knows about its servers. */
export class ChildLister {
  readonly #client: ListingClient;
  readonly #source: PageSource;
  /** The session for which it is known whether its servers have pages. */
  #known: { readonly session: bigint; readonly pages: boolean } | null = null;

  constructor(client: ListingClient, source: PageSource) {
    this.#client = client;
    this.#source = source;
  }

  /** See `Client.listChildren`. NoNodeError when there is no such znode. */
  async *list(path: string, options: ListOptions = {}): AsyncGenerator<string, void> {
    const { pageSize = PAGE_SIZE_DEFAULT, ...operation } = options;
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX) {
      throw new OptionError('pageSize', `is ${pageSize}, not 1 to ${PAGE_SIZE_MAX}`);
    }
    let startAfter = '';
    while (await this.#needsPages(path, operation)) {
      const page = await this.#page({ path, startAfter, limit: pageSize }, operation);
      // Another session has begun, maybe with other servers: look again.
      if (page === null) continue;
      yield* page.children;
      const last = page.children.at(-1);
      if (!page.more || last === undefined) return;
      startAfter = last;
    }
    const all = await this.#read(operation, (given) => this.#client.getChildren(path, given));
    yield* all.children.filter((name) => name > startAfter).sort();
  }

  async #needsPages(path: string, operation: OperationOptions): Promise<boolean> {
    const known = this.#knownPages();
    if (known !== null) return known;
    const stat = await this.#read(operation, (given) => this.#client.exists(path, given));
    if (stat === null) throw new NoNodeError(path);
    if (stat.numChildren <= SMALL_MAX) return false;
    return await this.#ask(operation);
  }

  /** When nobody can tell, it is tried without pages. */
  async #ask(operation: OperationOptions): Promise<boolean> {
    const { signal } = operation;
    for (let attempt = 0; attempt < PROBES_MAX; attempt++) {
      const session = this.#client.session?.id;
      const pages = session === undefined ? null : await this.#source.probe();
      if (pages === null || session === undefined) {
        await this.#client.connected(signal === undefined ? {} : { signal });
        continue;
      }
      this.#known = { session, pages };
      return this.#knownPages() ?? false;
    }
    return false;
  }

  #knownPages(): boolean | null {
    const known = this.#known;
    return known !== null && known.session === this.#client.session?.id ? known.pages : null;
  }

  /** Null when the server turns out to have none, or nobody knows any more. */
  async #page(request: PageRequest, operation: OperationOptions): Promise<ChildrenPage | null> {
    const session = this.#known?.session;
    try {
      return await this.#read(operation, async (given) => {
        if (this.#knownPages() !== true) return null;
        const bound = session === undefined ? {} : { session };
        return await this.#source.getPage(request, { ...bound, ...given });
      });
    } catch (error) {
      if (!(error instanceof UnimplementedError)) throw error;
      if (session !== undefined) this.#known = { session, pages: false };
      return null;
    }
  }

  /** Reads depend on no session, so they go on in the next one unless the caller names one. */
  #read<T>(
    operation: OperationOptions,
    read: (options: OperationOptions) => Promise<T>,
  ): Promise<T> {
    const { signal, session, timeoutMs } = operation;
    const deadline = timeoutMs === undefined ? {} : { timeoutMs };
    const attempt = (_: number, given: OperationOptions) =>
      read({ ...deadline, ...operationOptions(given) });
    const bounds = signal === undefined ? {} : { signal };
    return retry(this.#client, POLICY, attempt, { ...bounds, session: session ?? 'any' });
  }
}

type ListingClient = Pick<
  Client,
  'connected' | 'exists' | 'getChildren' | 'onState' | 'session' | 'state' | 'surroundings'
>;
