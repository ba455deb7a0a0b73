/**
 * The disk of a simulated member, as the storage contract describes it.
 *
 * Storage outputs wait in a queue and become durable in order, one at a time, when told to; a crash
 * loses those that still wait. Recovery reads what is durable and nothing else. The asserts are
 * those of the contract: the real storage refuses the same outputs.
 */
import {
  assert,
  counterOf,
  type EpochRange,
  epochOf,
  type HistorySummary,
  type LeadershipOf,
  type Proposal,
  ProposalBatch,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import type { StorageOutput, Ticket, ZabStart } from './core.js';
import { EMPTY_TREE, type Tree } from './tree.js';

export class Disk {
  accepted = 0;
  current = 0;
  ensembleId = '';
  founded = false;
  damaged = false;
  lineage: readonly LeadershipOf[] = [];
  /** The log starts after this zxid. */
  base: Zxid = 0;
  log: Proposal[] = [];
  checkpoint: Tree = EMPTY_TREE;
  queue: StorageOutput[] = [];
  /** What the chunks of a snapshot contain so far; null while it is incomplete. */
  staged: Tree | null = null;

  get last(): Zxid {
    return this.log.at(-1)?.zxid ?? this.base;
  }

  holds(zxid: Zxid): boolean {
    if (this.damaged) return false;
    if (zxid <= this.base || zxid <= this.checkpoint.zxid) return true;
    return this.log.some((proposal) => proposal.zxid === zxid);
  }

  enqueue(output: StorageOutput): void {
    this.queue.push(output);
  }

  /** Makes the oldest output durable; returns it, or null if none waits. */
  persistOne(): StorageOutput | null {
    const output = this.queue.shift();
    if (output === undefined) return null;
    this.#write(output);
    return output;
  }

  crash(): void {
    this.queue = [];
    this.staged = null;
  }

  takeCheckpoint(tree: Tree): void {
    assert(!this.damaged && tree.zxid >= this.checkpoint.zxid, 'a checkpoint goes forward');
    assert(tree.zxid <= this.last, 'a checkpoint of what the log does not hold');
    this.checkpoint = tree;
  }

  purge(base: Zxid): void {
    assert(base <= this.checkpoint.zxid, 'purged beyond the checkpoint');
    assert(base === this.base || this.log.some(({ zxid }) => zxid === base), 'purged at a hole');
    this.log = this.log.filter(({ zxid }) => zxid > base);
    this.base = base;
  }

  /** Returns the log in (after, through], or null if it no longer reaches back that far. */
  read(after: Zxid, through: Zxid): ProposalBatch | null {
    if (after < this.base) return null;
    return ProposalBatch.of(this.log.filter(({ zxid }) => zxid > after && zxid <= through));
  }

  recover(): ZabStart {
    const { damaged, checkpoint } = this;
    const behind = damaged ? [] : this.log.filter(({ zxid }) => zxid > checkpoint.zxid);
    return {
      acceptedEpoch: this.accepted,
      currentEpoch: this.current,
      ensembleId: this.ensembleId,
      founded: this.founded,
      sound: !damaged,
      applied: damaged ? 0 : checkpoint.zxid,
      history: damaged ? { base: 0, ranges: [] } : this.#summary(),
      suffix: behind.length === 0 ? [] : [ProposalBatch.of(behind)],
      lineage: damaged ? [] : this.lineage,
    };
  }

  #summary(): HistorySummary {
    const ranges: EpochRange[] = [];
    for (const { zxid } of this.log) {
      const range = ranges.at(-1);
      const counter = counterOf(zxid);
      if (range?.epoch === epochOf(zxid)) ranges[ranges.length - 1] = { ...range, last: counter };
      else ranges.push({ epoch: epochOf(zxid), first: counter, last: counter });
    }
    return { base: this.base, ranges };
  }

  #write(output: StorageOutput): void {
    switch (output.kind) {
      case 'append':
        return this.#append(output.batch);
      case 'truncate':
        return this.#truncate(output.after);
      case 'saveEpochs':
        return this.#saveEpochs(output);
      case 'installSnapshot':
        this.lineage = output.lineage;
        return this.#install(output.zxid, output.ticket);
      case 'giveUp':
        this.damaged = true;
        this.ensembleId = '';
        this.founded = false;
        return;
      default:
        unreachable(output);
    }
  }

  #append(batch: ProposalBatch): void {
    assert(!this.damaged, 'append to a damaged disk');
    for (const proposal of batch) {
      assert(
        proposal.previous === this.last,
        () => `the log ends at ${this.last}, appended after ${proposal.previous}`,
      );
      this.log.push(proposal);
    }
  }

  #truncate(after: Zxid): void {
    assert(!this.damaged && after >= this.checkpoint.zxid, 'truncated below the checkpoint');
    assert(
      after === this.base || this.log.some(({ zxid }) => zxid === after),
      'truncated at a hole',
    );
    this.log = this.log.filter(({ zxid }) => zxid <= after);
  }

  #saveEpochs(output: StorageOutput & { readonly kind: 'saveEpochs' }): void {
    const { accepted, current, ensembleId, founded, lineage } = output;
    assert(accepted >= this.accepted, `acceptedEpoch falls from ${this.accepted} to ${accepted}`);
    assert(current >= this.current, `currentEpoch falls from ${this.current} to ${current}`);
    assert(current <= accepted, `currentEpoch ${current} above acceptedEpoch ${accepted}`);
    const leaves = this.ensembleId !== ensembleId || (this.founded && !founded);
    assert(!leaves || !this.founded || this.damaged, 'a founded member leaves its ensemble');
    this.accepted = accepted;
    this.current = current;
    this.ensembleId = ensembleId;
    this.founded = founded;
    this.lineage = lineage;
  }

  #install(zxid: Zxid, ticket: Ticket): void {
    const tree = this.staged;
    assert(tree !== null && tree.zxid === zxid, `t${ticket}: no whole snapshot at ${zxid}`);
    this.checkpoint = tree;
    this.base = zxid;
    this.log = [];
    this.damaged = false;
    this.staged = null;
  }
}
