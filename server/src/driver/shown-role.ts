/**
 * The role that a member shows to clients and operators, with its leader and for how long.
 *
 * It is `looking` until the member serves, whatever the core's role is, and stays so through
 * attempts to lead or to follow that fail. Owned by the driver.
 */
import type { PeerId } from '@rookery/protocol';
import type { Timers } from '../net/timers.js';
import type { RoleName } from '../zab/index.js';

export class ShownRole {
  readonly #timers: Pick<Timers, 'nowMs'>;
  #role: RoleName = 'looking';
  #leader: PeerId = 0;
  #sinceMs: number;

  constructor(timers: Pick<Timers, 'nowMs'>) {
    this.#timers = timers;
    this.#sinceMs = timers.nowMs();
  }

  get role(): RoleName {
    return this.#role;
  }
  /** The leader that the member follows or is; 0 while it is `looking`. */
  get leader(): PeerId {
    return this.#leader;
  }
  get forMs(): number {
    return this.#timers.nowMs() - this.#sinceMs;
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
