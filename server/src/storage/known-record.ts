/**
 * A small record on the disk whose content its owner knows by itself, so that it can be written
 * again as soon as it is found damaged, and no quorum is asked.
 */
export interface KnownRecord {
  /** For messages to operators. */
  readonly name: string;
  /** Reads it, while it may be written. Throws DamagedError unless it says what it should. */
  check(): Promise<void>;
  /** Writes it again. Durable when resolved; a failure is fatal. */
  writeAnew(): Promise<void>;
}
