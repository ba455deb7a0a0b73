/**
 * The single checks of `rookery config check`: names, ports, directories and clocks.
 *
 * Each has a time limit of its own and never rejects: what cannot be found out is a finding, too.
 */

import { lookup } from 'node:dns/promises';
import { statfs } from 'node:fs/promises';
import { get } from 'node:http';
import { connect, isIP } from 'node:net';
import { addressText } from '@rookery/protocol';
import {
  type Config,
  clientAddressOf,
  isEveryAddress,
  isLoopback,
  peerAddressOf,
  type ServerAddress,
} from '@rookery/server';
import { placeOf } from '../machine/directories.js';
import { codeOf } from '../machine/error-code.js';
import { listenError, listenersOf, serviceOf } from '../machine/ports.js';

type Verdict = 'ok' | 'warning' | 'FAIL';

export interface Finding {
  readonly verdict: Verdict;
  /** A sentence that says what was tried and what the result was, with the remedy for a failure. */
  readonly text: string;
}

const LOOKUP_MS = 5_000;
const DIAL_MS = 2_000;
/** Clocks that are further apart than this need repair. */
const CLOCK_MS_MAX = 2_000;
/** With less free space than this, a member of any size will soon stop. */
const FREE_BYTES_MIN = 1 << 30;
/** The dial errors that show that the machine is there. */
const MACHINE_IS_THERE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET']);

export const finding = (verdict: Verdict, text: string): Finding => ({ verdict, text });

/** Looks a member's name up. Null for an address, which needs no name server. */
export async function nameCheck(
  server: ServerAddress,
  { servers }: Config,
  id: number | null,
): Promise<Finding | null> {
  const { host } = server;
  if (isIP(host) !== 0) return null;
  const who = `the name of member ${server.id}, ${host},`;
  const addresses = await addressesOf(host);
  if (typeof addresses === 'string') {
    return finding('FAIL', `${who} does not resolve here (${addresses}): members wait for it`);
  }
  const others = servers.filter((other) => other.id !== server.id);
  const known = await Promise.all(others.map((other) => addressesOf(other.host)));
  const areElsewhere = known.some((one) => typeof one !== 'string' && !one.every(isLoopback));
  const where = `${who} is ${addresses.join(', ')} here`;
  if (!addresses.every(isLoopback) || !areElsewhere) return finding('ok', where);
  const needsName = [clientAddressOf(server), peerAddressOf(server)].some((address) =>
    [address.host].flat().includes(host),
  );
  if (id !== null && server.id !== id) {
    return finding('FAIL', `${where}: member ${id} would look for it on its own machine`);
  }
  if (!needsName) return finding('ok', `${where}, and its ports are opened elsewhere`);
  return finding(
    'FAIL',
    `${where}, where no other machine reaches it: set "listen" in its entry ("*" is every ` +
      'address), or correct /etc/hosts',
  );
}

/** Resolves with the addresses, or with the reason if there are none. */
async function addressesOf(host: string): Promise<readonly string[] | string> {
  if (isIP(host) !== 0) return [host];
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`no answer in ${LOOKUP_MS / 1000} s`), LOOKUP_MS).unref();
  });
  const found = lookup(host, { all: true }).then(
    (all) => all.map(({ address }) => address),
    (error: unknown) => codeOf(error),
  );
  return await Promise.race([found, late]);
}

/**
 * Checks whether the member's ports can be opened here; a member that runs has opened them already.
 */
export async function bindCheck(self: ServerAddress, config: Config): Promise<Finding[]> {
  const found: Finding[] = [];
  const runs = (await serviceOf(self, DIAL_MS)) !== 'down';
  for (const [use, { host: hosts, port }] of listenersOf(self, config)) {
    if (use === 'peer' && config.servers.length === 1) continue;
    for (const host of [hosts].flat()) {
      const code = await listenError(host, port);
      const where = `port ${port} on ${host === '*' ? 'every address' : host}, the ${use} port`;
      if (code === null) found.push(finding('ok', `${where}, can be opened`));
      else if (code === 'EADDRINUSE' && runs) {
        found.push(finding('ok', `${where}, is in use, and the member runs`));
      } else found.push(finding('FAIL', `${where}, cannot be opened: ${reasonFor(code)}`));
    }
  }
  return found;
}

function reasonFor(code: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'another process has it (EADDRINUSE)';
    case 'EADDRNOTAVAIL':
      return 'it is not an address of this machine (EADDRNOTAVAIL); set "listen" in its entry';
    default:
      return code;
  }
}

export async function directoryCheck(directory: string): Promise<Finding> {
  const { path: there, code } = await placeOf(directory);
  if (code !== null) return finding('FAIL', `${directory} cannot be written: ${there} (${code})`);
  const { bavail, bsize } = await statfs(there);
  const free = bavail * bsize;
  const text = `${directory} ${there === directory ? 'exists' : 'can be created'}`;
  const gigabytes = (free / 2 ** 30).toFixed(1);
  if (free >= FREE_BYTES_MIN) return finding('ok', `${text}; ${gigabytes} GiB are free`);
  return finding('warning', `${text}, but only ${gigabytes} GiB are free`);
}

