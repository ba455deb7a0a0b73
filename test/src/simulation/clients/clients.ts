/**
 * All simulated clients of a run.
 *
 * A pure function of the seed and of what the members answer. `drain` ends the work: each client
 * comes back, reconnects until a member serves it, asks a last time (a write, a sync and reads)
 * and is drained when that is answered. Created and driven by the run.
 */
import type { Timers, Transport } from '../../simulated.js';
import type { Random } from '../random.js';
import type { Recorder } from '../run/recorder.js';
import { HANDSHAKE_TIMEOUT_MS, type Seat } from './client-parts.js';
import type { ClientOptions } from './options.js';
import { SimulatedClient } from './simulated-client.js';

export interface ClientsSetup {
  /** The run's own clock, which no fault touches. */
  readonly timers: Timers;
  /** Of the client's host, which is no member. */
  transportOf(client: number): Transport;
  readonly members: readonly Seat[];
  readonly random: Random;
  readonly recorder: Recorder;
  readonly options: ClientOptions;
}

interface NewClient {
  readonly number: number;
  readonly options: ClientOptions;
  readonly members: readonly Seat[];
  readonly handshakeTimeoutMs: number;
}

const ASKER_TIMEOUT_MS = 10_000;

export class Clients {
  readonly #clients: SimulatedClient[];
  readonly #setup: ClientsSetup;
  #connections = 0;

  constructor(setup: ClientsSetup) {
    this.#setup = setup;
    const { options, members } = setup;
    this.#clients = Array.from({ length: options.count }, (_, index) => {
      const handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS;
      return this.#newClient({ number: index + 1, options, members, handshakeTimeoutMs });
    });
  }

  /**
   * One more client, which asks some members nothing but a write, a sync and reads. The others slow
   * down and this one is patient: a member that has a long log to apply, one transaction a turn,
   * never catches up with clients that ask for as many as it can do. Call it once.
   */
  ask(members: readonly Seat[]): { readonly isDrained: boolean } {
    for (const client of this.#clients) client.slowDown();
    const options = { ...this.#setup.options, readerShare: 0 };
    const client = this.#newClient({
      number: this.#clients.length + 1,
      options,
      members,
      handshakeTimeoutMs: ASKER_TIMEOUT_MS,
    });
    this.#clients.push(client);
    client.drain();
    client.start();
    return client;
  }

  start(): void {
    for (const client of this.#clients) client.start();
  }

  /** No new work, nobody vanishes any more; reconnect until all is answered. */
  drain(): void {
    for (const client of this.#clients) client.drain();
  }

  get isDrained(): boolean {
    return this.#clients.every((client) => client.isDrained);
  }

  /** Who is served elsewhere and can still ask where it was before: the member must end that. */
  get askingWhereTheyLeft(): number {
    return this.#clients.filter((client) => client.hasLeftOneOpen).length;
  }

  #newClient({ number, ...parts }: NewClient): SimulatedClient {
    const { random, timers, recorder } = this.#setup;
    const transport = this.#setup.transportOf(number);
    const nextConnection = () => ++this.#connections;
    return new SimulatedClient(number, random.fork(`client-${number}`), {
      ...{ timers, transport, recorder, nextConnection, ...parts },
    });
  }

  /** Invocations so far. */
  get requests(): number {
    let sum = 0;
    for (const client of this.#clients) sum += client.requests;
    return sum;
  }
}
