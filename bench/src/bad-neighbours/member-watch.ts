/**
 * Watches the members while a bad neighbour is at work: elections, members that ended, peak memory.
 *
 * Memory is the kernel's own high-water mark, read several times a second, so that it is also known
 * for a member that ended. Elections are the changes of leader or epoch that `srvr` shows, or the
 * number of epochs that have passed, whichever is more: two elections between two samples are two
 * epochs.
 */
import { Sampler } from '../run/sampler.js';
import type { Ensemble } from '../systems/ensemble.js';
import { type MemberState, statesOf } from '../systems/srvr.js';

const EVERY_MS = 200;

export interface MemberFacts {
  readonly elections: number;
  readonly membersEnded: number;
  /** The peak of the largest member, in bytes. */
  readonly peakBytes: number;
}

export class MemberWatch {
  readonly #ensemble: Ensemble;
  readonly #sampler: Sampler;
  readonly #timer: NodeJS.Timeout;
  readonly #epochBefore: number;
  #peakBytes = 0;

  private constructor(ensemble: Ensemble, epoch: number) {
    this.#ensemble = ensemble;
    this.#epochBefore = epoch;
    this.#sampler = new Sampler({ name: 'members', hosts: ensemble.hosts, ensemble });
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  /** A member shows its epoch only after something was written in it. */
  static async start(ensemble: Ensemble): Promise<MemberWatch> {
    return new MemberWatch(ensemble, newestEpoch(await statesOf(ensemble.hosts)));
  }

  async stop(): Promise<MemberFacts> {
    clearInterval(this.#timer);
    this.#look();
    await this.#sampler.stop();
    const epoch = newestEpoch(await statesOf(this.#ensemble.hosts));
    return {
      elections: Math.max(this.#sampler.elections, epoch - this.#epochBefore, 0),
      membersEnded: this.#ensemble.membersEnded,
      peakBytes: this.#peakBytes,
    };
  }

  #look(): void {
    const { peakResidentBytes } = this.#ensemble.facts();
    this.#peakBytes = Math.max(this.#peakBytes, ...peakResidentBytes);
  }
}

function newestEpoch(states: readonly (MemberState | null)[]): number {
  return Math.max(0, ...states.map((state) => state?.epoch ?? 0));
}
