/**
 * Looks up the addresses of host names, for programs in which a lookup may hang for long.
 *
 * A lookup by the system takes a thread of a small pool and cannot be cancelled. If a name server
 * does not answer, it holds that thread for 20 seconds and more. Therefore at most one lookup of a
 * name is under way, however many callers ask. The last known addresses are used while a lookup
 * hangs or after it failed, and names whose last lookup hung leave threads to the others. This
 * class does no I/O: lookups and time come from outside. Members use it for their peers, and so
 * does the client library.
 */

export interface NameLookupsParts {
  /** Asks the system. Rejects when the name has no address, or when the lookup fails. */
  readonly lookup: (name: string) => Promise<readonly string[]>;
  /** Calls back after so many ms; the returned function cancels the timer. */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** Called when a lookup gave other addresses than the one before, with those of all names. */
  readonly onChange?: (known: ReadonlyMap<string, readonly string[]>) => void;
}

/** Node gives half of its pool of four threads to lookups. */
const PARALLEL_MAX = 2;
/** The number of these threads that names whose last lookup hung may use. */
const PARALLEL_HANGING_MAX = 1;
/** Known addresses are used if a lookup takes longer. A reachable name server needs less. */
const PATIENCE_MS = 100;
/** A lookup that takes longer counts as hanging. */
const HANGING_MS = 1_000;

interface Name {
  readonly name: string;
  /** The result of the last successful lookup; empty before the first. */
  known: readonly string[];
  /** The lookup that is under way or waits for a thread; null if there is none. */
  pending: Promise<readonly string[]> | null;
  /** Whether the last lookup took longer than HANGING_MS. */
  hangs: boolean;
}

interface Waiting {
  readonly entry: Name;
  readonly begin: () => void;
}

export class NameLookups {
  readonly #parts: NameLookupsParts;
  readonly #names = new Map<string, Name>();
  readonly #waiting: Waiting[] = [];
  readonly #underWay = new Set<Name>();

  constructor(parts: NameLookupsParts) {
    this.#parts = parts;
  }

  /** Adds addresses of an earlier run; results of lookups since then are newer and stay. */
  remember(known: ReadonlyMap<string, readonly string[]>): void {
    for (const [name, addresses] of known) {
      const entry = this.#entry(name);
      if (entry.known.length === 0) entry.known = addresses;
    }
  }

  /**
   * The addresses of a name, at least one. Waits for the lookup as long as it takes if no address
   * is known: callers have their own limits. Rejects if the lookup fails and none is known.
   */
  async resolve(name: string): Promise<readonly string[]> {
    const entry = this.#entry(name);
    const pending = entry.pending ?? this.#enqueue(entry);
    if (entry.known.length === 0) return await pending;
    return await new Promise((resolve) => {
      const cancel = this.#parts.after(PATIENCE_MS, () => resolve(entry.known));
      const settle = () => {
        cancel();
        resolve(entry.known);
      };
      pending.then(settle, settle);
    });
  }

  #entry(name: string): Name {
    const found = this.#names.get(name);
    if (found !== undefined) return found;
    const entry: Name = { name, known: [], pending: null, hangs: false };
    this.#names.set(name, entry);
    return entry;
  }

  #enqueue(entry: Name): Promise<readonly string[]> {
    const pending = new Promise<readonly string[]>((resolve, reject) => {
      const begin = () => {
        this.#run(entry).then(resolve, reject);
      };
      this.#waiting.push({ entry, begin });
    });
    entry.pending = pending;
    const done = () => {
      entry.pending = null;
      this.#beginNext();
    };
    pending.then(done, done);
    this.#beginNext();
    return pending;
  }

  /** Names that answer come first; the others may use only some of the threads. */
  #beginNext(): void {
    while (this.#underWay.size < PARALLEL_MAX) {
      let at = this.#waiting.findIndex(({ entry }) => !entry.hangs);
      if (at === -1 && this.#hangingCount < PARALLEL_HANGING_MAX) at = 0;
      const [next] = at === -1 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) return;
      this.#underWay.add(next.entry);
      next.begin();
    }
  }

  get #hangingCount(): number {
    let count = 0;
    for (const { hangs } of this.#underWay) if (hangs) count += 1;
    return count;
  }

  async #run(entry: Name): Promise<readonly string[]> {
    let isLate = false;
    const cancel = this.#parts.after(HANGING_MS, () => {
      isLate = true;
      entry.hangs = true;
    });
    try {
      const found = await this.#parts.lookup(entry.name);
      if (found.length === 0) throw new Error(`${entry.name} has no address`);
      this.#learn(entry, found);
      return found;
    } finally {
      cancel();
      entry.hangs = isLate;
      this.#underWay.delete(entry);
    }
  }

  #learn(entry: Name, found: readonly string[]): void {
    const isNew = found.join() !== entry.known.join();
    entry.known = found;
    if (!isNew || this.#parts.onChange === undefined) return;
    const known = [...this.#names.values()].filter((one) => one.known.length > 0);
    this.#parts.onChange(new Map(known.map((one) => [one.name, one.known])));
  }
}
