/**
 * The common base of the caches: they are started once and closed once, and have listeners,
 * iterators and a wait for the first complete content. Subclasses define the content and how it is
 * followed.
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

/** `T` is the type that its codec reads. */
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

  /** Whether it has contained, at some time, everything that existed when it was started. */
  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  /** Reads and follows from now on, in the background. Calling it again has no effect. */
  start(): void {
    this.#runner.start();
  }

  /**
   * Starts if necessary, and waits until it is initialized. WaitTimeoutError and
   * OperationAbortedError end only the wait.
   */
  async ready(options: WaitOptions = {}): Promise<void> {
    this.start();
    await this.#runner.until(options, () => (this.#isInitialized ? true : null));
  }

  /**
   * Calls the listener with each event, in order, when it is applied. Returns a function that
   * removes it.
   */
  listen(listener: (event: CacheEvent) => void): () => void {
    return this.#feed.listen(listener);
  }

  /**
   * Starts if necessary. Yields the content as a 'snapshot', then the events, through a bounded
   * queue. Applying the events one after the other yields the content at each moment. Ends with the
   * signal, the loop or close(); throws `failure`.
   */
  events(options: StreamOptions = {}): AsyncGenerator<CacheEvent, void> {
    if (!this.#runner.isStopped) this.start();
    const snapshot = () => ({ type: 'snapshot', nodes: this.snapshot() }) as const;
    return streamOf<CacheEvent>({ feed: this.#feed, runner: this.#runner, snapshot }, options);
  }

  /**
   * Decodes the data of a node that this cache contains or has reported; throws the errors of the
   * codec, such as InvalidDataError. The same node always yields the same object.
   */
  decode(node: CachedNode): T {
    return this.#decoder.value(node);
  }

  /** The decoded values by path. Those that the codec cannot read are omitted and logged. */
  values(): Map<string, T> {
    return this.#decoder.values(this.snapshot());
  }

  /** A copy of the content, by path. Parents come before their children. */
  abstract snapshot(): Map<string, CachedNode>;

  /**
   * Removes the watches and reports nothing more; the content remains readable. Calling it again
   * has no effect.
   */
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

  /** Runs in one session, and is called again in the next. */
  protected abstract follow(within: Within): Promise<void>;

  /** Releases what outlives follow(). */
  protected abstract release(): Promise<void>;

  protected tell(event: CacheEvent): void {
    if (!this.#runner.isStopped) this.#feed.tell(event);
  }

  /** Called when the first complete read has finished. */
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
