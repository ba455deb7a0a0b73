/**
 * When a member without a quorum serves reads, and when no longer.
 *
 * It begins after the quorum was missed for a while, and only where this member has taken part in
 * its ensemble and applied something: a wiped or damaged one would show a tree that never was. It
 * ends before anything changes here: its clients never see two worlds on one connection.
 */
import { formatZxid } from '@rookery/protocol';
import type { DriverParts } from './parts.js';

export class ReadOnlyMode {
  readonly #parts: DriverParts;

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** At each tick of a member that serves in no role, and has not for `lookingMs`. */
  onTick(lookingMs: number): void {
    const { options, pipeline, zab, logger } = this.#parts;
    if (options.readOnlyAfterMs === null || lookingMs < options.readOnlyAfterMs) return;
    if (pipeline.isReadOnly || zab.role !== 'looking' || zab.hasMore) return;
    if (!zab.founded || !zab.sound || zab.delivered === 0) return;
    logger.info({ zxid: formatZxid(zab.delivered) }, 'role.read_only');
    pipeline.startServingReadOnly();
  }

  /** A quorum is there, and this member is about to change. */
  end(): void {
    const { pipeline, logger } = this.#parts;
    if (!pipeline.isReadOnly) return;
    const ended = pipeline.stopServing();
    logger.info({ clients: ended.length }, 'role.read_only_ended');
  }
}
