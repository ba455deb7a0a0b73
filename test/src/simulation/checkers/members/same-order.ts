/**
 * Property: all members apply the same transactions in the same order. Source: Zab's total order;
 * docs/architecture/core.md, invariant 5; ZOOKEEPER-1154, 2678, 2845, 4925.
 *
 * The first member to deliver the n-th transaction determines which one it is; every other member
 * must deliver and apply that one, with the bytes that its leader proposed. A restart continues
 * after its checkpoint, a snapshot after its own zxid, which must be in the order, too.
 */
import type { Proposal, ProposalBatch, Zxid } from '@rookery/protocol';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { Applied, DiskStruck, OfMember, Started, Step } from '../../contract/observation.js';
import { Bodies } from './model/bodies.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface Place {
  /** How many transactions of the order it has delivered, and applied. */
  delivered: number;
  applied: number;
  /** Where `applied` continues once an installed snapshot is its tree; otherwise -1. */
  jump: number;
  /** Its log is that of another leadership, and it has not synchronized since. */
  isForged: boolean;
}

class SameOrder implements Checker {
  readonly property = 'all members apply the same transactions in the same order';
  readonly #order: Zxid[] = [];
  readonly #bodies = new Bodies();
  readonly #places: MemberTable<Place>;

  constructor(members: number) {
    this.#places = new MemberTable(members, () => {
      return { delivered: 0, applied: 0, jump: -1, isForged: false };
    });
  }

  onDiskStruck({ member, how }: DiskStruck): void {
    if (how === 'forged') this.#places.of(member).isForged = true;
  }

  onStarted(seen: Started): void {
    const { checkpointZxid, suffix } = seen.recovered;
    const place = this.#places.of(seen.member);
    place.delivered = this.#placeBehind(seen, checkpointZxid, 'starts with a checkpoint at');
    place.applied = place.delivered;
    place.jump = -1;
    if (place.isForged) return;
    for (const batch of suffix) this.#checkBodies(seen, batch, 'finds in its log');
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const proposed = input.kind === 'propose' ? input.batch : null;
    if (proposed !== null) this.#onPropose(seen, proposed);
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      switch (output?.kind) {
        case 'append':
          if (output.batch !== proposed) this.#checkBodies(seen, output.batch, 'appends');
          break;
        case 'deliver':
          this.#onDeliver(seen, output.batch);
          break;
        case 'installSnapshot':
          this.#onInstall(seen, output.zxid);
          break;
        case 'send':
          if (output.message.kind === 'ackNewLeader') {
            this.#places.of(seen.member).isForged = false;
          }
          break;
      }
    }
  }

  onApplied(seen: Applied): void {
    const place = this.#places.of(seen.member);
    if (place.jump >= 0 && this.#order[place.jump] === seen.zxid) {
      place.applied = place.jump;
      place.jump = -1;
    }
    const expected = this.#order[place.applied];
    if (expected !== seen.zxid || place.applied >= place.delivered) {
      const next = expected === undefined ? 'nothing' : formatZxid(expected);
      throw broken(
        this.property,
        seen,
        `applied ${formatZxid(seen.zxid)}, but delivered ${next} as number ${place.applied}`,
      );
    }
    place.applied += 1;
  }

  #onPropose(seen: Step, batch: ProposalBatch): void {
    for (const proposal of batch) {
      if (this.#bodies.propose(proposal)) continue;
      throw broken(
        this.property,
        seen,
        `proposes ${formatZxid(proposal.zxid)}, which was used or skips some`,
      );
    }
  }

  #onDeliver(seen: Step, batch: ProposalBatch): void {
    const place = this.#places.of(seen.member);
    for (const proposal of batch) {
      this.#checkBody(seen, proposal, 'delivers');
      const known = this.#order[place.delivered];
      if (known === undefined) this.#order.push(proposal.zxid);
      else if (known !== proposal.zxid) {
        throw broken(
          this.property,
          seen,
          `delivers ${formatZxid(proposal.zxid)} as number ${place.delivered}, ` +
            `where ${formatZxid(known)} was delivered before`,
        );
      }
      place.delivered += 1;
    }
  }

  #onInstall(seen: Step, zxid: Zxid): void {
    const place = this.#places.of(seen.member);
    place.delivered = this.#placeBehind(seen, zxid, 'installs a snapshot at');
    place.jump = place.delivered;
  }

  #placeBehind(seen: OfMember, zxid: Zxid, does: string): number {
    if (zxid === 0) return 0;
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#order[middle] ?? 0) < zxid) low = middle + 1;
      else high = middle;
    }
    if (this.#order[low] === zxid) return low + 1;
    throw broken(this.property, seen, `${does} ${formatZxid(zxid)}, which nobody delivered`);
  }

  #checkBodies(seen: OfMember, batch: ProposalBatch, does: string): void {
    for (const proposal of batch) this.#checkBody(seen, proposal, does);
  }

  #checkBody(seen: OfMember, proposal: Proposal, does: string): void {
    const objection = this.#bodies.objection(proposal);
    if (objection === null) return;
    throw broken(this.property, seen, `${does} ${formatZxid(proposal.zxid)}, ${objection}`);
  }
}

export const newSameOrder: NewChecker = ({ members }) => new SameOrder(members);
