/**
 * The failure of a recipe that works in the background: kept for whoever asks, told to those who
 * listen, and said in the client's log: as an error when nobody is there to hear of it. A client
 * that the application has closed is no failure to warn of.
 */
import type { Log } from '../../api/logger.js';
import { ClientClosedError } from '../../errors.js';
import { Feed } from './feed.js';

/** Of a recipe that works in the background, from its construction to its end. */
export type BackgroundStatus = 'idle' | 'running' | 'failed' | 'closed';

export type FailureListener = (error: unknown) => void;

export interface FailuresOptions {
  /** The class of the recipe, and the path it was given; for the warning. */
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

  /** The last one, null for none. */
  get last(): { readonly error: unknown } | null {
    return this.#last;
  }

  /** Called with each failure, soon with one that is there already; gives what undoes it. */
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

  /** `isAwaited` when a call rejects with it. */
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

/** What went wrong, in a line: the name of the error and its message. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
