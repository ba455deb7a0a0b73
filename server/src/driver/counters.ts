/**
 * Counters and durations of the driver's work since the process started.
 *
 * The code that does the work counts it, and no decision depends on a count. Times are arguments.
 * Shown by `mntr`, the metrics port and the admin port.
 */
import { Fifo, type ProposalBatch, type Zxid } from '@rookery/protocol';
import { Durations, Summary } from '../measures/summary.js';
import type { RoleName } from '../zab/index.js';

/** Transactions that were applied together. */
interface Delivered {
  readonly count: number;
  readonly through: Zxid;
  /** The leader's wall clock when it made the last of them, and the one here now, in ms. */
  readonly madeWallMs: number;
  readonly wallMs: number;
  readonly nowMs: number;
}

export class Counters {
  commits = 0;
  /** Transactions among them that another member proposed as the leader. */
  learnedCommits = 0;
  /** Proposals that this member made while it led. */
  proposals = 0;
  /** Proposals passed to the log, those of this member included. */
  appended = 0;
  /** Their bytes, without the heads of the log's records. */
  appendedBytes = 0;
  /** Sessions that expired while this member led, or that an operator ended. */
  expiredSessions = 0;
  /** Connections of clients that already had a session. */
  resumes = 0;
  snapshotsSent = 0;
  diffsSent = 0;
  truncationsSent = 0;
  /** Transactions that this member had in its log, and maybe acknowledged, and had to discard. */
  discardedTransactions = 0;
  /** Histories, of this member or of others, that diverged from the leader's. */
  divergences = 0;
  /** Unequal digests of one zxid that this member saw while it led. */
  digestMismatches = 0;
  /** How often this member began to look for a leader; the first time is its start. */
  looked = 1;
  /** Group commits that took a second or longer: see StateKeeper. */
  slowSyncs = 0;
  /** Damage of the disk that reading has found, and how often a new generation replaced it. */
  damagesFound = 0;
  damagesRepaired = 0;
  /** Checkpoints that met a full disk. */
  checkpointsGivenUp = 0;
  /** Whole rounds of the scrub, the end of the last one, and the bytes that it has read in all. */
  scrubs = 0;
  scrubbedWallMs = 0;
  scrubbedBytes = 0;
  checkpointRecords = 0;
  /**
   * The newest checkpoint, with the time of its end, or of this start if it is older; zxid 0 for
   * none.
   */
  checkpoint: { readonly zxid: Zxid; readonly wallMs: number } = { zxid: 0, wallMs: 0 };
  /** From the beginning of an election to its end, in ms. */
  readonly elections = new Durations();
  /**
   * From the end of a role, or of the recovery at the start, to serving clients, failed attempts
   * included; then only those that ended in serving as the leader.
   */
  readonly outages = new Durations();
  readonly leaderOutages = new Durations();
  /** From the end of an election to serving as a follower. */
  readonly learnerSyncs = new Durations();
  /** The duration of a group commit: write and sync. */
  readonly syncs = new Durations();
  /** The duration of a checkpoint. */
  readonly checkpoints = new Durations();
  /** As the leader: from proposing until a quorum has logged it, and until it is applied here. */
  readonly quorumAcks = new Durations();
  readonly proposalsApplied = new Durations();
  /** From the leader's making a transaction until it is applied here, by both wall clocks. */
  readonly propagation = new Durations();
  /** How late this member's ticks came, which shows pauses of its event loop. */
  readonly pauses = new Durations();
  /** Recovery at the start of the process, and the transactions that it replayed. */
  readonly starts = new Durations();
  readonly startTransactions = new Summary();
  /** How many snapshots were being sent when a further one began. */
  readonly snapshotsUnderWay = new Summary();
  readonly #times = new ProposalTimes(this.quorumAcks, this.proposalsApplied);
  /** When the current outage began; null while the member serves in a role. */
  #outageSinceMs: number | null;
  /** When the newest election began, and when the last one ended. */
  #electingSinceMs: number;
  #foundAtMs = 0;
  /** When the current write to disk began; null if there is none. */
  #writingSinceMs: number | null = null;

  /** The member begins to look for a leader at `nowMs`, after its recovery. */
  constructor(nowMs: number) {
    this.#outageSinceMs = nowMs;
    this.#electingSinceMs = nowMs;
  }

  /** Counts an event that the core has noted. */
  count(event: string, nowMs: number): void {
    if (event === 'sync.diff') this.diffsSent += 1;
    else if (event === 'sync.trunc') this.truncationsSent += 1;
    else if (event === 'sync.diverged' || event === 'history.diverged') this.divergences += 1;
    else if (event === 'role.looking') this.#onLooking(nowMs);
    else if (event === 'role.following' || event === 'role.leading') this.#onFound(nowMs);
  }

