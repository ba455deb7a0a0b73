/**
 * Reloads certificates and secrets when their files change.
 *
 * `current` is always the last content that loaded without a problem. A changed file is noticed
 * within two intervals, whether it was written in place, renamed or reached by a link that now
 * points elsewhere. Files that are written one after the other (a certificate, then its key) are
 * loaded once they have been quiet for an interval. A problem is logged once per change, the former
 * content stays in use, and `isStale` is true until a load succeeds. Nothing is watched before
 * `start` and after `close`.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorMessage } from '@rookery/protocol';
import type { Logger } from 'pino';

/** A member's timers, as far as a watch needs them. */
export interface WatchTimers {
  after(delayMs: number, action: () => void): { cancel(): void };
}

/** Soon enough for an operator who waits, and cheap for the disk. */
const INTERVAL_MS = 2_000;

export class WatchedFiles<T> {
  readonly #name: string;
  readonly #paths: readonly string[];
  readonly #load: () => T;
  readonly #timers: WatchTimers;
  readonly #logger: Logger;
  readonly #listeners: ((content: T) => void)[] = [];
  readonly #staleListeners: ((isStale: boolean) => void)[] = [];
  #current: T;
  #isStale = false;
  /** The state of the files when loading them succeeded or failed last. */
  #loaded: string;
  /** The state of the files at the last look. */
  #seen: string | null = null;
  #timer: { cancel(): void } | null = null;
  #isClosed = false;

  /**
   * `name` is that of the files in the log. `load` reads them, for the first time in here, and
   * throws what is to be logged; the constructor throws what it throws.
   */
  constructor(
    name: string,
    paths: readonly string[],
    load: () => T,
    timers: WatchTimers,
    logger: Logger,
  ) {
    this.#name = name;
    this.#paths = paths;
    this.#load = load;
    this.#timers = timers;
    this.#logger = logger;
    // The state is read first, so that a change in between is loaded once more, and not missed.
    this.#loaded = paths.map(stateNow).join('\n');
    this.#current = load();
  }

  get current(): T {
    return this.#current;
  }

  /** Whether the files have changed into something that cannot be used. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** `listener` is called with each new content, and never with the first one. */
  onChange(listener: (content: T) => void): void {
    this.#listeners.push(listener);
  }

  /** `listener` is called with each change of `isStale`. */
  onStale(listener: (isStale: boolean) => void): void {
    this.#staleListeners.push(listener);
  }

  /** Starts to look. What has changed since the constructor is noticed, too. */
  start(): void {
    this.#lookLater();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#timer = this.#timers.after(INTERVAL_MS, () => {
      void this.#look().then(() => this.#lookLater());
    });
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const now = await stateOf(this.#paths);
    if (this.#isClosed) return;
    const isQuiet = now === this.#seen;
    this.#seen = now;
    if (isQuiet && now !== this.#loaded) this.#reload(now);
  }

  #reload(state: string): void {
    const files = this.#name;
    this.#loaded = state;
    try {
      this.#current = this.#load();
    } catch (error) {
      this.#setStale(true);
      const problem = errorMessage(error);
      this.#logger.error({ files, problem }, 'files.not_reloaded');
      return;
    }
    this.#setStale(false);
    this.#logger.info({ files }, 'files.reloaded');
    for (const listener of this.#listeners) listener(this.#current);
  }

  #setStale(isStale: boolean): void {
    if (this.#isStale === isStale) return;
    this.#isStale = isStale;
    for (const listener of this.#staleListeners) listener(isStale);
  }
}

/** A text that differs whenever one of the files has changed. */
async function stateOf(paths: readonly string[]): Promise<string> {
  const states = await Promise.all(
    paths.map((path) => stat(path, { bigint: true }).then(stateText, () => ABSENT)),
  );
  return states.join('\n');
}

function stateNow(path: string): string {
  try {
    return stateText(statSync(path, { bigint: true }));
  } catch {
    // Reading it says what is wrong.
    return ABSENT;
  }
}

const ABSENT = 'absent';

function stateText({ dev, ino, size, mode, uid, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mode, uid, mtimeNs, ctimeNs].join(' ');
}
