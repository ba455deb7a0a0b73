/**
 * Keeps what was made of some files current while the files change.
 *
 * What it promises to whoever uses certificates or secrets from files: `current` is always what was
 * loaded without a problem; a changed file is noticed within two intervals, whether it was written
 * in place, renamed or reached by a link that now points elsewhere; files that are written
 * one after the other (a certificate, then its key) are loaded once they have been quiet for an
 * interval; a problem is logged once for each change, the former content stays in use, and
 * `isStale` is true until a load succeeds. Nothing is watched before `start` and after `close`.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorMessage } from '@rookery/protocol';
import type { Logger } from 'pino';

/** The part of a member's timers that is needed. */
export interface WatchTimers {
  after(delayMs: number, action: () => void): { cancel(): void };
}

interface WatchedFilesParts<T> {
  /** What the files are, for the log. */
  readonly name: string;
  readonly paths: readonly string[];
  /** Reads the files; throws what is to be logged. It is called once by the constructor. */
  readonly load: () => T;
  readonly timers: WatchTimers;
  readonly logger: Logger;
  readonly intervalMs?: number;
  /** Called with each change of `isStale`. */
  readonly onStale?: (isStale: boolean) => void;
}

/** This is soon enough for a person who waits, and costs a disk nothing. */
const INTERVAL_MS = 2_000;

export class WatchedFiles<T> {
  readonly #parts: WatchedFilesParts<T>;
  readonly #listeners: ((content: T) => void)[] = [];
  #current: T;
  #isStale = false;
  /** The state of the files when loading them succeeded or failed last. */
  #loaded: string;
  /** The state of the files at the last look. */
  #seen: string | null = null;
  #timer: { cancel(): void } | null = null;
  #isClosed = false;

  /** Throws what `load` throws. */
  constructor(parts: WatchedFilesParts<T>) {
    this.#parts = parts;
    // The state is read first, so that a change in between is loaded once more, and not missed.
    this.#loaded = parts.paths.map(stateNow).join('\n');
    this.#current = parts.load();
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
    const { timers, intervalMs = INTERVAL_MS } = this.#parts;
    this.#timer = timers.after(intervalMs, () => {
      void this.#look().then(() => this.#lookLater());
    });
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const now = await stateOf(this.#parts.paths);
    if (this.#isClosed) return;
    const isQuiet = now === this.#seen;
    this.#seen = now;
    if (isQuiet && now !== this.#loaded) this.#reload(now);
  }

  #reload(state: string): void {
    const { name, load, logger } = this.#parts;
    this.#loaded = state;
    try {
      this.#current = load();
    } catch (error) {
      this.#setStale(true);
      const problem = errorMessage(error);
      logger.error({ files: name, problem }, 'files.not_reloaded');
      return;
    }
    this.#setStale(false);
    logger.info({ files: name }, 'files.reloaded');
    for (const listener of this.#listeners) listener(this.#current);
  }

  #setStale(isStale: boolean): void {
    if (this.#isStale === isStale) return;
    this.#isStale = isStale;
    this.#parts.onStale?.(isStale);
  }
}

/** A text that differs whenever one of the files has changed. */
async function stateOf(paths: readonly string[]): Promise<string> {
  const states = await Promise.all(
    paths.map((path) => stat(path, { bigint: true }).then(textOf, () => ABSENT)),
  );
  return states.join('\n');
}

function stateNow(path: string): string {
  try {
    return textOf(statSync(path, { bigint: true }));
  } catch {
    // Reading it says what is wrong.
    return ABSENT;
  }
}

const ABSENT = 'absent';

function textOf({ dev, ino, size, mode, uid, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mode, uid, mtimeNs, ctimeNs].join(' ');
}
