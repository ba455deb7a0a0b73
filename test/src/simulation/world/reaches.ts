/**
 * Tells the checkers which members reach each other, and which answers arrive late.
 *
 * SimulatedWorld calls it after every fault that begins or ends, and when a machine starts or ends.
 */
import type { PeerId } from '@rookery/protocol';
import type { Recorder } from '../run/recorder.js';
import { wayOf } from './hosts.js';

/** What is the case at present. */
export interface Situation {
  ids(): readonly PeerId[];
  nowMs(): number;
  isUp(id: PeerId): boolean;
  standsStill(id: PeerId): boolean;
  isCut(from: PeerId, to: PeerId): boolean;
}

export class Reaches {
  readonly #recorder: Recorder;
  readonly #at: Situation;
  readonly #reached = new Map<PeerId, string>();
  /** For each direction: until when its end ran and received; infinity while it does. */
  readonly #heardUntilMs = new Map<string, number>();

  constructor(recorder: Recorder, at: Situation) {
    this.#recorder = recorder;
    this.#at = at;
  }

  /** Notifies the checkers of every member whose view of the others has changed. */
  record(): void {
    for (const id of this.#at.ids()) {
      for (const other of this.#at.ids()) if (other !== id) this.#noteHeard(id, other);
      const reaches = this.#reachedBy(id);
      const text = reaches.join();
      if (this.#reached.get(id) === text) continue;
      this.#reached.set(id, text);
      this.#recorder.reach({ member: id, reaches });
    }
  }

  /**
   * The way is open again, so what the sender has sent meanwhile arrives, also where the sender
   * stands still or is down by now. It has answered the receiver's pings for as long as it ran and
   * received them.
   */
  recordLateArrival(from: PeerId, to: PeerId): void {
    const heardMs = this.#heardUntilMs.get(wayOf(to, from));
    if (heardMs === undefined || this.#reach(to, from)) return;
    const late = { from, heardMs: Math.min(heardMs, this.#at.nowMs()) };
    this.#recorder.reach({ member: to, reaches: this.#reachedBy(to), late });
  }

  #noteHeard(id: PeerId, from: PeerId): void {
    const way = wayOf(from, id);
    if (this.#receives(id, from)) this.#heardUntilMs.set(way, Number.POSITIVE_INFINITY);
    else if (this.#heardUntilMs.get(way) === Number.POSITIVE_INFINITY) {
      this.#heardUntilMs.set(way, this.#at.nowMs());
    }
  }

  #reachedBy(id: PeerId): readonly PeerId[] {
    return this.#at.ids().filter((other) => other !== id && this.#reach(id, other));
  }

  #reach(id: PeerId, other: PeerId): boolean {
    const { isUp, standsStill, isCut } = this.#at;
    if (standsStill(id) || standsStill(other) || !isUp(other)) return false;
    return !isCut(id, other) && !isCut(other, id);
  }

  /** Whether it runs and receives what the other one sends, even if that one receives nothing. */
  #receives(id: PeerId, from: PeerId): boolean {
    const { isUp, standsStill, isCut } = this.#at;
    return !isCut(from, id) && [id, from].every((one) => isUp(one) && !standsStill(one));
  }
}
