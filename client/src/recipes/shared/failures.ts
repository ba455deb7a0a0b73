/**
 * The failure of a recipe that works in the background. It is kept, reported to listeners, and
 * logged in the client's log, as an error if nobody listens. If the application itself has closed
 * the client, that is not worth a warning.
 */

import { ClientClosedError } from '../../api/errors.js';
import type { Log } from '../../api/logger.js';
import { Feed } from './feed.js';

/** The status of a recipe that works in the background, from its construction to its end. */
export type BackgroundStatus = 'idle' | 'running' | 'failed' | 'closed';

export type FailureListener = (error: unknown) => void;

export interface FailuresOptions {
  /** The class of the recipe and its path, for the warning. */
  readonly recipe: string;
  readonly path: string;
  readonly log: Log;
}

export class Failures {
  readonly #options: FailuresOptions;
  readonly #feed = new Feed<unknown>();
  #last: { readonly error: unknown } | null = null;

  constructor(options: FailuresOptions) {
    this.#options = options;
  }

  /** The last failure, or null. */
  get last(): { readonly error: unknown } | null {
    return this.#last;
  }

  /**
   * Calls the listener with each failure, soon if there already is one. Returns a function that
   * removes it.
   */
  listen(listener: FailureListener): () => void {
    const past = this.#last;
    let isListening = true;
    const stop = this.#feed.listen(listener);
    if (past !== null) queueMicrotask(() => isListening && listener(past.error));
    return () => {
      isListening = false;
      stop();
    };
  }

  /** `isAwaited` tells whether a call rejects with it. */
  tell(error: unknown, { isAwaited }: { readonly isAwaited: boolean }): void {
    this.#last = { error };
    const isHeard = this.#feed.size > 0;
    if (!(error instanceof ClientClosedError)) this.#say(error, isHeard || isAwaited);
    if (isHeard) this.#feed.tell(error);
  }

  #say(error: unknown, isKnown: boolean): void {
    const { recipe, path, log } = this.#options;
    const message = `the ${recipe} of ${path} has ended by ${reasonOf(error)}`;
    const fields = { recipe, path, err: error };
    if (isKnown) log.info('recipe.ended', message, fields);
    else log.error('recipe.failed', `${message}; onFailure() can tell the application`, fields);
  }
}

/** Describes an error in a line: its name and its message. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
