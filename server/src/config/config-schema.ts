/**
 * The rules for the settings of the config file: types, ranges, defaults, and how they relate.
 *
 * Knows nothing of files. Every problem is found in one pass: a relation is checked whenever the
 * settings it relates are each valid, whatever else is wrong. An unknown key is a problem, because
 * a misspelt setting that is silently ignored is found out on the day it was needed. Called by
 * `config.ts`, and by the generator of the configuration reference.
 */
import { z } from 'zod';
import {
  clientAddressOf,
  EVERY_ADDRESS,
  isEveryAddress,
  isLoopback,
  listenHostsOf,
} from './addresses.js';
import {
  digestAlgsSchema,
  enforceAuthProblems,
  enforceAuthSchema,
  missingPeerAuth,
  peerAuthProblems,
  peerAuthSchema,
  rootAclProblems,
  rootAclSchema,
  saslSchema,
  superIdentitiesSchema,
  tlsProblems,
  tlsSchema,
} from './config-security.js';
import { DIGEST_PATTERN, SCRYPT_PATTERN } from './digest-of.js';
import {
  type AllowedWords,
  defaultFourLetterWords,
  splitWords,
  wordsProblem,
} from './four-letter-words.js';
import { flag, host, integer, isHost, isRecord, text, validOrNull } from './setting-types.js';

/** A line is a few times 8 KB at most, and a file has some of them. */
const AUDIT_BYTES_LEAST = 64 * 1024;
const AUDIT_BYTES_MOST = 2 ** 40;
const AUDIT_FILES_MOST = 10_000;

const auditShape = {
  auditFile: text('a file').nullable().default(null),
  auditBytesMax: integer(AUDIT_BYTES_LEAST, AUDIT_BYTES_MOST).default(64 * 1024 * 1024),
  auditFilesKept: integer(0, AUDIT_FILES_MOST).default(10),
  auditRequired: flag().default(false),
};

/**
 * The rules for the settings of the audit log. Called by config-schema.ts.
 */
function auditProblems(raw: Readonly<Record<string, unknown>>): string[] {
  if (raw['auditRequired'] !== true || (raw['auditFile'] ?? null) !== null) return [];
  return ['auditFile: expected a file while auditRequired is true, got nothing'];
}

/** Bounded because each password that comes is compared with the digests of all of them. */
const USERS_MAX = 100;
const ORIGINS_MAX = 20;
const EXPECTED_USER = 'expected a user with a hash, as `rookery config hash-password` prints it';
const EXPECTED_ORIGIN = 'expected an origin without a path, such as "https://rookery.example"';

const users = z
  .array(
    z
      .string({ error: EXPECTED_USER })
      .regex(new RegExp(`^[^:]+:(?:${DIGEST_PATTERN}|${SCRYPT_PATTERN})$`), {
        error: EXPECTED_USER,
      }),
    { error: 'expected a list of users' },
  )
  .max(USERS_MAX, { error: `expected at most ${USERS_MAX} users` });

/**
 * The settings that say who may use the admin port, and from which pages; `config.ts` documents
 * them.
 */
const adminShape = {
  adminUsers: users.default([]),
  adminReaders: users.default([]),
  adminOrigins: z
    .array(z.string({ error: EXPECTED_ORIGIN }).refine(isOrigin, { error: EXPECTED_ORIGIN }), {
      error: 'expected a list of origins',
    })
    .max(ORIGINS_MAX, { error: `expected at most ${ORIGINS_MAX} origins` })
    .default([]),
};

/** Whether a browser would send it as it is in the header Origin. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

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

/**
 * The rules for the list of members: what one entry of `servers` may be, and how entries relate.
 * Called by config-schema.ts.
 */
const serversSchema = z
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
type ServerParts = { readonly [K in PartKey]: Server[K] | null };

