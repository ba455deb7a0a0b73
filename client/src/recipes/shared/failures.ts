/**
 * The failure of a recipe that works in the background: kept for whoever asks, told to those who
 * listen, and said by a process warning when nobody is there to hear of it. A client that the
 * application has closed is no failure to warn of.
 */
import { ClientClosedError } from '../../errors.js';
import { Feed } from './feed.js';

/** Of a recipe that works in the background, from its construction to its end. */
export type BackgroundStatus = 'idle' | 'running' | 'failed' | 'closed';

export type FailureListener = (error: unknown) => void;

export interface FailuresOptions {
  /** The class of the recipe, and the path it was given; for the warning. */
  readonly recipe: string;
  readonly path: string;
  /** Says it to the user; a process warning by default. */
  warn?(message: string): void;
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
    if (this.#feed.size > 0) this.#feed.tell(error);
    else if (!isAwaited && !(error instanceof ClientClosedError)) this.#warn(error);
  }

  #warn(error: unknown): void {
    const { recipe, path, warn = warnByProcess } = this.#options;
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    warn(`the ${recipe} of ${path} has ended by ${reason}; onFailure() can tell the application`);
  }
}

function warnByProcess(message: string): void {
  process.emitWarning(message, { type: 'RookeryWarning', code: 'ROOKERY_RECIPE_FAILED' });
}
