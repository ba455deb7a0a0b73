/**
 * PersistentWatcher: hears of every change of a znode, or of a whole subtree, for as long as it is
 * open: Curator's PersistentWatcher.
 *
 * **Guarantee.** From the moment it stands, each change is told once and in order while there is a
 * connection; where changes may have been missed a 'resync' says so, and whoever then reads sees
 * them. Nothing is told after close(), and no watch is left behind on the client or the server,
 * also when it is closed while the watch is being set.
 *
 * **Znodes.** None; the path need not exist. Servers before 3.6 have no such watches
 * (UnimplementedError ends it); those before 3.9 tell no zxids.
 *
 * **Suspended.** Nothing is heard. The client sets the watch again on the next connection:
 * 'resync'. **Lost.** The same in the next session. If somebody takes the watch away
 * (removeWatches), that is told ('removed'), it is set again, and then 'resync' is told.
 */
import type { Client, WatchHandle } from '../api/client.js';
import type { WatchEvent } from '../api/values.js';
import { unlessAway } from './shared/background.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { Feed } from './shared/feed.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { inEachSession, Runner } from './shared/runner.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface PersistentWatcherOptions {
  /** The path and all below it (without 'childrenChanged'), or the path only, the default. */
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

  /** Whether it has been set; while there is no connection nothing is heard all the same. */
  get isStanding(): boolean {
    return this.#handle !== null;
  }

  /** Sets the watch, in the background; idempotent. */
  start(): void {
    this.#runner.start();
  }

  /** Starts if need be and waits until the watch stands: every later change is told. */
  async whenStanding(options: WaitOptions = {}): Promise<void> {
    this.start();
    await this.#runner.until(options, () => (this.isStanding ? true : null));
  }

  /** Calls back with each event; gives what undoes it. */
  listen(listener: (event: WatchEvent) => void): () => void {
    return this.#feed.listen(listener);
  }

  /** Idempotent; never waits for a connection. */
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
    if (handle !== null) await unlessAway(this.#client, handle.remove());
  }

  /** The client keeps the watch over sessions; only what was taken away is set again. */
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
    // Both replies may come together: it is taken away before the handle is here.
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
