/**
 * The part of the meta record about starts: those of this directory, and those that were seen of
 * other members. `driver/known-starts.ts` judges by it.
 */
import type { KeptMeta } from './kept-meta.js';
import type { Meta } from './meta.js';

/** The number of starts without serving that are kept. */
const STARTS_KEPT = 16;

export interface StartsSetup {
  /** The identity of this process, as in `StartOf`. */
  readonly instance: string;
  /** Makes a new, unique incarnation of the directory. */
  newIncarnation(): string;
}

export class StartsRecord {
  readonly #meta: KeptMeta;
  readonly #setup: StartsSetup | null;

  /** Starts are counted only with a setup. */
  constructor(meta: KeptMeta, setup: StartsSetup | null) {
    this.#meta = meta;
    this.#setup = setup;
  }

  /** The start of this directory, which is durable since it was opened. */
  get start(): Meta['start'] {
    return this.#meta.value.start;
  }
  get seenStarts(): Meta['seenStarts'] {
    return this.#meta.value.seenStarts;
  }

  /** Counts this start, unless the meta record is lost and must not be overwritten yet. */
  async countStart(): Promise<void> {
    if (this.#setup === null || !this.#meta.isKnown) return;
    const { incarnation, count, instances } = this.start;
    const recent = [...instances, this.#setup.instance].slice(-STARTS_KEPT);
    const next = { incarnation, count: count + 1, instances: recent };
    await this.#meta.change({ start: incarnation === '' ? this.first() : next });
  }

  /** Begins another incarnation. */
  first(): Meta['start'] {
    if (this.#setup === null) return { incarnation: '', count: 1, instances: [] };
    const { instance } = this.#setup;
    return { incarnation: this.#setup.newIncarnation(), count: 1, instances: [instance] };
  }

  /** Remembers a start in background. A crash may lose it before it is durable. */
  rememberStart(seen: Meta['seenStarts'][number]): void {
    const others = this.seenStarts.filter(({ peer }) => peer !== seen.peer);
    this.#meta.remember({ seenStarts: [...others, seen] });
  }

  /** Begins another incarnation in background, like `rememberStart`. */
  countStartsAnew(): void {
    this.#meta.remember({ start: this.first() });
  }

  /**
   * In background: this member serves, so what the directory holds is the ensemble's history by
   * now, and no start up to this one is compared any more with what was seen of another copy.
   */
  forgetEarlierStarts(): void {
    const { start } = this;
    if (start.instances.length > 0) this.#meta.remember({ start: { ...start, instances: [] } });
  }
}
