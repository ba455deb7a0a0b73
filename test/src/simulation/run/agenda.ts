/**
 * What a run is going to do by itself, and when: faults that begin and end, and what they do later.
 *
 * Entries are in the order of time, then of the calls. It knows no world and moves no clock. The
 * run calls it.
 */
interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly action: () => void;
}

export class Agenda {
  #entries: Entry[] = [];
  #order = 0;

  at(atMs: number, action: () => void): void {
    const entry = { atMs, order: this.#order++, action };
    const place = this.#entries.findIndex((other) => other.atMs > atMs);
    if (place < 0) this.#entries.push(entry);
    else this.#entries.splice(place, 0, entry);
  }

  /** When the next entry is due; infinity if there is none. */
  get nextMs(): number {
    return this.#entries[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  /** Runs everything that is due by now, including what these entries add for now. */
  run(nowMs: number): void {
    for (;;) {
      const first = this.#entries[0];
      if (first === undefined || first.atMs > nowMs) return;
      this.#entries.shift();
      first.action();
    }
  }

  clear(): void {
    this.#entries = [];
  }
}
