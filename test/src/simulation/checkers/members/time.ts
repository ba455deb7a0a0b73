/**
 * Property: the time of transactions never falls along their order.
 * Source: `Txn.time` ("never falls from one transaction to the next"): whatever the wall clocks of
 * leaders do, ctime and mtime are in the order of zxids.
 *
 * Whoever applies a transaction first is looked at; that all apply the same is another's property.
 */
import type { Zxid } from '@rookery/protocol';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { Applied } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';

class Time implements Checker {
  readonly property = 'the time of transactions never falls along their order';
  #newest: Zxid = 0;
  #time = 0;

  onApplied(seen: Applied): void {
    if (seen.zxid <= this.#newest) return;
    const { time } = seen.txn;
    if (time < this.#time) {
      const before = `${formatZxid(this.#newest)} has ${this.#time}`;
      throw broken(this.property, seen, `applied ${formatZxid(seen.zxid)} of ${time}; ${before}`);
    }
    this.#newest = seen.zxid;
    this.#time = time;
  }
}

export const newTime: NewChecker = () => new Time();
