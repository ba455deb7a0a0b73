/**
 * What the caches have in common: started once, closed once, listeners and iterators, waiting for
 * the first full state. What is held and how it is followed is the subclass's.
 */
import type { Client } from '../../api/client.js';
import { BackgroundRecipe, type Supervised } from './background-recipe.js';
import type { CachedNode, CacheEvent } from './cache-values.js';
import { Decoder, type DecodingOptions } from './decoder.js';
import { Feed } from './feed.js';
import type { Within } from './persist.js';
import { inEachSession, Runner } from './runner.js';
import { type StreamOptions, streamOf } from './stream.js';
import type { WaitOptions } from './wait-scope.js';

/** `T` is what its codec reads data as. */
export abstract class CacheBase<T> extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #feed = new Feed<CacheEvent>();
  readonly #runner: Runner;
  readonly #decoder: Decoder<T>;
  #isInitialized = false;
  #closed: Promise<void> | null = null;

  constructor(client: Client, path: string, options: DecodingOptions<T>) {
    super();
    this.path = path;
    this.#decoder = new Decoder(options, client.log);
    const task = inEachSession(client, path, (within) => this.follow(within));
    this.#runner = new Runner({ client, recipe: new.target.name, path, task });
  }

  /** Whether it has held, at some time, all that stood when it was started. */
  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  /** Reads and follows from now on, in the background; idempotent. */
  start(): void {
    this.#runner.start();
  }

  /**
   * Starts if need be and waits until it is initialized. WaitTimeoutError and
   * OperationAbortedError end only the wait.
   */
  async ready(options: WaitOptions = {}): Promise<void> {
    this.start();
    await this.#runner.until(options, () => (this.#isInitialized ? true : null));
  }

  /** Calls back with each event, in order, as it is applied; gives what undoes it. */
  listen(listener: (event: CacheEvent) => void): () => void {
    return this.#feed.listen(listener);
  }

  /**
   * Starts if need be. What it holds, as a 'snapshot', then the events, in a bounded queue; applied
   * one after the other they give what it holds. Ends with the signal, the loop or close(); throws
   * `failure`.
   */
  events(options: StreamOptions = {}): AsyncGenerator<CacheEvent, void> {
    if (!this.#runner.isStopped) this.start();
    const snapshot = () => ({ type: 'snapshot', nodes: this.snapshot() }) as const;
    return streamOf<CacheEvent>({ feed: this.#feed, runner: this.#runner, snapshot }, options);
  }

  /**
   * What the codec reads the data of a znode as that this cache holds, or has told of; throws what
   * the codec does, such as InvalidDataError. The same object for the same node.
   */
  decode(node: CachedNode): T {
    return this.#decoder.value(node);
  }

  /**
   * The values of all that it holds, by path. What the codec cannot read is left out, and told in
   * the log.
   */
  values(): Map<string, T> {
    return this.#decoder.values(this.snapshot());
  }

  /** A copy of all that it holds, by path; parents come before their children. */
  abstract snapshot(): Map<string, CachedNode>;

  /** Takes the watches back and tells no more; what it holds stays readable. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#runner;
  }

  /** Runs in one session; begun anew in the next. */
  protected abstract follow(within: Within): Promise<void>;

  /** Takes back what outlives follow(). */
  protected abstract release(): Promise<void>;

  protected tell(event: CacheEvent): void {
    if (!this.#runner.isStopped) this.#feed.tell(event);
  }

  /** All that was to be read has been read. */
  protected tellInitialized(): void {
    if (this.#isInitialized) return;
    this.#isInitialized = true;
    this.#runner.changes.notify();
    this.tell({ type: 'initialized' });
  }

  async #close(): Promise<void> {
    await this.#runner.stop();
    await this.release();
  }
}
