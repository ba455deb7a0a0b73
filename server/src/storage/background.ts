/**
 * Runs background work, such as removing old files, one piece after the other.
 *
 * After the first failure nothing else runs, and the next `check` or `idle` throws the failure.
 */
export class Background {
  #chain: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  run(task: () => Promise<void>): void {
    this.#chain = this.#chain.then(async () => {
      if (this.#failure !== null) return;
      try {
        await task();
      } catch (error) {
        this.#failure = { error };
      }
    });
  }

  check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  async idle(): Promise<void> {
    await this.#chain;
    this.check();
  }
}
