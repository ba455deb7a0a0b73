/**
 * Samples the members once a second while something runs: memory, and which member leads. It
 * samples the host too.
 *
 * Asking costs the servers next to nothing. A change of leader between two samples is an election;
 * two within a second count once.
 */
import type { SystemUnderTest } from '../systems/ensemble.js';
import { isElectionBetween, knownAfter, type MemberState, statesOf } from '../systems/srvr.js';
import { type ProcessorTime, readProcessorTime, stolenShare } from '../systems/stolen-time.js';

const EVERY_MS = 1000;

export class Sampler {
  readonly #system: SystemUnderTest;
  readonly #timer: NodeJS.Timeout;
  /** The state of each member when it last answered. */
  #states: readonly (MemberState | null)[] = [];
  #pending: Promise<void>;
  /**
   * The memory of the largest member at each sample; empty for servers that the bench did not
   * start.
   */
  readonly residentBytes: number[] = [];
  /**
   * The share of the wanted processor time that the host stole since the previous sample; empty if
   * unknown.
   */
  readonly stolenShares: number[] = [];
  #processorTime: ProcessorTime | null = readProcessorTime();
  elections = 0;

  constructor(system: SystemUnderTest) {
    this.#system = system;
    this.#pending = this.#look();
    this.#timer = setInterval(() => void this.look(), EVERY_MS);
  }

  /** Takes one more sample after those that are in progress. */
  async look(): Promise<void> {
    this.#pending = this.#pending.then(() => this.#look());
    await this.#pending;
  }

  /** Takes a last sample first. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.look();
  }

  async #look(): Promise<void> {
    const { ensemble, hosts } = this.#system;
    this.#sampleHost();
    if (ensemble !== null) {
      this.residentBytes.push(Math.max(...ensemble.facts().residentBytes));
    }
    const states = await statesOf(hosts);
    if (isElectionBetween(this.#states, states)) this.elections++;
    this.#states = knownAfter(this.#states, states);
  }

  #sampleHost(): void {
    const now = readProcessorTime();
    const share = stolenShare(this.#processorTime, now);
    if (share !== null) this.stolenShares.push(share);
    this.#processorTime = now;
  }
}
