/**
 * Property: the log begins at or before the checkpoint, and the checkpoint is at or before what is
 * applied. Source: docs/architecture/core.md, invariant 1; ZOOKEEPER-1549, 2325, 3056, 3644, 4837.
 *
 * What is purged must be in the tree on disk: the next start shows this, which must find a
 * checkpoint at or above everything that was ever purged, and nothing that had not been applied
 * then.
 */
import type { Zxid } from '@rookery/protocol';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { DiskStruck, Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface Marks {
  purged: Zxid;
  checkpoint: Zxid;
  delivered: Zxid;
  struck: boolean;
}

class Purge implements Checker {
  readonly property = 'purged <= checkpoint <= applied <= logged';
  readonly #marks: MemberTable<Marks>;

  constructor(members: number) {
    this.#marks = new MemberTable(members, () => {
      return { purged: 0, checkpoint: 0, delivered: 0, struck: false };
    });
  }

  onDiskStruck(seen: DiskStruck): void {
    this.#marks.of(seen.member).struck = true;
  }

  onStarted(seen: Started): void {
    const { checkpointZxid, history, last } = seen.recovered;
    const marks = this.#marks.of(seen.member);
    if (history.base > checkpointZxid || checkpointZxid > last) {
      throw broken(
        this.property,
        seen,
        `starts with a log from ${formatZxid(history.base)} to ${formatZxid(last)} ` +
          `and a checkpoint at ${formatZxid(checkpointZxid)}`,
      );
    }
    const low = Math.max(marks.purged, marks.checkpoint);
    if (!marks.struck && (checkpointZxid < low || checkpointZxid > marks.delivered)) {
      throw broken(
        this.property,
        seen,
        `starts with a checkpoint at ${formatZxid(checkpointZxid)}; it had purged or checkpointed ` +
          `up to ${formatZxid(low)} and applied up to ${formatZxid(marks.delivered)}`,
      );
    }
    marks.purged = history.base;
    marks.checkpoint = checkpointZxid;
    marks.delivered = checkpointZxid;
    marks.struck = false;
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const marks = this.#marks.of(seen.member);
    if (input.kind === 'purged') {
      if (input.base > marks.delivered) {
        const applied = formatZxid(marks.delivered);
        const what = `purged up to ${formatZxid(input.base)}, but applied only up to ${applied}`;
        throw broken(this.property, seen, what);
      }
      marks.purged = Math.max(marks.purged, input.base);
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind === 'deliver') marks.delivered = output.batch.last;
      else if (output?.kind === 'installSnapshot') marks.delivered = output.zxid;
      // A restart before the next snapshot finds nothing that it trusts.
      else if (output?.kind === 'giveUp') marks.struck = true;
    }
  }
}

export const newPurge: NewChecker = ({ members }) => new Purge(members);
