/**
 * Tracks what a process does with its disks, so that all of it can end as if it were killed.
 *
 * Used by `ending-store.ts` and `ending-log.ts`.
 */

/** Work that runs at the end completes but never settles; work that comes later never begins. */
export class EndingLife {
  readonly #running = new Set<Promise<unknown>>();
  #ended = false;

  get ended(): boolean {
    return this.#ended;
  }

  run<T>(action: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return;
      const work = action();
      this.#running.add(work);
      work.then(
        (result) => {
          this.#running.delete(work);
          if (!this.#ended) resolve(result);
        },
        (error: unknown) => {
          this.#running.delete(work);
          if (!this.#ended) reject(error);
        },
      );
    });
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.allSettled([...this.#running]);
  }
}
