/**
 * A small record on disk whose content is also in memory, so that damage to it is repaired at once
 * without asking a quorum.
 */
export interface KnownRecord {
  /** For messages to operators. */
  readonly name: string;
  /** Compares it with memory; writes may run meanwhile. Throws DamagedError if they differ. */
  check(): Promise<void>;
  /** Rewrites it. Durable when resolved; a failure is fatal. */
  writeAnew(): Promise<void>;
}
