/**
 * Property: every log, and everything delivered, is a chain without gaps. Source:
 * docs/architecture/core.md, invariant 2; Zab's prefix property; ZOOKEEPER-4925, 2846, 2418, 5094.
 *
 * Each proposal names its predecessor: that must be the last one of the log to which it is
 * appended, the last delivered where it is delivered, and the one before it on disk. Zxids of one
 * epoch are consecutive.
 */
import { epochOf, type Proposal, type Zxid } from '@rookery/protocol';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { OfMember, Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';
import { ZxidRanges } from './model/zxid-ranges.js';

interface Ends {
  logged: Zxid;
  delivered: Zxid;
}

class Contiguity implements Checker {
  readonly property = 'every log, and everything delivered, is a chain without gaps';
  readonly #ends: MemberTable<Ends>;

  constructor(members: number) {
    this.#ends = new MemberTable(members, () => ({ logged: 0, delivered: 0 }));
  }

  onStarted(seen: Started): void {
    const { checkpointZxid, history, last, suffix } = seen.recovered;
    let end = checkpointZxid;
    for (const batch of suffix) {
      end = this.#check(seen, batch, end, 'finds behind its checkpoint');
    }
    const listed = ZxidRanges.of(history).last;
    if (end !== last || listed !== last) {
      throw broken(
        this.property,
        seen,
        `finds a log to ${formatZxid(last)}, listed to ${formatZxid(listed)}, ` +
          `but behind its checkpoint to ${formatZxid(end)}`,
      );
    }
    const ends = this.#ends.of(seen.member);
    ends.logged = last;
    ends.delivered = checkpointZxid;
  }

  onStep(seen: Step): void {
    const { outputs } = seen;
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      const ends = this.#ends.of(seen.member);
      switch (output?.kind) {
        case 'append':
          ends.logged = this.#check(seen, output.batch, ends.logged, 'appends');
          break;
        case 'deliver':
          ends.delivered = this.#check(seen, output.batch, ends.delivered, 'delivers');
          break;
        case 'truncate':
          ends.logged = output.after;
          break;
        case 'installSnapshot':
          ends.logged = output.zxid;
          ends.delivered = output.zxid;
          break;
      }
    }
  }

  #check(seen: OfMember, proposals: Iterable<Proposal>, behind: Zxid, does: string): Zxid {
    let last = behind;
    for (const { zxid, previous } of proposals) {
      const isNext = zxid === last + 1 || (zxid > last && epochOf(zxid) !== epochOf(last));
      if (previous !== last || !isNext) {
        throw broken(
          this.property,
          seen,
          `${does} ${formatZxid(zxid)}, said to follow ${formatZxid(previous)}, ` +
            `behind ${formatZxid(last)}`,
        );
      }
      last = zxid;
    }
    return last;
  }
}

export const newContiguity: NewChecker = ({ members }) => new Contiguity(members);
