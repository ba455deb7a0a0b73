/**
 * The servers to try, their order, and the addresses of their names.
 *
 * A round returns every address of every server once. Names are resolved again in each round, each
 * when it is the next to be tried, so that a slow resolver does not delay other servers. The order
 * is shuffled once at the start, and a round starts after the server that was connected last.
 */
import { type ServerName, serverText } from './connect-string.js';
import type { Address, Resolve } from './link.js';

export interface HostListOptions {
  readonly resolve: Resolve;
  readonly shuffle: boolean;
  readonly random: () => number;
}

export class HostList {
  readonly #options: HostListOptions;
  #servers: readonly ServerName[] = [];
  #next = 0;
  /** The server with which the next round starts, or null. */
  #preferred: ServerName | null = null;

  constructor(servers: readonly ServerName[], options: HostListOptions) {
    this.#options = options;
    this.replace(servers);
  }

  get size(): number {
    return this.#servers.length;
  }

  has(server: ServerName): boolean {
    return this.#indexOf(server) !== -1;
  }

  replace(servers: readonly ServerName[]): void {
    this.#servers = this.#options.shuffle ? shuffled(servers, this.#options.random) : servers;
    this.#next = 0;
  }

  /** The next round starts after this server. */
  startBehind(server: ServerName): void {
    const index = this.#indexOf(server);
    if (index !== -1) this.#next = (index + 1) % this.#servers.length;
  }

  /** Only the next round starts with this server. */
  startWith(server: ServerName): void {
    this.#preferred = server;
  }

  /** The servers of a round, each with a function that returns its addresses. */
  round(): { readonly server: ServerName; addresses(): Promise<Address[]> }[] {
    const { length } = this.#servers;
    const preferred = this.#preferred === null ? -1 : this.#indexOf(this.#preferred);
    this.#preferred = null;
    const start = preferred === -1 ? this.#next : preferred;
    return this.#servers.map((_, offset) => {
      const server = this.#servers[(start + offset) % length] ?? { host: '', port: 0 };
      return { server, addresses: () => this.#addressesOf(server) };
    });
  }

  async #addressesOf(server: ServerName): Promise<Address[]> {
    const ips = await this.#options.resolve(server.host);
    const ordered = this.#options.shuffle ? shuffled(ips, this.#options.random) : ips;
    return ordered.map((ip) => ({ server, ip }));
  }

  #indexOf(server: ServerName): number {
    const text = serverText(server);
    return this.#servers.findIndex((candidate) => serverText(candidate) === text);
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
