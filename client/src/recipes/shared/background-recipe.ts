/**
 * What all recipes have in common that work in the background once they are started: how they
 * stand, what has ended them, and who hears of that.
 */
import type { BackgroundStatus, FailureListener } from './failures.js';

/** Whatever knows how the work stands: a runner, or another recipe that does the work. */
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
   * Calls back with what ends it, also when that has happened already; gives what undoes it. What
   * it throws is reported as uncaught. A failure that nobody listens for, and that no waiting call
   * rejects with, is a process warning, `ROOKERY_RECIPE_FAILED`.
   */
  onFailure(listener: FailureListener): () => void {
    return this.supervised.onFailure(listener);
  }
}
