/**
 * The starts of this directory, and those that were seen of others: what `driver/known-starts.ts`
 * judges by. Part of the meta record.
 */
import type { KeptMeta } from './kept-meta.js';
import type { Meta } from './meta.js';

/** More starts in a row without serving are not told apart one by one. */
const STARTS_KEPT = 16;

export interface StartsSetup {
  /** Of this process, as in `StartOf`. */
  readonly instance: string;
  /** A new incarnation of the directory, never the same twice. */
  newIncarnation(): string;
}

export class StartsRecord {
  readonly #meta: KeptMeta;
  readonly #setup: StartsSetup | null;

  /** Without a setup starts are not counted. */
  constructor(meta: KeptMeta, setup: StartsSetup | null) {
    this.#meta = meta;
    this.#setup = setup;
  }

  /** Of this directory: durable since it was opened. */
  get start(): Meta['start'] {
    return this.#meta.value.start;
  }
  get seenStarts(): Meta['seenStarts'] {
    return this.#meta.value.seenStarts;
  }

  /** Not of a directory whose meta record is lost: nothing may be written over it yet. */
  async countStart(): Promise<void> {
    if (this.#setup === null || !this.#meta.isKnown) return;
    const { incarnation, count, instances } = this.start;
    const recent = [...instances, this.#setup.instance].slice(-STARTS_KEPT);
    const next = { incarnation, count: count + 1, instances: recent };
    await this.#meta.change({ start: incarnation === '' ? this.first() : next });
  }

  /** Of another incarnation. */
  first(): Meta['start'] {
    if (this.#setup === null) return { incarnation: '', count: 1, instances: [] };
    const { instance } = this.#setup;
    return { incarnation: this.#setup.newIncarnation(), count: 1, instances: [instance] };
  }

  /** In background: until it is durable a crash forgets it. */
  rememberStart(seen: Meta['seenStarts'][number]): void {
    const others = this.seenStarts.filter(({ peer }) => peer !== seen.peer);
    this.#meta.remember({ seenStarts: [...others, seen] });
  }

  /** In background, as `rememberStart`. */
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
