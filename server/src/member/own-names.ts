/**
 * Resolves this member's own names before it opens its ports under them.
 *
 * In a container or a young network a member's own name may be published after the member starts.
 * So a name that does not resolve is waited for, with a line each ten seconds, instead of ending
 * the member. And a name that is a loopback address on this machine (Debian writes `127.0.1.1` for
 * a machine's own name) while others have real ones is an error in the log with its remedy: the
 * member would run, and no other member could reach it. Called at the start, by `server.ts`.
 */
import { isIP } from 'node:net';
import { errorMessage } from '@rookery/protocol';
import type { Logger } from 'pino';
import {
  clientAddressOf,
  EVERY_ADDRESS,
  isLoopback,
  listenHostsOf,
  peerAddressOf,
} from '../config/addresses.js';
import type { Config, ServerAddress } from '../config/config.js';
import { pause, type Timers } from '../net/timers.js';

/** Between two questions for a name. */
const AGAIN_MS = 1000;
const LINE_MS = 10_000;

/** Addresses of a name, at least one; rejects when it has none or the lookup fails. */
type Resolve = (name: string) => Promise<readonly string[]>;

export class OwnNames {
  readonly #servers: readonly ServerAddress[];
  readonly #self: ServerAddress;
  readonly #resolve: Resolve;
  readonly #timers: Timers;
  readonly #logger: Logger;
  /** The first of the names that is a loopback address here; null for none. */
  #loopback: string | null = null;

  constructor(
    config: Config,
    self: ServerAddress,
    resolve: Resolve,
    timers: Timers,
    logger: Logger,
  ) {
    this.#servers = config.servers;
    this.#self = self;
    this.#resolve = resolve;
    this.#timers = timers;
    this.#logger = logger;
  }

  /**
   * Resolves when each name that the member's client port and peer port need has an address.
   * Rejects with the signal's reason when that is aborted first.
   */
  async untilResolved(signal: AbortSignal | undefined): Promise<void> {
    const self = this.#self;
    const isAlone = this.#servers.length === 1;
    const bound = isAlone ? [clientAddressOf(self)] : [clientAddressOf(self), peerAddressOf(self)];
    const names = new Set(bound.flatMap(listenHostsOf).filter(isName));
    for (const name of names) {
      const addresses = await this.#addressesOf(name, signal);
      if (addresses.every(isLoopback)) this.#loopback ??= name;
    }
  }

  /**
   * Logs that no other machine reaches this member, if it listens at loopback addresses only
   * because of its name, and another member has another address. Never rejects.
   */
  async warnOfLoopback(): Promise<void> {
    const name = this.#loopback;
    if (name === null) return;
    for (const { id, host } of this.#servers) {
      if (id === this.#self.id || isLoopback(host)) continue;
      const addresses = isIP(host) === 0 ? await this.#resolve(host).catch(() => []) : [host];
      if (addresses.every(isLoopback)) continue;
      this.#logger.error(
        { name, other: host },
        'server.name_is_loopback: on this machine the name of this member is a loopback address, ' +
          'so no other machine can reach it; set "listen" in its entry of the config file ("*" ' +
          'is every address), or correct /etc/hosts',
      );
      return;
    }
  }

  async #addressesOf(name: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const sinceMs = this.#timers.nowMs();
    let lineMs = sinceMs;
    for (;;) {
      signal?.throwIfAborted();
      try {
        const addresses = await this.#resolveInTime(name, signal);
        if (lineMs > sinceMs) this.#logger.info({ name, addresses }, 'server.name_resolved');
        return addresses;
      } catch (error) {
        signal?.throwIfAborted();
        const nowMs = this.#timers.nowMs();
        if (nowMs >= lineMs) {
          lineMs = nowMs + LINE_MS;
          const waitedMs = Math.round(nowMs - sinceMs);
          const reason = errorMessage(error);
          this.#logger.warn(
            { name, waitedMs, reason },
            'server.name_unknown: this member cannot open its ports before its name resolves; ' +
              'it asks again each second. A "listen" of "*" or an address in its entry of the ' +
              'config file needs no name',
          );
        }
        const again = pause(AGAIN_MS, this.#timers, signal);
        await again.over;
        again.cancel();
      }
    }
  }

  /** Rejects when the lookup takes long: it goes on, and the next attempt finds what it finds. */
  async #resolveInTime(name: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const { over, cancel } = pause(AGAIN_MS, this.#timers, signal);
    const late = over.then(() => {
      throw new Error('the name server does not answer');
    });
    try {
      return await Promise.race([this.#resolve(name), late]);
    } finally {
      cancel();
    }
  }
}

/** Whether the resolver is asked for it: `localhost` is known everywhere. */
export function isName(host: string): boolean {
  return host !== EVERY_ADDRESS && isIP(host) === 0 && !isLoopback(host);
}