/** Checks from here whether another member's ports are open. */
export async function dialCheck(server: ServerAddress, members: number): Promise<Finding[]> {
  const ports = { client: server.clientPort, peer: server.peerPort };
  const used = Object.entries(ports).filter(([use]) => use !== 'peer' || members > 1);
  return await Promise.all(
    used.map(async ([use, port]) => {
      const host = use === 'client' ? (server.clientHost ?? server.host) : server.host;
      const what = `the ${use} port of member ${server.id}, ${addressText(host, port)},`;
      const code = await dialError(host, port);
      if (code === null) return finding('ok', `${what} is open`);
      if (MACHINE_IS_THERE.has(code)) {
        return finding('warning', `${what} is closed (${code}): the member does not run now`);
      }
      return finding('FAIL', `${what} cannot be reached from here (${code})`);
    }),
  );
}

function dialError(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const late = setTimeout(() => end(`no answer in ${DIAL_MS / 1000} s`), DIAL_MS);
    const end = (code: string | null) => {
      clearTimeout(late);
      socket.destroy();
      resolve(code);
    };
    socket.once('connect', () => end(null));
    socket.on('error', (error) => end(codeOf(error)));
  });
}

/** What was found out about a clock. */
interface ClockFinding extends Finding {
  /** Whether the clock to be repaired is the one of this machine. */
  readonly isHere: boolean;
}

/**
 * Compares clocks by the Date header of an HTTP answer, in whole seconds. Members without an HTTP
 * port are left out. Where more than half of the members, and two at least, agree on a time that is
 * not the one here, the clock of this machine is the wrong one, and members are compared with them.
 */
export async function clockChecks(
  servers: readonly ServerAddress[],
  config: Config,
): Promise<ClockFinding[]> {
  const asked = await Promise.all(servers.map((server) => memberClock(server, config)));
  const clocks = asked.filter((clock) => clock !== null);
  const agreedMs = agreedOf(clocks.flatMap(({ aheadMs }) => aheadMs ?? []));
  const isWrongHere = agreedMs !== null && apartOf(agreedMs) > CLOCK_MS_MAX;
  const baseMs = isWrongHere ? agreedMs : 0;
  const others = isWrongHere ? 'most members' : 'this machine';
  const found = clocks.map(({ id, aheadMs }) => {
    if (aheadMs === null) {
      const text = `the clock of member ${id} could not be asked for`;
      return { ...finding('warning', text), isHere: false };
    }
    const apart = `the clocks of member ${id} and of ${others}`;
    return { ...clockFinding(apart, aheadMs - baseMs), isHere: false };
  });
  if (!isWrongHere) return found;
  const here = clockFinding('the clocks of this machine and of its members', agreedMs);
  return [{ ...here, isHere: true }, ...found];
}

function clockFinding(what: string, differenceMs: number): Finding {
  const apartMs = apartOf(differenceMs);
  if (apartMs <= CLOCK_MS_MAX) return finding('ok', `${what} agree`);
  const seconds = (apartMs / 1000).toFixed(1);
  return finding('FAIL', `${what} are ${seconds} s apart: repair time synchronization`);
}

/** What is certain of a difference between times of which one is in whole seconds. */
function apartOf(differenceMs: number): number {
  return Math.max(0, Math.abs(differenceMs) - 500);
}

/** On which difference more than half of two or more agree; null if they do not. */
function agreedOf(differencesMs: readonly number[]): number | null {
  if (differencesMs.length < 2) return null;
  const sorted = differencesMs.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const agreeing = sorted.filter((one) => apartOf(one - middle) <= CLOCK_MS_MAX);
  return 2 * agreeing.length > sorted.length ? middle : null;
}

interface MemberClock {
  readonly id: number;
  /** How far it is ahead of the clock of this machine; null if it could not be asked for. */
  readonly aheadMs: number | null;
}

/**
 * Where the metrics port of a member is asked from here. The setting is the same for all members: a
 * wildcard or a loopback address of it would be this machine, whichever member is meant.
 */
export function metricsDialHost(
  { host }: Pick<ServerAddress, 'host'>,
  { metricsHost }: Pick<Config, 'metricsHost'>,
): string {
  const isOwn = metricsHost === null || isEveryAddress(metricsHost) || isLoopback(metricsHost);
  return isOwn ? host : metricsHost;
}

/** Resolves with null for a member that has no HTTP port. */
async function memberClock(server: ServerAddress, config: Config): Promise<MemberClock | null> {
  const { metricsPort, id } = server;
  if (metricsPort === undefined) return null;
  const host = metricsDialHost(server, config);
  const askedMs = Date.now();
  const date = await dateOf(host, metricsPort);
  if (date === null) return { id, aheadMs: null };
  const hereMs = (askedMs + Date.now()) / 2;
  return { id, aheadMs: Date.parse(date) + 500 - hereMs };
}

function dateOf(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { host, port, path: '/livez', agent: false, timeout: DIAL_MS };
    const request = get(options, (response) => {
      resolve(response.headers.date ?? null);
      response.destroy();
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(null));
    request.on('close', () => resolve(null));
  });
}
