/**
 * What `mntr` counts of the driver's work since the process started.
 *
 * Whoever does the work counts it; nothing is read back to decide anything.
 */
import { Summary } from '../net/summary.js';

export class Counters {
  commits = 0;
  /** Of this member while it led. */
  proposals = 0;
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
  /** From looking for a leader to serving clients, ms. */
  readonly elections = new Summary();

  /** By the core's notes. */
  count(event: string): void {
    if (event === 'sync.diff') this.diffsSent += 1;
    else if (event === 'sync.trunc') this.truncationsSent += 1;
    else if (event === 'sync.diverged' || event === 'history.diverged') this.divergences += 1;
    else if (event === 'role.looking') this.looked += 1;
  }
}
