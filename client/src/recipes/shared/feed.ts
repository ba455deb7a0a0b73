/**
 * Listeners, called at once and in order. What a listener throws is reported as uncaught and
 * disturbs nobody. Used by the recipes that tell of changes.
 */
export class Feed<E> {
  readonly #listeners = new Set<(event: E) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** Gives what undoes it. The same function given twice is called twice. */
  listen(listener: (event: E) => void): () => void {
    const entry = (event: E) => listener(event);
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  tell(event: E): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        // From a fresh stack, where no code of ours can take it for its own.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