/** One for each entry of the list, in its order; none where it is no list. */
function validPartsOf(raw: unknown): readonly ServerParts[] {
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
function serverProblems(servers: readonly ServerParts[]): string[] {
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

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The settings as the file has them, defaults filled in; paths are not resolved. */
type Settings = Readonly<z.infer<typeof settingsSchema>> & {
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly fourLetterWords: AllowedWords;
};

/** Timeouts travel as int32. */
const TIMEOUT_MS_MAX = 0x7fff_ffff;
/** A peer link buffers 64 MB: half of it leaves room for the proposal around a frame. */
const FRAME_BYTES_LIMIT = 32 * 1024 * 1024;
/** Heartbeats wait behind a frame on its way to the other members: it must pass in the timeout. */
const FRAME_BYTES_PER_MS = 8 * 1024;
/** What all clients of a member may have waiting: a few frames at least, a terabyte at most. */
const CLIENT_BYTES_LEAST = 4 * 1024 * 1024;
const CLIENT_BYTES_MOST = 2 ** 40;
/** Room for some hundred small znodes: less is a mistake of units. */
const TREE_BYTES_MIN = 64 * 1024;
/** The first level, as in `state/level.ts`: holding it lower means nothing. */
const LEVEL_MIN = 10;
const LEVELS_LIMIT = 1_000_000;
/** A year. */
const MINUTES_MAX = 366 * 24 * 60;
/** The first byte of a TTL znode's owner field is 255, so no member may have that id then. */
const EXTENDED_TYPES_ID_MAX = 254;

const EXPECTED_NAME =
  'expected a name of 1 to 64 letters, digits, ".", "_" and "-" that begins with a letter or digit';

const settingsSchema = z.strictObject(
  {
    dataDir: text('a directory'),
    dataLogDir: text('a directory').nullable().default(null),
    tickTimeMs: integer(1, 60_000).default(2000),
    servers: serversSchema,
    ensembleName: z
      .string({ error: EXPECTED_NAME })
      .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, { error: EXPECTED_NAME })
      .nullable()
      .default(null),
    peerAuth: peerAuthSchema,
    initLimit: integer(1, 100_000).default(10),
    syncLimit: integer(1, 100_000).default(5),
    peerHeartbeatMs: integer(1, 60_000).default(100),
    peerTimeoutMs: integer(10, 600_000).default(1000),
    minSessionTimeoutMs: integer(1, TIMEOUT_MS_MAX).optional(),
    maxSessionTimeoutMs: integer(1, TIMEOUT_MS_MAX).optional(),
    maxClientCnxns: integer(0, 1_000_000).nullable().default(null),
    connectionTokensMax: integer(0, 1_000_000).default(0),
    connectionTokensPerSecond: integer(1, 1_000_000).default(100),
    globalOutstandingLimit: integer(1, 1_000_000).default(1000),
    requestsPerSecondMax: integer(0, 1_000_000).default(0),
    frameBytesMax: integer(1024, FRAME_BYTES_LIMIT).default(1_048_575),
    inputBytesMax: integer(CLIENT_BYTES_LEAST, CLIENT_BYTES_MOST).nullable().default(null),
    outputBytesMax: integer(CLIENT_BYTES_LEAST, CLIENT_BYTES_MOST).nullable().default(null),
    fourLetterWords: z
      .string({ error: `expected "*" or words separated by commas` })
      .superRefine(checkWords)
      .transform(splitWords)
      .optional(),
    extendedTypes: flag().default(true),
    superDigest: text('a digest')
      .regex(new RegExp(`^super:(?:${DIGEST_PATTERN}|${SCRYPT_PATTERN})$`), {
        error: 'expected "super:" with a hash, as `rookery config hash-password super` prints it',
      })
      .nullable()
      .default(null),
    tls: tlsSchema.nullable().default(null),
    sasl: saslSchema.nullable().default(null),
    digestAlgs: digestAlgsSchema,
    enforceAuth: enforceAuthSchema,
    superIdentities: superIdentitiesSchema,
    rootAcl: rootAclSchema,
    skipACL: flag().default(false),
    enforceQuota: flag().default(false),
    treeBytesMax: integer(TREE_BYTES_MIN, Number.MAX_SAFE_INTEGER).nullable().default(null),
    diskReserveBytes: integer(0, Number.MAX_SAFE_INTEGER).nullable().default(null),
    ephemeralsPerSessionMax: integer(1, 100_000_000).default(1_000_000),
    multiOpsMax: integer(1, 1_000_000).default(4096),
    pathDepthMax: integer(8, 1_000_000).default(2000),
    neverUsedContainersMs: integer(0, Number.MAX_SAFE_INTEGER).default(0),
    readOnlyMode: flag().default(false),
    localSessions: flag().default(false),
    reconfigEnabled: flag().default(false),
    holdLevel: integer(LEVEL_MIN, LEVELS_LIMIT).nullable().default(null),
    metricsHost: host().nullable().default(null),
    adminHost: host().default('127.0.0.1'),
    ...adminShape,
    adminReadOnly: flag().default(false),
    backupDirectory: text('a directory').nullable().default(null),
    backupEveryMinutes: integer(1, MINUTES_MAX).default(1440),
    backupsKept: integer(1, 1_000_000).default(14),
    backupDaysKept: integer(0, 36_500).default(0),
    ...auditShape,
    logLevel: z
      .enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` })
      .default('info'),
  },
  { error: 'expected an object' },
);

/**
 * The schema of the config file as JSON Schema: types, ranges and defaults. How settings relate to
 * each other is not part of it.
 */
export function settingsJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(settingsSchema, { io: 'input' });
}

/** `settings` is null if and only if there are problems. */
export function checkSettings(raw: unknown): {
  settings: Settings | null;
  problems: readonly string[];
} {
  const result = settingsSchema.safeParse(raw);
  const own = (result.error?.issues ?? []).flatMap((issue) => describe(issue, raw));
  const problems = [...new Set([...own, ...relationProblems(raw)])];
  if (!result.success || problems.length > 0) return { settings: null, problems };
  const { data } = result;
  const hosts = data.servers.flatMap((server) => listenHostsOf(clientAddressOf(server)));
  const fourLetterWords = data.fourLetterWords ?? defaultFourLetterWords(hosts);
  return { settings: { ...data, ...sessionLimits(data), fourLetterWords }, problems };
}

function sessionLimits(settings: {
  tickTimeMs: number;
  minSessionTimeoutMs?: number | undefined;
  maxSessionTimeoutMs?: number | undefined;
}): { minSessionTimeoutMs: number; maxSessionTimeoutMs: number } {
  return {
    minSessionTimeoutMs: settings.minSessionTimeoutMs ?? 2 * settings.tickTimeMs,
    maxSessionTimeoutMs: settings.maxSessionTimeoutMs ?? 20 * settings.tickTimeMs,
  };
}

/** Checks each relation of which both sides are valid by themselves. */
function relationProblems(raw: unknown): string[] {
  if (!isRecord(raw)) return [];
  const problems: string[] = [];
  const shape = settingsSchema.shape;
  const heartbeatMs = validOrNull(shape.peerHeartbeatMs, raw['peerHeartbeatMs']);
  const timeoutMs = validOrNull(shape.peerTimeoutMs, raw['peerTimeoutMs']);
  if (heartbeatMs !== null && timeoutMs !== null && timeoutMs <= 2 * heartbeatMs) {
    problems.push(
      `peerTimeoutMs: expected more than twice peerHeartbeatMs (${heartbeatMs}), got ${timeoutMs}`,
    );
  }
  const frameBytes = validOrNull(shape.frameBytesMax, raw['frameBytesMax']);
  if (frameBytes !== null && timeoutMs !== null) {
    const least = Math.ceil(frameBytes / FRAME_BYTES_PER_MS);
    if (timeoutMs < least) {
      const expected = `expected at least ${least} for frames of ${frameBytes} bytes`;
      problems.push(`peerTimeoutMs: ${expected}, got ${timeoutMs}`);
    }
  }
  problems.push(...sessionLimitProblems(raw), ...adminProblems(raw), ...tlsProblems(raw));
  problems.push(...enforceAuthProblems(raw), ...auditProblems(raw), ...rootAclProblems(raw));
  const servers = validPartsOf(raw['servers']);
  problems.push(...serverProblems(servers));
  problems.push(...peerAuthProblems(raw['peerAuth']));
  const endpoints = validOrNull(shape.servers, raw['servers']);
  if (endpoints !== null && (raw['peerAuth'] ?? null) === null) {
    problems.push(...missingPeerAuth(endpoints));
  }
  if (validOrNull(shape.extendedTypes, raw['extendedTypes']) === true) {
    servers.forEach((server, index) => {
      if (server.id === null || server.id <= EXTENDED_TYPES_ID_MAX) return;
      problems.push(
        `servers[${index}].id: expected at most ${EXTENDED_TYPES_ID_MAX} ` +
          `while extendedTypes is true, got ${server.id}`,
      );
    });
  }
  return problems;
}

function sessionLimitProblems(raw: Record<string, unknown>): string[] {
  const shape = settingsSchema.shape;
  const tickTimeMs = validOrNull(shape.tickTimeMs, raw['tickTimeMs']);
  const least = validOrNull(shape.minSessionTimeoutMs, raw['minSessionTimeoutMs']);
  const most = validOrNull(shape.maxSessionTimeoutMs, raw['maxSessionTimeoutMs']);
  if (least === null || most === null) return [];
  // Two limits that are both given contradict each other whatever tickTimeMs is.
  if (tickTimeMs === null && (least === undefined || most === undefined)) return [];
  const limits = sessionLimits({
    tickTimeMs: tickTimeMs ?? 0,
    minSessionTimeoutMs: least,
    maxSessionTimeoutMs: most,
  });
  const { minSessionTimeoutMs: min, maxSessionTimeoutMs: max } = limits;
  if (min <= max) return [];
  const origin = most === undefined ? ', 20 times tickTimeMs' : '';
  const own = least === undefined ? ' (2 times tickTimeMs)' : '';
  const expected = `expected at most maxSessionTimeoutMs (${max}${origin})`;
  return [`minSessionTimeoutMs: ${expected}, got ${min}${own}`];
}

/** Not every client that reaches the admin port may use it. */
function adminProblems(raw: Record<string, unknown>): string[] {
  const shape = settingsSchema.shape;
  const adminHost = validOrNull(shape.adminHost, raw['adminHost']);
  const hasUsers = (['adminUsers', 'adminReaders'] as const).some((name) => {
    const users = validOrNull(shape[name], raw[name]);
    return users === null || users.length > 0;
  });
  if (adminHost === null || isLoopback(adminHost) || hasUsers) return [];
  if (typeof raw['superDigest'] === 'string') return [];
  const expected =
    'expected a loopback address while there is neither adminUsers, adminReaders nor superDigest';
  return [`adminHost: ${expected}, got "${adminHost}"`];
}

/** Where a password may stand by mistake, so that a value is not repeated in a log. */
const SECRETS = /^(superDigest$|superId|adminUsers\[|adminReaders\[|rootAcl\[|peerAuth)/;

/** One line per issue, several for several unknown keys. */
function describe(issue: z.core.$ZodIssue, raw: unknown): string[] {
  const where = pathText(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${pathText([...issue.path, key])}: unknown key`);
  }
  const value = valueAt(raw, issue.path);
  // Where an object is one of several possibilities, its own problems say more.
  const inner = issue.code === 'invalid_union' && isRecord(value) ? issue.errors.at(-1) : undefined;
  if (inner !== undefined) {
    return inner.flatMap((each) => describe({ ...each, path: [...issue.path, ...each.path] }, raw));
  }
  const isSecret = SECRETS.test(where) && value !== undefined;
  const got = isSecret ? 'got something else' : `got ${shown(value)}`;
  return [`${where === '' ? 'the file' : where}: ${issue.message}, ${got}`];
}

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  }
  return text;
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** Short enough for a line. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

function checkWords(list: string, context: z.RefinementCtx): void {
  const message = wordsProblem(list);
  if (message !== null) context.addIssue({ code: 'custom', message });
}
