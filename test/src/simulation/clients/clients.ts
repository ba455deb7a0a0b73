/**
 * All simulated clients of a run.
 *
 * They are a pure function of the seed and of the members' answers. `drain` ends the work: each
 * client comes back, reconnects until a member serves it, sends last requests (a write, a sync and
 * reads) and is drained when they are answered. The run creates and drives them.
 */
import type { Timers, Transport } from '../../simulated.js';
import type { Random } from '../random.js';
import type { Recorder } from '../run/recorder.js';
import { type ClientParts, HANDSHAKE_TIMEOUT_MS, type Seat } from './client-parts.js';
import type { ClientOptions } from './options.js';
import { ReadOnlyReader } from './read-only-reader.js';
import { SimulatedClient } from './simulated-client.js';

export interface ClientsSetup {
  /** The run's own clock, which no fault affects. */
  readonly timers: Timers;
  /** The client's host, which is not a member. */
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
  readonly #readers: readonly ReadOnlyReader[];
  readonly #setup: ClientsSetup;
  #connections = 0;

  constructor(setup: ClientsSetup) {
    this.#setup = setup;
    const { options, members } = setup;
    this.#clients = Array.from({ length: options.count }, (_, index) => {
      const handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS;
      return this.#newClient({ number: index + 1, options, members, handshakeTimeoutMs });
    });
    this.#readers = Array.from({ length: options.readOnlyReaders }, (_, index) => {
      // One more client may come: see ask.
      const number = options.count + 2 + index;
      const handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS;
      const of = { number, options, members, handshakeTimeoutMs };
      return new ReadOnlyReader(number, this.#randomOf(number), this.#partsOf(of));
    });
  }

  /**
   * Adds a client that sends some members only a write, a sync and reads. The others slow down and
   * this one is patient: a member that has a long log to apply, one transaction a turn, never
   * catches up with clients that send as many requests as it can process. Call it once.
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
    for (const reader of this.#readers) reader.start();
  }

  /**
   * No new work begins, and no client vanishes any more; clients reconnect until everything is
   * answered.
   */
  drain(): void {
    for (const client of this.#clients) client.drain();
    for (const reader of this.#readers) reader.stop();
  }

  get isDrained(): boolean {
    return this.#clients.every((client) => client.isDrained);
  }

  /**
   * Clients that are served elsewhere and can still send on their old connection, which its member
   * must close.
   */
  get askingWhereTheyLeft(): number {
    return this.#clients.filter((client) => client.hasLeftOneOpen).length;
  }

  #newClient(client: NewClient): SimulatedClient {
    const { number } = client;
    return new SimulatedClient(number, this.#randomOf(number), this.#partsOf(client));
  }

  #randomOf(number: number): Random {
    return this.#setup.random.fork(`client-${number}`);
  }

  #partsOf({ number, ...parts }: NewClient): ClientParts {
    const { timers, recorder } = this.#setup;
    const transport = this.#setup.transportOf(number);
    const nextConnection = () => ++this.#connections;
    return { timers, transport, recorder, nextConnection, ...parts };
  }

  /** The number of invocations so far. */
  get requests(): number {
    let sum = 0;
    for (const client of this.#clients) sum += client.requests;
    return sum;
  }
}
