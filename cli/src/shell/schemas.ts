/**
 * The shapes of what commands write with `-o json`, for scripts that parse it.
 *
 * docs/operations/commands.schema.json is generated from them (`npm run docs:commands`), and the
 * tests of the commands compare every answer with them. They are not loaded when a command runs.
 */
import { z } from 'zod';

const hex = z.string().regex(/^0x[\da-f]{1,16}$/);
const path = z.string().regex(/^\//);
const count = z.int().min(0);
const kind = z.enum(['persistent', 'ephemeral']);

const stat = z.strictObject({
  kind,
  ownerSession: hex.nullable(),
  czxid: hex,
  mzxid: hex,
  pzxid: hex,
  ctime: z.string(),
  mtime: z.string(),
  version: z.int(),
  cversion: z.int(),
  aversion: z.int(),
  dataLength: count,
  numChildren: count,
});
const data = { data: z.string().nullable(), encoding: z.enum(['utf8', 'base64']) };
const side = z.strictObject({ kind, dataLength: count }).nullable();
const quota = z.strictObject({
  path,
  nodes: count.nullable(),
  bytes: count.nullable(),
  hardNodes: count.nullable(),
  hardBytes: count.nullable(),
  usedNodes: count.nullable(),
  usedBytes: count.nullable(),
});
const contender = z.strictObject({
  name: z.string(),
  session: hex.nullable(),
  since: z.string(),
});
const figure = z.number().min(0).nullable();
const session = z.strictObject({
  session: hex,
  server: z.string().nullable(),
  address: z.string().nullable(),
  timeoutMs: count.nullable(),
  ephemerals: count.nullable(),
  since: z.string().nullable(),
  lastOperation: z.string().nullable(),
  received: count.nullable(),
  sent: count.nullable(),
  outstanding: count.nullable(),
  averageLatencyMs: figure,
  maxLatencyMs: figure,
});
const written = z.strictObject({ path, stat });

/** The schemas by the names of commands. Where options change the shape, it is a union. */
export const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  ls: z.array(z.union([z.strictObject({ name: z.string() }), stat.extend({ name: z.string() })])),
  tree: z.array(
    z.strictObject({ path, depth: count, kind, dataLength: count, numChildren: count }),
  ),
  get: z.strictObject({ path, ...data, stat }),
  stat: stat.extend({ path }),
  exists: z.strictObject({ path, exists: z.boolean() }),
  find: z.array(stat.extend({ path })),
  grep: z.array(
    z.union([z.strictObject({ path }), z.strictObject({ path, line: count, text: z.string() })]),
  ),
  du: z.array(z.strictObject({ path, nodes: count, bytes: count, ephemerals: count })),
  diff: z.array(
    z.strictObject({
      path: z.string(),
      change: z.enum(['only-a', 'only-b', 'data', 'kind']),
      a: side,
      b: side,
    }),
  ),
  locks: z.array(
    z.strictObject({
      path,
      kind: z.enum(['lock', 'read-write-lock', 'election']),
      holders: z.array(contender.extend(data)),
      holderCount: count,
      waiters: z.array(contender),
      waiterCount: count,
    }),
  ),
  set: written,
  create: written,
  rm: z.union([
    z.strictObject({ path, deleted: count }),
    z.strictObject({ path, nodes: count, bytes: count, ephemerals: count }),
  ]),
  cp: z.strictObject({
    source: path,
    target: path,
    created: count,
    replaced: count,
    skipped: count,
    bytes: count,
  }),
  watch: z.strictObject({
    time: z.string(),
    type: z.enum([
      ...(['created', 'deleted', 'dataChanged', 'childrenChanged', 'resync'] as const),
      ...(['lost', 'closed', 'removed'] as const),
    ]),
    path,
    zxid: hex.nullable(),
  }),
  multi: z.array(
    z.strictObject({
      kind: z.enum(['create', 'setData', 'delete', 'check']),
      path,
      version: z.int().nullable(),
    }),
  ),
  'acl get': z.strictObject({
    path,
    acl: z.array(z.strictObject({ scheme: z.string(), id: z.string(), perms: z.string() })),
    aversion: z.int(),
  }),
  'acl audit': z.array(
    z.union([
      z.strictObject({ path, perms: z.string().regex(/^[cdwa]+$/) }),
      z.strictObject({ path, users: z.array(z.string()) }),
    ]),
  ),
  'acl set': z.strictObject({ path, changed: count }),
  'quota ls': z.array(quota),
  'quota get': quota,
  'quota set': z.strictObject({ path, limits: z.string() }),
  'quota rm': z.strictObject({ path }),
  'context ls': z.array(
    z.strictObject({
      name: z.string(),
      selected: z.boolean(),
      connect: z.string(),
      credentials: count,
    }),
  ),
  'context save': z.strictObject({ name: z.string(), connect: z.string(), credentials: count }),
  'context select': z.strictObject({ name: z.string() }),
  'context rm': z.strictObject({ name: z.string() }),
  'sessions ls': z.array(session),
  'sessions get': session.extend({
    ephemeralPaths: z.array(path),
    ephemeralPathsTruncated: z.boolean(),
    watched: z.array(z.strictObject({ path, mode: z.string().nullable() })).nullable(),
    watchedTruncated: z.boolean().nullable(),
  }),
  'sessions end': z.strictObject({
    session: hex,
    address: z.string().nullable(),
    ephemerals: count.nullable(),
  }),
  check: z.array(z.strictObject({ kind: z.string(), what: z.string(), remedy: z.string() })),
  top: z.array(
    z.union([
      z.strictObject({
        address: z.string(),
        role: z.string().nullable(),
        problem: z.string().nullable(),
        zxid: hex.nullable(),
        lag: count.nullable(),
        connections: count.nullable(),
        outstanding: count.nullable(),
        avgMs: figure,
        p99Ms: figure,
        maxMs: figure,
        requestsPerS: figure,
        watches: count.nullable(),
        znodes: count.nullable(),
        treeBytes: count.nullable(),
      }),
      z.strictObject({ path: z.string(), readsPerS: figure, writesPerS: figure }),
      z.strictObject({
        session: hex,
        member: count,
        address: z.string().nullable(),
        requestsPerS: figure,
      }),
    ]),
  ),
  mv: z.strictObject({ source: path, target: path, moved: count }),
};

/**
 * The text of docs/operations/commands.schema.json: a JSON Schema for each command's `-o json`.
 */
export function schemaText(): string {
  const entries = Object.entries(SCHEMAS).map(([name, schema]) => {
    const { $schema: _, ...definition } = z.toJSONSchema(schema);
    return [name, definition] as const;
  });
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'What the commands of rookery write with -o json, by command',
    $defs: Object.fromEntries(entries),
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
