/**
 * Work that nobody waits for, one piece after the other: destroying and preparing databases.
 *
 * The first failure stops all that follows and is thrown by the next `check` or `idle`.
 */
export class Background {
  private chain: Promise<void> = Promise.resolve();
  private failure: { readonly error: unknown } | null = null;

  run(task: () => Promise<void>): void {
    this.chain = this.chain.then(async () => {
      if (this.failure !== null) return;
      try {
        await task();
      } catch (error) {
        this.failure = { error };
      }
    });
  }

  check(): void {
    if (this.failure !== null) throw this.failure.error;
  }

  async idle(): Promise<void> {
    await this.chain;
    this.check();
  }
}
