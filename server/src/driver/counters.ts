/** What `mntr` counts of the driver's work since the process started. */
export class Counters {
  commits = 0;
  snapshotsSent = 0;
  diffsSent = 0;
  truncationsSent = 0;
  /** Times this member went looking for a leader. */
  looked = 0;

  /** By the core's notes. */
  count(event: string): void {
    if (event === 'sync.diff') this.diffsSent += 1;
    else if (event === 'sync.trunc') this.truncationsSent += 1;
    else if (event === 'role.looking') this.looked += 1;
  }
}
