/**
 * Looks at the members once a second while something runs: memory, and who leads. And at the host.
 *
 * Asking takes the servers next to nothing. A change of leader between two looks is an election;
 * two within a second count once.
 */
import type { SystemUnderTest } from '../systems/ensemble.js';
import { isElectionBetween, knownAfter, type MemberState, statesOf } from '../systems/srvr.js';
import { type ProcessorTime, readProcessorTime, stolenShare } from '../systems/stolen-time.js';

const EVERY_MS = 1000;

export class Sampler {
  readonly #system: SystemUnderTest;
  readonly #timer: NodeJS.Timeout;
  /** Of each member, as it was when it answered last. */
  #states: readonly (MemberState | null)[] = [];
  #pending: Promise<void>;
  /** Of the largest member, at each look; none for servers that are not ours. */
  readonly residentBytes: number[] = [];
  /** Since the look before, of the processor time wanted: what the host kept; none if unknown. */
  readonly stolenShares: number[] = [];
  #processorTime: ProcessorTime | null = readProcessorTime();
  elections = 0;

  constructor(system: SystemUnderTest) {
    this.#system = system;
    this.#pending = this.#look();
    this.#timer = setInterval(() => void this.look(), EVERY_MS);
  }

  /** Once more, behind those that are under way. */
  async look(): Promise<void> {
    this.#pending = this.#pending.then(() => this.#look());
    await this.#pending;
  }

  /** After a last look. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.look();
  }

  async #look(): Promise<void> {
    const { ensemble, hosts } = this.#system;
    this.#lookAtHost();
    if (ensemble !== null) {
      this.residentBytes.push(Math.max(...ensemble.facts().residentBytes));
    }
    const states = await statesOf(hosts);
    if (isElectionBetween(this.#states, states)) this.elections++;
    this.#states = knownAfter(this.#states, states);
  }

  #lookAtHost(): void {
    const now = readProcessorTime();
    const share = stolenShare(this.#processorTime, now);
    if (share !== null) this.stolenShares.push(share);
    this.#processorTime = now;
  }
}
