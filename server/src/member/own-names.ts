/**
 * The names under which this member opens its ports, before it opens them.
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

export interface OwnNamesParts {
  readonly logger: Logger;
  readonly timers: Pick<Timers, 'nowMs' | 'after'>;
  /** Addresses of a name, at least one; rejects when it has none or the lookup fails. */
  resolve(name: string): Promise<readonly string[]>;
}

/**
 * Resolves when each name that the member's client port and peer port need has an address, with
 * those that are loopback addresses here. Rejects with the signal's reason when that is aborted
 * first.
 */
export async function untilOwnNamesResolve(
  config: Config,
  self: ServerAddress,
  parts: OwnNamesParts,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const isAlone = config.servers.length === 1;
  const bound = isAlone ? [clientAddressOf(self)] : [clientAddressOf(self), peerAddressOf(self)];
  const names = new Set(bound.flatMap(listenHostsOf).filter(isName));
  const loopbacks: string[] = [];
  for (const name of names) {
    const addresses = await untilResolved(name, parts, signal);
    if (addresses.every(isLoopback)) loopbacks.push(name);
  }
  return loopbacks;
}

/** Whether the resolver is asked for it: `localhost` is known everywhere. */
export function isName(host: string): boolean {
  return host !== EVERY_ADDRESS && isIP(host) === 0 && !isLoopback(host);
}

async function untilResolved(
  name: string,
  { logger, timers, resolve }: OwnNamesParts,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const sinceMs = timers.nowMs();
  let lineMs = sinceMs;
  for (;;) {
    signal?.throwIfAborted();
    try {
      const addresses = await inTime(resolve(name), timers, signal);
      if (lineMs > sinceMs) logger.info({ name, addresses }, 'server.name_resolved');
      return addresses;
    } catch (error) {
      signal?.throwIfAborted();
      const nowMs = timers.nowMs();
      if (nowMs >= lineMs) {
        lineMs = nowMs + LINE_MS;
        const waitedMs = Math.round(nowMs - sinceMs);
        const reason = errorMessage(error);
        logger.warn(
          { name, waitedMs, reason },
          'server.name_unknown: this member cannot open its ports before its name resolves; ' +
            'it asks again each second. A "listen" of "*" or an address in its entry of the ' +
            'config file needs no name',
        );
      }
      const again = pause(AGAIN_MS, timers, signal);
      await again.over;
      again.cancel();
    }
  }
}

/** Rejects when the lookup takes long: it goes on, and the next question finds what it finds. */
async function inTime<T>(
  lookup: Promise<T>,
  timers: Pick<Timers, 'after'>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { over, cancel } = pause(AGAIN_MS, timers, signal);
  const late = over.then(() => {
    throw new Error('the name server does not answer');
  });
  try {
    return await Promise.race([lookup, late]);
  } finally {
    cancel();
  }
}

/**
 * Says that no other machine reaches this member, if it listens at loopback addresses only because
 * of its name, and another member has another address. Never rejects.
 */
export async function warnOfLoopback(
  { servers }: Config,
  self: ServerAddress,
  [name]: readonly string[],
  { logger, resolve }: OwnNamesParts,
): Promise<void> {
  if (name === undefined) return;
  for (const { id, host } of servers) {
    if (id === self.id || isLoopback(host)) continue;
    const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
    if (addresses.every(isLoopback)) continue;
    logger.error(
      { name, other: host },
      'server.name_is_loopback: on this machine the name of this member is a loopback address, ' +
        'so no other machine can reach it; set "listen" in its entry of the config file ("*" is ' +
        'every address), or correct /etc/hosts',
    );
    return;
  }
}
