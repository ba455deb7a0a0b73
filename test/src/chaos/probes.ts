/**
 * Clients that write small values all the time, to see when the ensemble takes writes.
 *
 * There are several, each with the servers in another order. A gap is therefore the ensemble's and
 * not that of a client that happens to be connected to a bad member. They check nothing; that is
 * what workloads do.
 */
import { type Client, connect, ensurePath } from '@rookery/client';
import type { Availability } from './availability.js';
import type { ConnectTarget } from './workloads/workload.js';

const PROBES = 3;
const PAUSE_MS = 25;
const PARENT = '/chaos-probe';

export class Probes {
  readonly #target: ConnectTarget;
  readonly #availability: Availability;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(target: ConnectTarget, availability: Availability) {
    this.#target = target;
    this.#availability = availability;
  }

  async start(): Promise<void> {
    const { connectString, options } = this.#target;
    const servers = connectString.split(',');
    const clients: Client[] = [];
    for (let i = 0; i < PROBES; i++) {
      const order = servers.map((_, at) => servers[(at + i) % servers.length]);
      clients.push(await connect(order.join(','), { ...options, shuffle: false }));
    }
    const [first] = clients;
    if (first === undefined) throw new Error('there is a probe');
    await ensurePath(first, PARENT);
    this.#running = Promise.all(clients.map((client) => this.#run(client)));
  }

  /** Stops the clients; resolves when their sessions are closed. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(client: Client): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await client.setData(PARENT, '');
        this.#availability.onAcknowledged(performance.now());
      } catch {
        // Whatever the error was, no write was acknowledged, and only that counts here.
      }
      await new Promise((resolve) => {
        setTimeout(resolve, PAUSE_MS);
      });
    }
    await client.close();
  }
}
