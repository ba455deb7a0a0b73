/**
 * Property: a disk that holds a proposal also holds which leadership proposed it. Source:
 * docs/architecture/core.md; server/src/zab/lineage.ts.
 *
 * Storage outputs are carried out in order, so it suffices that the core has given the lineage
 * before the proposals: whatever a crash leaves, a prefix of its outputs is durable.
 */
import { epochOf } from '@rookery/protocol';
import type { Checker, NewChecker, RunFacts } from '../../contract/checker.js';
import type { Started, Step } from '../../contract/observation.js';
import { broken } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

class KnownLeaderships implements Checker {
  readonly property = 'a disk that holds a proposal also holds which leadership proposed it';
  /** The epochs whose leadership the disk of a member names. */
  readonly #members: MemberTable<{ epochs: ReadonlySet<number> }>;

  constructor({ members }: RunFacts) {
    this.#members = new MemberTable(members, () => ({ epochs: new Set<number>() }));
  }

  onStarted({ member, recovered }: Started): void {
    this.#members.of(member).epochs = epochsOf(recovered.lineage);
  }

  onStep(seen: Step): void {
    const { member, outputs } = seen;
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind === 'saveEpochs' || output?.kind === 'installSnapshot') {
        this.#members.of(member).epochs = epochsOf(output.lineage);
      } else if (output?.kind === 'append') {
        const { first, last } = output.batch;
        for (const epoch of new Set([epochOf(first), epochOf(last)])) {
          if (this.#members.of(member).epochs.has(epoch)) continue;
          throw broken(this.property, seen, `appends of epoch ${epoch} before it says whose it is`);
        }
      }
    }
  }
}

function epochsOf(lineage: readonly { readonly epoch: number }[]): ReadonlySet<number> {
  return new Set(lineage.map(({ epoch }) => epoch));
}

export const newKnownLeaderships: NewChecker = (facts) => new KnownLeaderships(facts);
