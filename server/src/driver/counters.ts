/**
 * What is counted and measured of the driver's work since the process started.
 *
 * Whoever does the work counts it; nothing is read back to decide anything. Times are handed in.
 * Shown by `mntr`, the metrics port and the admin port.
 */
import type { Zxid } from '@rookery/protocol';
import { Durations } from '../measures/durations.js';
import { Summary } from '../measures/summary.js';
import type { RoleName } from '../zab/index.js';
import { ProposalTimes } from './proposal-times.js';

/** What was just applied, all at once. */
export interface Delivered {
  readonly count: number;
  readonly through: Zxid;
  /** The leader's clock when it made the last of them; the clock here now. Both may be wrong. */
  readonly madeWallMs: number;
  readonly wallMs: number;
  readonly nowMs: number;
}

export class Counters {
  commits = 0;
  /** Of these, what another member proposed as the leader. */
  learnedCommits = 0;
  /** Of this member while it led. */
  proposals = 0;
  /** Handed to the log, its own included. */
  appended = 0;
  /** Sessions that this member closed while it led, because nothing was heard of them. */
  expiredSessions = 0;
  /** Clients that came with a session. */
  resumes = 0;
  snapshotsSent = 0;
  diffsSent = 0;
  truncationsSent = 0;
  /** Transactions that this member had in its log, maybe acknowledged, and had to give up. */
  discardedTransactions = 0;
  /** Histories of others, or of this member, that had another past than the leader's. */
  divergences = 0;
  /** Digests of one zxid that were not the same, as this member saw it while it led. */
  digestMismatches = 0;
  /** Times this member went looking for a leader. */
  looked = 0;
  /** Groups of proposals whose writing to the disk took longer than SLOW_SYNC_MS. */
  slowSyncs = 0;
  checkpointRecords = 0;
  /** The last one that was taken, since the process started. */
  checkpoint: { readonly zxid: Zxid; readonly wallMs: number } = { zxid: 0, wallMs: 0 };
  /** From looking for a leader to having found one, ms. */
  readonly elections = new Durations();
  /** From looking for a leader to serving clients: of all terms, and of those as the leader. */
  readonly outages = new Durations();
  readonly leaderOutages = new Durations();
  /** From having found a leader to serving as its follower. */
  readonly learnerSyncs = new Durations();
  /** Of one group of proposals: written and synced. */
  readonly syncs = new Durations();
  /** From the beginning of a checkpoint to its end. */
  readonly checkpoints = new Durations();
  /** As the leader: from proposing to a quorum's having it, and to its being applied here. */
  readonly quorumAcks = new Durations();
  readonly proposalsApplied = new Durations();
  /** From the leader's making a transaction to its being applied here, by the clocks of both. */
  readonly propagation = new Durations();
  /** How late the ticks of this member came: what kept its event loop. */
  readonly pauses = new Durations();
  /** Reading the disk when the process started, and the transactions behind the checkpoint. */
  readonly starts = new Durations();
  readonly startTransactions = new Summary();
  /** Snapshots that were on their way to learners when another one was begun. */
  readonly snapshotsUnderWay = new Summary();
  readonly #times = new ProposalTimes(this.quorumAcks, this.proposalsApplied);
  #lookingSinceMs = 0;
  #foundAtMs = 0;
  /** When the write began that the disk is at; null for none. */
  #writingSinceMs: number | null = null;

  /** By the core's notes. */
  count(event: string, nowMs: number): void {
    if (event === 'sync.diff') this.diffsSent += 1;
    else if (event === 'sync.trunc') this.truncationsSent += 1;
    else if (event === 'sync.diverged' || event === 'history.diverged') this.divergences += 1;
    else if (event === 'role.looking') this.#onLooking(nowMs);
    else if (event === 'role.following' || event === 'role.leading') this.#onFound(nowMs);
  }

  onProposed(through: Zxid, count: number, nowMs: number): void {
    this.proposals += count;
    this.#times.onProposed(through, count, nowMs);
  }

  /** As the leader: a quorum has all up to here. */
  onCommitted(through: Zxid, nowMs: number): void {
    this.#times.onCommitted(through, nowMs);
  }

  onDelivered({ count, through, madeWallMs, wallMs, nowMs }: Delivered, role: RoleName): void {
    this.commits += count;
    if (role !== 'leading') this.learnedCommits += count;
    // Before a member serves it applies what may be days old.
    if (role !== 'looking') this.propagation.record(wallMs - madeWallMs, count);
    this.#times.onApplied(through, nowMs);
  }

  /** It serves, or has ceased to. */
  onRole(role: RoleName, nowMs: number): void {
    this.#times.clear();
    if (role === 'looking') return;
    const forMs = nowMs - this.#lookingSinceMs;
    this.outages.record(forMs);
    if (role === 'leading') this.leaderOutages.record(forMs);
    else this.learnerSyncs.record(nowMs - this.#foundAtMs);
  }

  onSnapshot(underWay: number): void {
    this.snapshotsSent += 1;
    this.snapshotsUnderWay.record(underWay);
  }

  onWriting(nowMs: number): void {
    this.#writingSinceMs = nowMs;
  }

  /** It is durable. Returns how long that took, ms. */
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
    this.#lookingSinceMs = nowMs;
  }

  #onFound(nowMs: number): void {
    this.#foundAtMs = nowMs;
    this.elections.record(nowMs - this.#lookingSinceMs);
  }
}