  onAppended({ count, bytes }: ProposalBatch): void {
    this.appended += count;
    this.appendedBytes += bytes.length;
  }

  onProposed(through: Zxid, count: number, nowMs: number): void {
    this.proposals += count;
    this.#times.onProposed(through, count, nowMs);
  }

  /** As the leader: a quorum has logged everything up to `through`. */
  onCommitted(through: Zxid, nowMs: number): void {
    this.#times.onCommitted(through, nowMs);
  }

  onDelivered({ count, through, madeWallMs, wallMs, nowMs }: Delivered, role: RoleName): void {
    this.commits += count;
    if (role !== 'leading') this.learnedCommits += count;
    // Before it serves, a member applies transactions that may be days old.
    if (role !== 'looking') this.propagation.record(wallMs - madeWallMs, count);
    this.#times.onApplied(through, nowMs);
  }

  /** The member serves in this role from now on; or it looks for a leader, maybe again. */
  onRole(role: RoleName, nowMs: number): void {
    this.#times.clear();
    if (role === 'looking') {
      this.#outageSinceMs ??= nowMs;
      return;
    }
    const outageMs = nowMs - (this.#outageSinceMs ?? nowMs);
    this.#outageSinceMs = null;
    this.outages.record(outageMs);
    if (role === 'leading') this.leaderOutages.record(outageMs);
    else this.learnerSyncs.record(nowMs - this.#foundAtMs);
  }

  onSnapshot(underWay: number): void {
    this.snapshotsSent += 1;
    this.snapshotsUnderWay.record(underWay);
  }

  onWriting(nowMs: number): void {
    this.#writingSinceMs = nowMs;
  }

  /** The current write is durable. Returns how long it took, in ms. */
  onWritten(nowMs: number): number {
    const ms = this.writeWaitMs(nowMs);
    this.syncs.record(ms);
    this.#writingSinceMs = null;
    return ms;
  }

  writeWaitMs(nowMs: number): number {
    return this.#writingSinceMs === null ? 0 : nowMs - this.#writingSinceMs;
  }

  #onLooking(nowMs: number): void {
    this.looked += 1;
    this.#electingSinceMs = nowMs;
  }

  #onFound(nowMs: number): void {
    this.#foundAtMs = nowMs;
    this.elections.record(nowMs - this.#electingSinceMs);
  }
}

/** Enough for many seconds without an answer of a quorum. */
export const MARKS_MAX = 10_000;

interface Mark {
  readonly through: Zxid;
  readonly count: number;
  readonly proposedMs: number;
}

/**
 * Measures how long this leader's proposals take until a quorum has logged them and until they are
 * applied here.
 *
 * There is one mark for each batch, mostly one in a turn. Beyond MARKS_MAX marks that are not
 * applied, nothing is measured until some are. Owned by the counters.
 */
export class ProposalTimes {
  readonly #acks: Durations;
  readonly #applied: Durations;
  /** Marks in the order of their zxids. */
  readonly #uncommitted = new Fifo<Mark>();
  readonly #unapplied = new Fifo<Mark>();

  constructor(acks: Durations, applied: Durations) {
    this.#acks = acks;
    this.#applied = applied;
  }

  onProposed(through: Zxid, count: number, nowMs: number): void {
    if (this.#unapplied.length >= MARKS_MAX) return;
    const mark = { through, count, proposedMs: nowMs };
    this.#uncommitted.push(mark);
    this.#unapplied.push(mark);
  }

  /** Called each time that a quorum has logged more. */
  onCommitted(through: Zxid, nowMs: number): void {
    takeThrough(this.#uncommitted, through, (mark) => {
      this.#acks.record(nowMs - mark.proposedMs, mark.count);
    });
  }

  /** Whatever is applied is also committed. */
  onApplied(through: Zxid, nowMs: number): void {
    this.onCommitted(through, nowMs);
    takeThrough(this.#unapplied, through, (mark) => {
      this.#applied.record(nowMs - mark.proposedMs, mark.count);
    });
  }

  /** Called when the term ends. */
  clear(): void {
    this.#uncommitted.clear();
    this.#unapplied.clear();
  }
}

function takeThrough(marks: Fifo<Mark>, through: Zxid, take: (mark: Mark) => void): void {
  for (let mark = marks.first; mark !== undefined; mark = marks.first) {
    if (mark.through > through) return;
    marks.shift();
    take(mark);
  }
}
