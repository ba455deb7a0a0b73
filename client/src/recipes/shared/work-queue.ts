/**
 * Keys that wait to be processed, in the order in which they were added, each with its task. The
 * cost of taking the first one does not depend on how many wait. Pure; used by the tree follower.
 */
export class WorkQueue<Task> {
  readonly #tasks = new Map<string, Task>();
  /**
   * Those before `#first` were taken. A Map alone would be slow to find its first entry after many
   * were removed.
   */
  #order: string[] = [];
  #first = 0;

  has(key: string): boolean {
    return this.#tasks.has(key);
  }

  get(key: string): Task | undefined {
    return this.#tasks.get(key);
  }

  /** A key that already waits keeps its position. */
  set(key: string, task: Task): void {
    if (!this.#tasks.has(key)) this.#order.push(key);
    this.#tasks.set(key, task);
  }

  take(): { readonly key: string; readonly task: Task } | null {
    const key = this.#order[this.#first];
    const task = key === undefined ? undefined : this.#tasks.get(key);
    if (key === undefined || task === undefined) return null;
    this.#tasks.delete(key);
    this.#first += 1;
    if (this.#first * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#first);
      this.#first = 0;
    }
    return { key, task };
  }
}
