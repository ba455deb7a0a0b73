/**
 * Hands out the zxids of a leader's epoch, each once, until its counter is used up.
 *
 * Invariant: each is above all before it, and of this epoch. Owned by Prepare.
 */
import {
  assert,
  COUNTER_MAX,
  counterOf,
  epochOf,
  formatZxid,
  makeZxid,
  type Zxid,
} from '@rookery/protocol';

/** Where an epoch begins. */
export interface EpochStart {
  readonly epoch: number;
  /** The last zxid of the history from which this leadership starts; all of it is applied. */
  readonly lastZxid: Zxid;
  /** The counter of the epoch's first proposal; above 1 only in tests of the rollover. */
  readonly firstCounter: number;
}

export class EpochZxids {
  #last: Zxid;
  #next: Zxid;
  #exhausted = false;

  constructor({ epoch, lastZxid, firstCounter }: EpochStart) {
    assert(epochOf(lastZxid) < epoch, () => `epoch ${epoch} is new after ${formatZxid(lastZxid)}`);
    this.#last = lastZxid;
    this.#next = makeZxid(epoch, firstCounter);
  }

  /** The last zxid that was handed out; before the first, the end of the history. */
  get last(): Zxid {
    return this.#last;
  }

  /** The number that is left. */
  get left(): number {
    return this.#exhausted ? 0 : COUNTER_MAX - counterOf(this.#next) + 1;
  }

  take(): Zxid {
    assert(!this.#exhausted, () => `no zxid is left after ${formatZxid(this.#last)}`);
    const zxid = this.#next;
    assert(zxid > this.#last, () => `${formatZxid(zxid)} comes after ${formatZxid(this.#last)}`);
    this.#last = zxid;
    if (counterOf(zxid) === COUNTER_MAX) this.#exhausted = true;
    else this.#next = zxid + 1;
    return zxid;
  }
}
