/**
 * A list of listeners, which are called synchronously and in order. An exception of a listener is
 * reported as uncaught and does not affect the others. Used by the recipes that report changes.
 */
export class Feed<E> {
  readonly #listeners = new Set<(event: E) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /**
   * Returns a function that removes the listener. A function that is added twice is called twice.
   */
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
        // Thrown from a new stack, where no code of ours can catch it.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
