/**
 * One of the clients of lease-chaos.ts, behind proxies of its own: what is done to its connections.
 */
import { type Client, createClient, type Lease } from '@rookery/client';
import type { LinkProxy } from '../harness/proxy.js';

/** What members are to be started with, so that a session expires within seconds. */
export const CHAOS_TICK_MS = 200;
const SESSION_TIMEOUT_MS = 1_000;

/** One client and the proxies it reaches the members by; closed and replaced as a fault. */
export class ChaosContender {
  client: Client;
  /** What it is at, for the report of a hang. */
  doing = 'nothing';
  /** What it holds now. */
  lease: Lease | null = null;
  readonly proxies: readonly LinkProxy[];
  readonly #worker: boolean;

  constructor(proxies: readonly LinkProxy[], worker: boolean) {
    this.proxies = proxies;
    this.#worker = worker;
    this.client = this.#newClient();
  }

  get hosts(): string[] {
    return this.proxies.map(({ port }) => `127.0.0.1:${port}`);
  }

  async replace(): Promise<Client> {
    const old = this.client;
    const closed = old.close();
    this.client = this.#newClient();
    await closed;
    return old;
  }

  cut(): void {
    for (const proxy of this.proxies) {
      proxy.hold('out');
      proxy.hold('back');
      proxy.reset();
    }
  }

  /** To one of its servers, and back to all of them: the first may have to be left. */
  moveTo(host: string): void {
    this.client.updateServers(host);
    this.client.updateServers(this.hosts.join(','));
  }

  pass(): void {
    for (const proxy of this.proxies) {
      proxy.delay(0);
      proxy.pass('out');
      proxy.pass('back');
    }
  }

  #newClient(): Client {
    return createClient(this.hosts.join(','), {
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
      reconnectDelayBaseMs: 20,
      reconnectDelayMaxMs: 200,
      worker: this.#worker,
    });
  }
}
