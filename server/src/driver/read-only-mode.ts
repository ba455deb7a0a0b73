/**
 * Decides when a member without a quorum serves reads, and holds the role that it shows.
 *
 * Read-only mode begins some time after the quorum was lost, and only if this member has taken part
 * in its ensemble and applied something: a wiped or damaged member would show a tree that never
 * existed. It ends before the state changes, so that no connection sees both the old and the new
 * state, and does not begin while a snapshot is being installed, which replaces the state at its
 * end.
 */
import { formatZxid, type PeerId } from '@rookery/protocol';
import type { Clock } from '../net/timers.js';
import type { RoleName, RoleView } from '../zab/index.js';
import type { DriverParts } from './parts.js';

export class ReadOnlyMode {
  readonly #parts: DriverParts;

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** Called at each tick of a member that shows `looking`, with the time for which it has. */
  onTick(lookingMs: number, isInstalling: boolean): void {
    const { options, pipeline, zab, logger } = this.#parts;
    if (options.readOnlyAfterMs === null || lookingMs < options.readOnlyAfterMs) return;
    if (isInstalling) return;
    if (pipeline.isReadOnly || zab.role !== 'looking' || zab.replica.hasMore) return;
    if (!zab.replica.founded || !zab.replica.sound || zab.replica.delivered === 0) return;
    logger.info({ zxid: formatZxid(zab.replica.delivered) }, 'role.read_only');
    pipeline.startServingReadOnly();
  }

  /** Called when this member's state is about to change or is given up, or it shows a role. */
  end(): void {
    const { pipeline, logger } = this.#parts;
    if (!pipeline.isReadOnly) return;
    const ended = pipeline.stopServing();
    logger.info({ clients: ended.length }, 'role.read_only_ended');
  }
}

/**
 * The role that a member shows to clients and operators, with its leader and for how long.
 *
 * It is `looking` until the member serves, whatever the core's role is, and stays so through
 * attempts to lead or to follow that fail. Owned by the driver.
 */
export class ShownRole implements RoleView {
  readonly #clock: Clock;
  #role: RoleName = 'looking';
  #leader: PeerId = 0;
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.nowMs();
  }

  get role(): RoleName {
    return this.#role;
  }
  get leader(): PeerId {
    return this.#leader;
  }
  get forMs(): number {
    return this.#clock.nowMs() - this.#sinceMs;
  }

  /** Returns the former role. `forMs` continues if that is the same role. */
  show(role: RoleName, leader: PeerId, nowMs: number): RoleName {
    const was = this.#role;
    this.#role = role;
    this.#leader = leader;
    if (role !== was) this.#sinceMs = nowMs;
    return was;
  }
}
