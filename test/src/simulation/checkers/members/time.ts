/**
 * Property: transactions carry the time of the clocks of most members, whatever single clocks do.
 * Source: docs/architecture/sessions.md, "Time": a jump of a leader's clock is not followed, and
 * once clocks are right again, so are the times of transactions.
 *
 * There are two parts. Along the order of transactions time goes back only by more than clocks may
 * differ. And it is close to the true time: always, while no majority of clocks has ever been
 * wrong; and again once all clocks have been right for a while. "Wrong" and "close" are minutes
 * here, far above all tolerances and above the delay with which a transaction may be applied. Only
 * the first application of a transaction is examined; another property requires that all members
 * apply the same.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import type { Checker, NewChecker, RunFacts } from '../../contract/checker.js';
import type { Applied, ClockSet } from '../../contract/observation.js';
import { WALL_START_MS } from '../../world/clocks.js';
import { broken, formatZxid } from './model/failure.js';

/** A clock whose error is larger is wrong. */
const WRONG_MS = 61_000;
const NEAR_MS = 180_000;
/** Transactions from before may be applied with this delay; a new term may have to begin. */
const SETTLED_MS = 10_000;

class Time implements Checker {
  readonly property = 'transactions carry the time of the clocks of most members';
  readonly #facts: RunFacts;
  readonly #wrong = new Set<PeerId>();
  #wereMostWrong = false;
  #rightSinceMs = 0;
  #newest: Zxid = 0;
  #time = 0;

  constructor(facts: RunFacts) {
    this.#facts = facts;
  }

  onClockSet({ member, errorMs, atMs }: ClockSet): void {
    if (Math.abs(errorMs) > WRONG_MS) this.#wrong.add(member);
    else this.#wrong.delete(member);
    const { members } = this.#facts;
    const quorum = Math.floor(members / 2) + 1;
    if (members - this.#wrong.size < quorum) this.#wereMostWrong = true;
    this.#rightSinceMs = atMs;
  }

  onApplied(seen: Applied): void {
    if (seen.zxid <= this.#newest) return;
    const { time } = seen.txn;
    if (time < this.#time && time >= this.#time - this.#facts.clockToleranceMs) {
      const before = `${formatZxid(this.#newest)} has ${this.#time}`;
      throw broken(this.property, seen, `applied ${formatZxid(seen.zxid)} of ${time}; ${before}`);
    }
    // Before the first transaction nothing tells which of two clocks that differ is right.
    if (this.#newest === 0 && this.#wrong.size > 0) this.#wereMostWrong = true;
    this.#newest = seen.zxid;
    this.#time = time;
    const aheadMs = time - (WALL_START_MS + seen.atMs);
    if (!this.#mustBeNear(seen) || Math.abs(aheadMs) <= NEAR_MS) return;
    throw broken(this.property, seen, `applied ${formatZxid(seen.zxid)}, ${aheadMs} ms ahead`);
  }

  #mustBeNear({ atMs }: Applied): boolean {
    if (!this.#wereMostWrong) return true;
    return this.#wrong.size === 0 && atMs - this.#rightSinceMs >= SETTLED_MS;
  }
}

export const newTime: NewChecker = (facts) => new Time(facts);
