/**
 * Property: a TTL znode is removed when it was not written to for its time to live: not earlier,
 * whatever clocks say, and not much later. Source: docs/architecture/sessions.md, "Time";
 * ZooKeeper's programmer's guide, "TTL Nodes".
 *
 * Time is the run's own, counted from when a modification was first proposed: a proposal that a
 * leader leaves uncommitted may be applied under the next one, much later. Early means before four
 * fifths of the TTL: clocks of members drift, and the age of a modification from before a member's
 * start is computed from dates, which have a tolerance. Late removals are judged only under a
 * single leader, which has led since before the modification, by the transactions that it still has
 * committed: it may be stalled, or wait for its disk, so it gets many more seconds. By a clock that
 * stood still no time has passed, so the count begins again when the leader notices it. TTL znodes
 * have no children here.
 *
 * A removal is not judged as early if the modification is from before a member's start and half of
 * the clocks or more have been wrong since. An ensemble has nothing but the dates of a majority to
 * determine how long it was down; a standalone server believes its own clock (seed 70100329).
 */
import type { PeerId, ProposalBatch, Zxid } from '@rookery/protocol';
import type { NodeOp, TxnOp } from '../../../simulated.js';
import type { Checker, NewChecker, RunFacts } from '../../contract/checker.js';
import type { Applied, ClockSet, Gone, Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';

interface Timed {
  readonly ttlMs: number;
  /** When its last modification was first proposed. */
  readonly atMs: number;
}

interface Change {
  /** Whether the leader deleted it, and not a client. */
  readonly isReaped: boolean;
  readonly seen: Applied;
  /** When it was proposed. */
  readonly atMs: number;
}

const EARLY_SHARE = 0.8;
const LATE_SHARE = 1.1;
/** Stalls, slow disks and partitions that a leader survives. */
const LATE_MS = 15_000;

class Ttl implements Checker {
  readonly property = 'a TTL znode is removed when it was not written to for its time to live';
  readonly #facts: RunFacts;
  readonly #timed = new Map<string, Timed>();
  /** When proposals that nobody has applied yet were first proposed. */
  readonly #proposedAtMs = new Map<Zxid, number>();
  #newest: Zxid = 0;
  #leader: PeerId = 0;
  #leadsSinceMs = 0;
  readonly #wrongClocks = new Set<PeerId>();
  /** The latest moment at which no majority of clocks was right. */
  #wereMostWrongAtMs = -1;
  #startedAtMs = 0;

  constructor(facts: RunFacts) {
    this.#facts = facts;
  }

  onStarted({ atMs }: Started): void {
    this.#startedAtMs = atMs;
  }

  onClockSet({ member, errorMs, atMs }: ClockSet): void {
    if (this.#areMostWrong) this.#wereMostWrongAtMs = atMs;
    if (Math.abs(errorMs) > this.#facts.clockToleranceMs) this.#wrongClocks.add(member);
    else this.#wrongClocks.delete(member);
  }

  get #areMostWrong(): boolean {
    return this.#wrongClocks.size * 2 >= this.#facts.members;
  }

  onStep({ member, input, outputs, atMs }: Step): void {
    if (input.kind === 'clockJumped' && member === this.#leader) this.#leadsSinceMs = atMs;
    for (const output of outputs) {
      if (output.kind === 'append') this.#onAppend(output.batch, atMs);
      if (output.kind !== 'role') continue;
      if (output.role === 'leading') {
        this.#leader = member;
        this.#leadsSinceMs = atMs;
      } else if (member === this.#leader) {
        this.#leader = 0;
      }
    }
  }

  onGone({ member }: Gone): void {
    if (member === this.#leader) this.#leader = 0;
  }

  onApplied(seen: Applied): void {
    if (seen.zxid <= this.#newest) return;
    this.#newest = seen.zxid;
    const { op, session } = seen.txn;
    const atMs = this.#proposedAtMs.get(seen.zxid) ?? seen.atMs;
    this.#proposedAtMs.delete(seen.zxid);
    for (const one of opsOf(op)) this.#onOp(one, { isReaped: session === 0, seen, atMs });
    this.#nothingIsLate(seen);
  }

  #onAppend(batch: ProposalBatch, atMs: number): void {
    for (const { zxid } of batch) {
      if (zxid > this.#newest && !this.#proposedAtMs.has(zxid)) this.#proposedAtMs.set(zxid, atMs);
    }
  }

  #onOp(op: NodeOp, { isReaped, seen, atMs }: Change): void {
    if (op.kind === 'create' && op.mode === 'ttl') {
      this.#timed.set(op.path, { ttlMs: op.ttlMs, atMs });
    } else if (op.kind === 'setData') {
      const timed = this.#timed.get(op.path);
      if (timed !== undefined) this.#timed.set(op.path, { ...timed, atMs });
    } else if (op.kind === 'delete') {
      const timed = this.#timed.get(op.path);
      this.#timed.delete(op.path);
      if (!isReaped || timed === undefined) return;
      const ageMs = seen.atMs - timed.atMs;
      if (ageMs >= EARLY_SHARE * timed.ttlMs || this.#isDatedWrongly(timed.atMs)) return;
      const what = `${op.path} at ${formatZxid(seen.zxid)}, ${Math.round(ageMs)} ms old`;
      throw broken(this.property, seen, `deleted ${what}, of a TTL of ${timed.ttlMs}`);
    }
  }

  /** Its age may have been computed from wrong dates alone: see above. */
  #isDatedWrongly(modifiedAtMs: number): boolean {
    const wereWrong = this.#areMostWrong || this.#wereMostWrongAtMs >= modifiedAtMs;
    return wereWrong && this.#startedAtMs > modifiedAtMs;
  }

  #nothingIsLate(seen: Applied): void {
    if (this.#leader === 0) return;
    const { reapEveryMs } = this.#facts;
    for (const [path, { ttlMs, atMs }] of this.#timed) {
      const waitedMs = seen.atMs - Math.max(atMs, this.#leadsSinceMs);
      if (waitedMs <= LATE_SHARE * ttlMs + 2 * reapEveryMs + LATE_MS) continue;
      const what = `${path}, of a TTL of ${ttlMs}, ${Math.round(waitedMs)} ms after it was due`;
      throw broken(this.property, seen, `still has ${what}`);
    }
  }
}

function opsOf(op: TxnOp): readonly NodeOp[] {
  if (op.kind === 'multi') return op.ops;
  switch (op.kind) {
    case 'create':
    case 'delete':
    case 'setData':
    case 'setAcl':
    case 'check':
      return [op];
    default:
      return [];
  }
}

export const newTtl: NewChecker = (facts) => new Ttl(facts);
