/**
 * PersistentWatcher: receives every change of a znode or of a whole subtree for as long as it is
 * open, as Curator's PersistentWatcher.
 *
 * **Guarantee.** While it is connected and the watch is set, each change is reported once and in
 * order. When changes may have been missed, a 'resync' is reported, and a read after that shows
 * them. After close() nothing is reported, and no watch is left behind on the client or the server,
 * even if it is closed while the watch is being set.
 *
 * **Znodes.** None; the path need not exist. ZooKeeper before 3.6 does not support such watches
 * (UnimplementedError ends the recipe), and before 3.9 it does not send zxids.
 *
 * **Suspended.** Nothing is reported. The client sets the watch again on the next connection:
 * 'resync'. **Lost.** The same happens in the next session. If somebody removes the watch
 * (removeWatches), 'removed' is reported, the watch is set again, and then 'resync' is reported.
 */
import type { Client, WatchHandle } from '../api/client.js';
import type { WatchEvent } from '../api/values.js';
import { ignoreIfDisconnected } from './shared/background.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { Feed } from './shared/feed.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { inEachSession, Runner } from './shared/runner.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface PersistentWatcherOptions {
  /**
   * Whether to watch the path and everything below it (without 'childrenChanged'), or only the
   * path, the default.
   */
  readonly recursive?: boolean | undefined;
}

export class PersistentWatcher extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #client: Client;
  readonly #recursive: boolean;
  readonly #feed = new Feed<WatchEvent>();
  readonly #runner: Runner;
  #handle: WatchHandle | null = null;
  #wasTakenAway = false;
  #closed: Promise<void> | null = null;

  constructor(client: Client, path: string, options: PersistentWatcherOptions = {}) {
    super();
    this.path = path;
    this.#client = client;
    this.#recursive = options.recursive ?? false;
    const task = inEachSession(client, path, (within) => this.#stand(within));
    this.#runner = new Runner({ client, recipe: 'PersistentWatcher', path, task });
  }

  /** Whether the watch has been set. Without a connection nothing is reported even so. */
  get isStanding(): boolean {
    return this.#handle !== null;
  }

  /** Sets the watch, in the background. Calling it again has no effect. */
  start(): void {
    this.#runner.start();
  }

  /**
   * Starts if necessary, and waits until the watch is set, so that every later change is reported.
   */
  async whenStanding(options: WaitOptions = {}): Promise<void> {
    this.start();
    await this.#runner.until(options, () => (this.isStanding ? true : null));
  }

  /** Calls the listener with each event. Returns a function that removes it. */
  listen(listener: (event: WatchEvent) => void): () => void {
    return this.#feed.listen(listener);
  }

  /** Removes the watch without waiting for a connection. Calling it again has no effect. */
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

  async #close(): Promise<void> {
    await this.#runner.stop();
    const handle = this.#handle;
    this.#handle = null;
    if (handle !== null) await ignoreIfDisconnected(this.#client, handle.remove());
  }

  /**
   * The client keeps the watch across sessions; only a watch that was removed must be set again.
   */
  async #stand(within: Within): Promise<void> {
    for (;;) {
      if (this.#handle === null) await this.#add(within);
      else await this.#runner.changes.wait(within.signal);
    }
  }

  async #add(within: Within): Promise<void> {
    const options = { ...bounds(within), recursive: this.#recursive };
    const watch = { isTakenAway: false };
    const watcher = (event: WatchEvent) => {
      if (event.type === 'removed') watch.isTakenAway = true;
      this.#onEvent(event);
    };
    const handle = await persist(this.#client, within, () =>
      this.#client.addWatch(this.path, watcher, options),
    );
    // Both replies may arrive together, so the watch may be removed before its handle is here.
    if (watch.isTakenAway) return;
    this.#handle = handle;
    this.#runner.changes.notify();
    if (!this.#wasTakenAway) return;
    this.#wasTakenAway = false;
    this.#onEvent({ type: 'resync', path: this.path, reason: 're-added' });
  }

  #onEvent(event: WatchEvent): void {
    if (this.#runner.isStopped) return;
    if (event.type === 'removed') {
      this.#handle = null;
      this.#wasTakenAway = true;
      this.#runner.changes.notify();
    }
    this.#feed.tell(event);
  }
}
