/**
 * Lists all names of a directory in code-unit order, page by page if the server supports that.
 *
 * A small directory is listed by a single getChildren, because it has fewer names than a page and
 * fits into a frame. Only before it lists a large one does the client find out whether the server
 * has pages (offer.ts). A server without pages is asked for all names at once, which fails if they
 * do not fit into a frame. After a lost connection, a page is requested again, because its start is
 * known. Called by `client.listChildren()`.
 */
import { NoNodeError, OperationTimeoutError, UnimplementedError } from '@rookery/protocol';
import type { Client, ListOptions } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import { exponentialBackoff, type RetryPolicy } from '../api/retry-policy.js';
import type { OperationOptions } from '../api/values.js';
import { Offer } from './offer.js';
import type { ProbeAnswer } from './operation-probe.js';
import { operationOptions } from './options.js';
import { retry } from './retry.js';

export interface ChildrenPage {
  /** At most `limit` names that follow `startAfter`, in code-unit order. */
  readonly children: readonly string[];
  /** Whether there are further names after the last one. */
  readonly more: boolean;
}

/** What only the session can do. */
export interface PageSource {
  /**
   * Uses operation 10001 on the session's connection, so only call it if the server is known to
   * support it.
   */
  getPage(request: PageRequest, options: OperationOptions): Promise<ChildrenPage>;
  /** See probeOperation. */
  probe(): Promise<ProbeAnswer>;
}

export interface PageRequest {
  readonly path: string;
  readonly startAfter: string;
  readonly limit: number;
}

const PAGE_SIZE_DEFAULT = 10_000;
const PAGE_SIZE_MAX = 100_000;
/** Even with long names, fewer fit into a frame of 1 MB. */
const LARGE_MIN = 1_000;
const POLICY = exponentialBackoff({ baseMs: 50, maxMs: 2_000, attemptsMax: 8 });

/** Lists children for one client, and remembers what its servers support. */
export class ChildLister {
  readonly #client: ListingClient;
  readonly #source: PageSource;
  readonly #pages: Offer;

  constructor(client: ListingClient, source: PageSource) {
    this.#client = client;
    this.#source = source;
    this.#pages = new Offer(client, () => source.probe());
  }

  /** See `Client.listChildren`. Throws NoNodeError if there is no such znode. */
  async *list(path: string, options: ListOptions = {}): AsyncGenerator<string, void> {
    const { pageSize = PAGE_SIZE_DEFAULT, startAfter: first = '', ...operation } = options;
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX) {
      throw new OptionError('pageSize', `is ${pageSize}, but must be from 1 to ${PAGE_SIZE_MAX}`);
    }
    let startAfter = first;
    while (await this.#needsPages(path, pageSize, operation)) {
      const page = await this.#page({ path, startAfter, limit: pageSize }, operation);
      // Another session has begun, perhaps with other servers, so the check is repeated.
      if (page === null) continue;
      yield* page.children;
      const last = page.children.at(-1);
      if (!page.more || last === undefined) return;
      startAfter = last;
    }
    const all = await this.#read(operation, (given) => this.#client.getChildren(path, given));
    yield* all.children.filter((name) => name > startAfter).sort();
  }

  async #needsPages(path: string, pageSize: number, operation: OperationOptions): Promise<boolean> {
    const { known } = this.#pages;
    if (known !== null) return known.offered;
    const stat = await this.#read(operation, (given) => this.#client.exists(path, given));
    if (stat === null) throw new NoNodeError(path);
    if (stat.numChildren < Math.min(LARGE_MIN, pageSize)) return false;
    // Without a clear answer, all names are requested at once.
    return await this.#pages.ask(operation);
  }

  /** Null if the server turns out not to support pages, or that is no longer known. */
  async #page(request: PageRequest, operation: OperationOptions): Promise<ChildrenPage | null> {
    let asked: bigint | null = null;
    try {
      return await this.#read(operation, async (given) => {
        const { known } = this.#pages;
        if (known?.offered !== true) return null;
        const { session } = known;
        asked = session;
        return await this.#source.getPage(request, { session, ...given });
      });
    } catch (error) {
      if (!(error instanceof UnimplementedError)) throw error;
      if (asked !== null) this.#pages.refused(asked);
      return null;
    }
  }

  /**
   * Reads do not depend on a session, so they continue in the next one, unless the caller names
   * one. A request that has run out of its time is not made again: `timeoutMs` is what the caller
   * waits for a silent ensemble, and not a part of it.
   */
  #read<T>(
    operation: OperationOptions,
    read: (options: OperationOptions) => Promise<T>,
  ): Promise<T> {
    const { signal, session, timeoutMs } = operation;
    const deadline = timeoutMs === undefined ? {} : { timeoutMs };
    let isOverTime = false;
    const attempt = async (_: number, given: OperationOptions) => {
      try {
        return await read({ ...deadline, ...operationOptions(given) });
      } catch (error) {
        isOverTime = error instanceof OperationTimeoutError;
        throw error;
      }
    };
    const policy: RetryPolicy = (...given) => (isOverTime ? null : POLICY(...given));
    return retry(this.#client, policy, attempt, { signal, session: session ?? 'any' });
  }
}

type ListingClient = Pick<
  Client,
  'connected' | 'exists' | 'getChildren' | 'onState' | 'session' | 'state' | 'surroundings'
>;
