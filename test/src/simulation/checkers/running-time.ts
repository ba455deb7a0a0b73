/**
 * How long a member has run, by its own clock: time in which it was stalled is not counted.
 *
 * It is derived from the member's ticks: of the time between two of them at most a heartbeat, which
 * is two ticks, counts. It is kept for each tick of a member's incarnation, so that any span can be
 * queried.
 */
import type { PeerId } from '@rookery/protocol';

interface Life {
  readonly atMs: number[];
  readonly ranMs: number[];
  lastMs: number;
}

export class RunningTime {
  readonly #stepMaxMs: number;
  readonly #lives: Life[];

  constructor(members: number, heartbeatMs: number) {
    this.#stepMaxMs = heartbeatMs;
    this.#lives = Array.from({ length: members + 1 }, newLife);
  }

  restart(member: PeerId): void {
    this.#lives[member] = newLife();
  }

  /** `atMs` is by the run's clock, `ownMs` by the member's. */
  tick(member: PeerId, atMs: number, ownMs: number): void {
    const life = this.#lives[member];
    if (life === undefined) return;
    const before = life.ranMs.at(-1) ?? 0;
    const stepMs = Number.isNaN(life.lastMs) ? 0 : ownMs - life.lastMs;
    life.lastMs = ownMs;
    life.atMs.push(atMs);
    life.ranMs.push(before + Math.min(stepMs, this.#stepMaxMs));
  }

  /** Returns how long it ran between two times of the run's clock; rather a tick too much. */
  between(member: PeerId, fromMs: number, toMs: number): number {
    const life = this.#lives[member];
    if (life === undefined) return 0;
    return ranUntil(life, toMs) - ranUntil(life, fromMs);
  }
}

function newLife(): Life {
  return { atMs: [], ranMs: [], lastMs: Number.NaN };
}

/** Returns the value at the last tick at or before this time. */
function ranUntil({ atMs, ranMs }: Life, timeMs: number): number {
  let low = 0;
  let high = atMs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((atMs[middle] ?? 0) <= timeMs) low = middle + 1;
    else high = middle;
  }
  return ranMs[low - 1] ?? 0;
}
