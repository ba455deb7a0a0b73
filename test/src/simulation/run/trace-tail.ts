/** Keeps the last lines of a trace, a fixed number of them. */
export class TraceTail {
  readonly #lines: string[] = [];
  readonly #count: number;
  #next = 0;

  constructor(count: number) {
    this.#count = count;
  }

  add(line: string): void {
    this.#lines[this.#next] = line;
    this.#next = (this.#next + 1) % this.#count;
  }

  /** Oldest first. */
  lines(): readonly string[] {
    return [...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)];
  }
}
