/**
 * Property: a restart finds what was durable, and a prefix of what was in flight. Source:
 * docs/architecture/core.md, "Storage outputs ... run strictly in order";
 * docs/architecture/storage.md; ZOOKEEPER-1653, 2332, 2354, 3642, 4643, 4813, 4837, 5094.
 *
 * Exactly: log and epochs are those after some number of the outputs that storage was given and had
 * not reported, in their order; the next one may have been done in part. Only a disk that was
 * struck may be found damaged or empty; one whose flipped bit goes unnoticed must contain
 * everything. But what is behind a flipped bit in the newest write may be missing, as if it had
 * never been written, where no mark in the directory says that it was. Directories that were
 * restored to an older copy contain what they contained then.
 */
import type { Zxid } from '@rookery/protocol';
import type { Recovered, StorageOutput, Ticket } from '../../../simulated.js';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { DiskStruck, OfMember, Started, Step } from '../../contract/observation.js';
import { applyTo, DiskModel, type SavedEpochs } from './model/disk-model.js';
import { broken } from './model/failure.js';
import { MemberTable } from './model/member-table.js';
import { ZxidRanges } from './model/zxid-ranges.js';

interface MemberDisk {
  readonly disk: DiskModel;
  /** Struck, or found damaged, and no snapshot has replaced its content since. */
  mayBeDamaged: boolean;
  /** An earlier or a foreign copy replaced its directories, and it has not started since. */
  isRestored: boolean;
  /** What a flipped bit in the newest write has left of the log; null where there is none. */
  keeps: Zxid | null;
  /** The zxid of a snapshot that is being installed; 0 for none. */
  installing: Ticket;
}

class Restart implements Checker {
  readonly property = 'a restart finds what was durable, and a prefix of what was in flight';
  readonly #members: MemberTable<MemberDisk>;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => {
      return {
        disk: new DiskModel(),
        mayBeDamaged: false,
        isRestored: false,
        keeps: null,
        installing: 0,
      };
    });
  }

  onDiskStruck(seen: DiskStruck): void {
    const member = this.#members.of(seen.member);
    if (seen.how === 'wiped') {
      member.disk.wipe();
      member.mayBeDamaged = false;
      member.keeps = null;
    } else if (seen.how === 'restored' || seen.how === 'forged') {
      member.isRestored = true;
    } else {
      member.mayBeDamaged = true;
      member.keeps = seen.keeps ?? null;
    }
  }

  onStarted(seen: Started): void {
    const member = this.#members.of(seen.member);
    const { recovered } = seen;
    if (recovered.damaged === null) {
      // A snapshot that was being installed may have replaced what was damaged.
      if (!member.isRestored) this.#mustBeExplained(seen, member, recovered);
      member.mayBeDamaged = false;
    } else if (!member.mayBeDamaged) {
      throw broken(this.property, seen, `finds its disk damaged: ${recovered.damaged}`);
    }
    member.disk.start(recovered);
    member.isRestored = false;
    member.keeps = null;
    member.installing = 0;
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const member = this.#members.of(seen.member);
    member.disk.onInput(input);
    if (input.kind === 'persisted' && member.installing > 0 && input.ticket >= member.installing) {
      member.mayBeDamaged = false;
      member.installing = 0;
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output === undefined) continue;
      member.disk.take(output);
      if (output.kind === 'installSnapshot') member.installing = output.ticket;
      // It counts as damaged from then on, also if it dies before that is durable.
      if (output.kind === 'giveUp') member.mayBeDamaged = true;
    }
  }

  #mustBeExplained(seen: OfMember, { disk, keeps }: MemberDisk, recovered: Recovered): void {
    const found = ZxidRanges.of(recovered.history);
    const isLog = (log: ZxidRanges) => found.agreesWith(log) || isCut(found, log, keeps);
    const log = disk.durable.clone();
    let epochs = disk.durableEpochs;
    for (const output of disk.pending()) {
      if (isSame(recovered, epochs)) {
        if (isLog(log) || isLog(partOf(log, output, found))) return;
      }
      applyTo(log, output);
      if (output.kind === 'saveEpochs') epochs = output;
    }
    if (isSame(recovered, epochs) && isLog(log)) return;
    const pending = disk.pending().map(({ kind }) => kind);
    const { accepted, current } = disk.durableEpochs;
    throw broken(
      this.property,
      seen,
      `finds epochs ${recovered.acceptedEpoch}/${recovered.currentEpoch} ` +
        `id "${recovered.ensembleId}" ${recovered.founded} and the log ${found.text()}; durable ` +
        `were ${accepted}/${current} id "${disk.durableEpochs.ensembleId}" ` +
        `${disk.durableEpochs.founded} and ${disk.durable.text()}, under way: ` +
        `${pending.join(' ') || 'nothing'}`,
    );
  }
}

function isSame(recovered: Recovered, epochs: SavedEpochs): boolean {
  return (
    recovered.acceptedEpoch === epochs.accepted &&
    recovered.currentEpoch === epochs.current &&
    recovered.ensembleId === epochs.ensembleId &&
    recovered.founded === epochs.founded
  );
}

/** Whether it is the log without some of what follows `keeps`. */
function isCut(found: ZxidRanges, log: ZxidRanges, keeps: Zxid | null): boolean {
  if (keeps === null || found.last < keeps) return false;
  const rest = log.clone();
  rest.cut(found.last);
  return found.agreesWith(rest);
}

/** The log in which `output` was done as far as `found` shows; complete writes of it, in order. */
function partOf(before: ZxidRanges, output: StorageOutput, found: ZxidRanges): ZxidRanges {
  const log = before.clone();
  if (output.kind === 'append' && found.last < output.batch.last) {
    log.append([...output.batch].filter(({ zxid }) => zxid <= found.last));
  } else if (output.kind === 'truncate' && found.last > output.after) {
    log.cut(found.last);
  }
  return log;
}

export const newRestart: NewChecker = ({ members }) => new Restart(members);
