/**
 * Hands out the zxids of a leader's epoch, each once, until its counter is used up.
 *
 * Invariant: each is above all before it, and of this epoch. Called by Prepare.
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

export class EpochZxids {
  #last: Zxid = 0;
  #next: Zxid = 0;
  #exhausted = false;

  /** The last zxid that was handed out; before the first, the end of the history. */
  get last(): Zxid {
    return this.#last;
  }

  /** The number that is left. */
  get left(): number {
    return this.#exhausted ? 0 : COUNTER_MAX - counterOf(this.#next) + 1;
  }

  /** Called once, before the first `take`: the history ends at `last`. */
  begin(epoch: number, last: Zxid, firstCounter: number): void {
    assert(this.#next === 0, 'an epoch begins once');
    assert(epochOf(last) < epoch, () => `epoch ${epoch} is new after ${formatZxid(last)}`);
    this.#last = last;
    this.#next = makeZxid(epoch, firstCounter);
  }

  take(): Zxid {
    assert(this.#next > 0, 'the epoch has begun');
    assert(!this.#exhausted, () => `no zxid is left after ${formatZxid(this.#last)}`);
    const zxid = this.#next;
    assert(zxid > this.#last, () => `${zxid} comes after ${this.#last}`);
    this.#last = zxid;
    if (counterOf(zxid) === COUNTER_MAX) this.#exhausted = true;
    else this.#next = zxid + 1;
    return zxid;
  }
}
