/**
 * Records which leaderships a history consists of: the identity of the one that proposed in each
 * epoch.
 *
 * A zxid names an epoch and a counter, so two leaderships of one epoch (unequal configurations, a
 * directory that went back in time, a second process on copied data) give equal zxids to unlike
 * proposals. Each leadership therefore has a random identity. Two histories that have a zxid of the
 * same leadership are equal up to it; where identities differ they have nothing in common from that
 * epoch on. An epoch without an identity, such as those of a restored backup, is taken to be equal.
 */
import { epochOf, type LeadershipOf, type Zxid } from '@rookery/protocol';

/** The number of epochs whose leaderships are kept. Older ones are not told apart. */
export const LEADERSHIPS_MAX = 4096;

export class Lineage {
  readonly #identities = new Map<number, number>();

  constructor(leaderships: readonly LeadershipOf[]) {
    for (const { epoch, identity } of leaderships) this.set(epoch, identity);
  }

  /** 0 if it is unknown. */
  of(epoch: number): number {
    return this.#identities.get(epoch) ?? 0;
  }

  set(epoch: number, identity: number): void {
    if (identity !== 0) this.#identities.set(epoch, identity);
  }

  /** In ascending order, from the epoch of `base` on; older proposals are in no log any more. */
  from(base: Zxid): readonly LeadershipOf[] {
    const kept = [...this.#identities].filter(([epoch]) => epoch >= epochOf(base));
    kept.sort(([a], [b]) => a - b);
    return kept.slice(-LEADERSHIPS_MAX).map(([epoch, identity]) => ({ epoch, identity }));
  }

  /**
   * Adopts the leader's lineage after `after` and fills in unknown epochs. Returns the first epoch
   * for which that changed anything; Infinity for none.
   */
  follow(leaderships: readonly LeadershipOf[], after: Zxid): number {
    const before = new Map(this.#identities);
    for (const epoch of before.keys()) if (epoch > epochOf(after)) this.#identities.delete(epoch);
    for (const { epoch, identity } of leaderships) {
      if (epoch > epochOf(after) || this.of(epoch) === 0) this.set(epoch, identity);
    }
    const epochs = [...before.keys(), ...this.#identities.keys()];
    const changed = epochs.filter((epoch) => this.of(epoch) !== (before.get(epoch) ?? 0));
    return Math.min(...changed, Number.POSITIVE_INFINITY);
  }

  /** A snapshot has replaced the whole history. */
  replace(leaderships: readonly LeadershipOf[]): void {
    this.#identities.clear();
    for (const { epoch, identity } of leaderships) this.set(epoch, identity);
  }

  /** The first epoch in which the two lineages differ; Infinity if they do not. */
  firstConflict(leaderships: readonly LeadershipOf[]): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { epoch, identity } of leaderships) {
      const own = this.of(epoch);
      if (own !== 0 && identity !== 0 && own !== identity) first = Math.min(first, epoch);
    }
    return first;
  }
}
