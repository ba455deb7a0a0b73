/**
 * The common base of all recipes that work in the background after they were started: their status,
 * what has ended them, and who is notified of that.
 */
import type { BackgroundStatus, FailureListener } from './failures.js';

/** Something with a status and a failure: a runner, or another recipe that does the work. */
export interface Supervised {
  readonly status: BackgroundStatus;
  readonly failure: unknown;
  onFailure(listener: FailureListener): () => void;
}

export abstract class BackgroundRecipe implements Supervised {
  protected abstract readonly supervised: Supervised;

  /** 'idle' before it is started, 'failed' once something has ended it, 'closed' after close(). */
  get status(): BackgroundStatus {
    return this.supervised.status;
  }

  /** What has ended it, such as NoAuthError or ClientClosedError; null while it works. */
  get failure(): unknown {
    return this.supervised.failure;
  }

  /**
   * Calls the listener with what ends the recipe, even if that has already happened. Returns a
   * function that removes it. An exception of the listener is reported as uncaught. A failure
   * without a listener, and with which no waiting call rejects, becomes the process warning
   * `ROOKERY_RECIPE_FAILED`.
   */
  onFailure(listener: FailureListener): () => void {
    return this.supervised.onFailure(listener);
  }
}
