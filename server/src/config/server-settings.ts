/**
 * The rules for the list of members: what one entry of `servers` may be, and how entries relate.
 * Called by config-schema.ts.
 */
import { z } from 'zod';
import { EVERY_ADDRESS, isEveryAddress } from './addresses.js';
import { host, integer, isHost, isRecord, validOrNull } from './setting-types.js';

const MEMBERS_MAX = 255;
/** Addresses on which one port is opened. */
const LISTEN_MAX = 16;

const id = integer(1, 255);
const port = integer(1, 65535);
const EXPECTED_LISTEN =
  'expected "*", a host name or an IP address, ' +
  `or a list of at most ${LISTEN_MAX} different ones`;
const listen = z
  .union([z.string(), z.array(z.string())], { error: EXPECTED_LISTEN })
  .refine(isListen, { error: EXPECTED_LISTEN });

const serverShape = {
  id,
  host: host(),
  clientPort: port,
  peerPort: port,
  listen: listen.optional(),
  peerListen: listen.optional(),
  clientHost: host().optional(),
  secureClientPort: port.optional(),
  metricsPort: port.optional(),
  adminPort: port.optional(),
};
const serverSchema = z.strictObject(serverShape, {
  error: 'expected an object with id, host, clientPort and peerPort',
});
type Server = z.infer<typeof serverSchema>;

export const serversSchema = z
  .array(serverSchema, { error: 'expected a list of servers' })
  .min(1, { error: 'expected at least one server' })
  .max(MEMBERS_MAX, { error: `expected at most ${MEMBERS_MAX} servers` });

const PORT_KEYS = [
  'clientPort',
  'secureClientPort',
  'peerPort',
  'metricsPort',
  'adminPort',
] as const;
type PartKey = 'id' | 'host' | (typeof PORT_KEYS)[number];
/** What is valid by itself of one server; null for what is not. */
export type ServerParts = { readonly [K in PartKey]: Server[K] | null };

/** One for each entry of the list, in its order; none where it is no list. */
export function validPartsOf(raw: unknown): readonly ServerParts[] {
  return Array.isArray(raw) ? raw.map(validParts) : [];
}

function validParts(raw: unknown): ServerParts {
  const fields = isRecord(raw) ? raw : {};
  return {
    id: validOrNull(id, fields['id']),
    host: validOrNull(serverShape.host, fields['host']),
    clientPort: validOrNull(port, fields['clientPort']),
    secureClientPort: validOrNull(serverShape.secureClientPort, fields['secureClientPort']),
    peerPort: validOrNull(port, fields['peerPort']),
    metricsPort: validOrNull(serverShape.metricsPort, fields['metricsPort']),
    adminPort: validOrNull(serverShape.adminPort, fields['adminPort']),
  };
}

/** What is wrong between servers: an id or a port twice, or a host that no other can dial. */
export function serverProblems(servers: readonly ServerParts[]): string[] {
  const problems: string[] = [];
  const ids = new Map<number, string>();
  const addresses = new Map<string, string>();
  servers.forEach((server, index) => {
    const where = `servers[${index}]`;
    if (server.id !== null) {
      const first = ids.get(server.id);
      if (first === undefined) ids.set(server.id, `${where}.id`);
      else problems.push(`${where}.id: expected a unique id, ${server.id} is also ${first}`);
    }
    if (server.host === null) return;
    if (servers.length > 1 && isEveryAddress(server.host)) {
      problems.push(`${where}.host: expected a host that members can dial, got "${server.host}"`);
    }
    for (const key of PORT_KEYS) {
      const value = server[key];
      if (value === null || value === undefined) continue;
      const address = `${machineOf(server.host)} ${value}`;
      const first = addresses.get(address);
      if (first === undefined) addresses.set(address, `${where}.${key}`);
      else problems.push(`${where}.${key}: expected a free port, ${value} is also ${first}`);
    }
  });
  return problems;
}

/** One machine under its most usual names; DNS is not asked. */
function machineOf(name: string): string {
  const lower = name.toLowerCase();
  return lower === 'localhost' || lower === '::1' ? '127.0.0.1' : lower;
}

function isListen(value: string | readonly string[]): boolean {
  const hosts = [value].flat();
  const isValid = hosts.every((name) => name === EVERY_ADDRESS || isHost(name));
  const isInRange = hosts.length >= 1 && hosts.length <= LISTEN_MAX;
  return isValid && isInRange && new Set(hosts).size === hosts.length;
}
