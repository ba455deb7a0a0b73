/**
 * The commands of ZooKeeper's shell that ask a server: what each does, and what it prints where.
 */
import {
  type Acl,
  type Client,
  type CreateMode,
  deleteRecursive,
  InvalidAclError,
  NodeExistsError,
  NoNodeError,
  type WatchEvent,
  WatcherType,
} from '@rookery/client';
import { validatePath } from '@rookery/protocol';
import { parseAcl } from '../../command/values.js';
import { walk } from '../walk.js';
import { wholeNumber, type ZkArguments, ZkError } from './arguments.js';
import { deleteQuota, listQuota, setQuota } from './quota.js';
import { javaErrorText, zkAcl, zkStat } from './texts.js';
import { usageOf, type ZkCommandName } from './usage.js';

export interface ZkPrinter {
  out(line: string): void;
  error(line: string): void;
  onEvent(event: WatchEvent): void;
}

type ZkCommand = (client: Client, args: ZkArguments, printer: ZkPrinter) => Promise<void>;

const TTL_MAX = 1_099_511_627_775;

export const ZK_COMMANDS: Readonly<Partial<Record<ZkCommandName, ZkCommand>>> = {
  ls,
  create,
  setAcl,
  async get(client, args, { out, onEvent }) {
    const path = pathOf(args.rest[0]);
    const { data, stat } = await client.getData(path, watching(args, onEvent));
    out(data === null ? 'null' : data.toString());
    if (args.has('s')) out(zkStat(stat));
  },
  async stat(client, args, { out, onEvent }) {
    const path = pathOf(args.rest[0]);
    const stat = await client.exists(path, watching(args, onEvent));
    if (stat === null) throw new NoNodeError(path);
    out(zkStat(stat));
  },
  async set(client, args, { out }) {
    const [path, data = ''] = args.rest;
    const stat = await client.setData(pathOf(path), data, { version: args.version() });
    if (args.has('s')) out(zkStat(stat));
  },
  async delete(client, args) {
    const path = pathOf(args.rest[0]);
    await client.delete(path, { version: args.version() });
  },
  async deleteall(client, args, { out }) {
    const path = pathOf(args.rest[0]);
    const batchSize = Math.min(1000, wholeNumber(args.value('b') ?? '1000'));
    if ((await client.exists(path)) === null) throw new NoNodeError(path);
    try {
      await deleteRecursive(client, path, { batchSize });
    } catch {
      out('Failed to delete some node(s) in the subtree!');
    }
  },
  async getAcl(client, args, { out }) {
    const path = pathOf(args.rest[0]);
    const { acl, stat } = await client.getAcl(path);
    out(zkAcl(acl));
    if (args.has('s')) out(zkStat(stat));
  },
  async getAllChildrenNumber(client, args, { out }) {
    const path = pathOf(args.rest[0]);
    out(String(await client.countDescendants(path)));
  },
  async getEphemerals(client, args, { out }) {
    const path = args.rest[0] ?? '/';
    const paths = [...(await client.getEphemerals(pathOf(path)))].sort();
    out(`[${paths.join(', ')}]`);
  },
  async sync(client, args, { out }) {
    await client.sync(pathOf(args.rest[0]));
    out('Sync is OK');
  },
  async setquota(client, args) {
    await setQuota(client, args);
  },
  async delquota(client, args, { out }) {
    const said = await deleteQuota(client, args);
    if (said !== '') out(said);
  },
  async listquota(client, args, printer) {
    const { out, error } = await listQuota(client, args.rest[0] ?? '');
    for (const line of error) printer.error(line);
    for (const line of out) printer.out(line);
  },
  async whoami(client, _, { out }) {
    const identities = [...(await client.whoAmI())].sort((a, b) =>
      a.authScheme < b.authScheme ? -1 : 1,
    );
    const lines = identities.map(({ authScheme, user }) => `${authScheme}: ${user}`);
    out(['Auth scheme: User', ...lines].join('\n'));
  },
  async config(client, args, { out, onEvent }) {
    const { data, stat } = await client.getConfig(watching(args, onEvent));
    const text = data?.toString() ?? '';
    out(args.has('c') ? clientConfig(text) : text);
    if (args.has('s')) out(zkStat(stat));
  },
  async reconfig(client, args) {
    const value = (name: string) => args.rest[args.rest.indexOf(`-${name}`) + 1];
    const asked = (name: string) => args.rest.includes(`-${name}`);
    if (!['add', 'remove', 'members', 'file'].some(asked)) throw new ZkError(usageOf('reconfig'));
    await client.reconfig({
      joining: asked('add') ? value('add') : undefined,
      leaving: asked('remove') ? value('remove') : undefined,
      members: asked('members') ? value('members') : undefined,
    });
  },
  async addWatch(client, args, { onEvent }) {
    const [path] = args.rest;
    const mode = args.value('m') ?? 'PERSISTENT_RECURSIVE';
    if (mode !== 'PERSISTENT' && mode !== 'PERSISTENT_RECURSIVE') {
      throw new ZkError(usageOf('addWatch'));
    }
    const recursive = mode === 'PERSISTENT_RECURSIVE';
    await client.addWatch(pathOf(path), onEvent, { recursive });
  },
  async removewatches(client, args) {
    const path = pathOf(args.rest[0]);
    const type = args.has('c') ? 'children' : args.has('d') ? 'data' : 'any';
    await client.removeWatches(path, WatcherType[type]);
  },
};

function watching(args: ZkArguments, watcher: (event: WatchEvent) => void) {
  return args.has('w') ? { watcher } : {};
}

/** Throws ZkError with what Java's client says of such a path. */
function pathOf(text: string | undefined): string {
  const path = text ?? '';
  if (!path.startsWith('/')) throw new ZkError('Path must start with / character');
  const problem = validatePath(path);
  if (problem === null) return path;
  const [, at] = /at (\d+)$/.exec(problem) ?? [];
  const reason = path.endsWith('/') ? 'Path must not end with / character' : null;
  throw new ZkError(
    reason ?? `Invalid path string "${path}" caused by empty node name specified @${at ?? 0}`,
  );
}

async function ls(client: Client, args: ZkArguments, { out, onEvent }: ZkPrinter): Promise<void> {
  const path = pathOf(args.rest[0]);
  if (args.has('R')) {
    const { signal } = new AbortController();
    for await (const node of walk({ client, path, signal })) out(node.path);
    return;
  }
  const { children, stat } = await client.getChildren(path, watching(args, onEvent));
  out(`[${[...children].sort().join(', ')}]`);
  if (args.has('s')) out(zkStat(stat));
}

async function create(client: Client, args: ZkArguments, printer: ZkPrinter): Promise<void> {
  const [path = '', data, aclText] = args.rest;
  const mode = modeOf(args);
  const ttl = args.value('t');
  const ttlMs = ttl === undefined ? {} : { ttlMs: ttlOf(ttl) };
  if (!path.startsWith('/')) throw new ZkError('Path must start with / character');
  const acl = aclText === undefined ? undefined : aclOf(aclText, printer);
  try {
    const options = { mode, ...ttlMs, ...(acl === undefined ? {} : { acl }) };
    const created = await client.create(path, data ?? null, options);
    printer.error(`Created ${created.path}`);
  } catch (error) {
    if (error instanceof InvalidAclError) printer.error(javaErrorText(error));
    if (error instanceof NodeExistsError) throw new NodeExistsError(path);
    throw error;
  }
}

function modeOf(args: ZkArguments): CreateMode {
  const [sequential, ephemeral, ttl] = [args.has('s'), args.has('e'), args.has('t')];
  if (args.has('c')) {
    if (sequential || ephemeral) {
      throw new ZkError(
        '-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.',
      );
    }
    return 'container';
  }
  if (ttl && ephemeral) throw new ZkError('TTLs cannot be used with Ephemeral znodes');
  if (ttl) return sequential ? 'persistentSequentialWithTtl' : 'persistentWithTtl';
  if (ephemeral) return sequential ? 'ephemeralSequential' : 'ephemeral';
  return sequential ? 'persistentSequential' : 'persistent';
}

function ttlOf(text: string): number {
  if (!/^-?\d{1,18}$/.test(text)) throw new ZkError('-t argument must be a long value');
  const ttl = Number(text);
  if (ttl >= 1 && ttl <= TTL_MAX) return ttl;
  throw new ZkError(`ttl must be positive and cannot be larger than: ${TTL_MAX}`);
}

async function setAcl(client: Client, args: ZkArguments, printer: ZkPrinter): Promise<void> {
  const [path, text = ''] = args.rest;
  const acl = aclOf(text, printer);
  const start = pathOf(path);
  const version = { version: args.version() };
  if (args.has('R')) {
    const { signal } = new AbortController();
    for await (const node of walk({ client, path: start, signal })) {
      await client.setAcl(node.path, acl, version);
    }
    return;
  }
  const stat = await client.setAcl(start, acl, version);
  if (args.has('s')) printer.out(zkStat(stat));
}

/** Letters that are no permissions are said and left out, as ZooKeeper's shell does. */
function aclOf(text: string, { error }: ZkPrinter): readonly Acl[] {
  const entries = text.split(',').map((entry) => {
    const [first, last] = [entry.indexOf(':'), entry.lastIndexOf(':')];
    if (first === -1 || first === last) {
      error(`${entry} does not have the form scheme:id:perm`);
      return null;
    }
    const letters = [...entry.slice(last + 1)];
    for (const letter of letters.filter((one) => !'cdrwa'.includes(one))) {
      error(`Unknown perm type: ${letter}`);
    }
    const known = letters.filter((letter) => 'cdrwa'.includes(letter)).join('');
    const [parsed] = parseAcl(`${entry.slice(0, last)}:${known === '' ? 'r' : known}`) ?? [];
    return parsed === undefined ? null : { ...parsed, perms: known === '' ? 0 : parsed.perms };
  });
  const acl = entries.filter((entry) => entry !== null);
  if (acl.length === entries.length) return acl;
  error('KeeperErrorCode = InvalidACL');
  throw new ZkError('Acl is not valid : null');
}

/** The version, and the client ports of all servers. */
function clientConfig(text: string): string {
  const lines = text.split('\n');
  const version = lines.find((line) => line.startsWith('version='))?.slice('version='.length);
  const servers = lines
    .filter((line) => line.startsWith('server.') && line.includes(';'))
    .map((line) => line.slice(line.indexOf(';') + 1));
  return `${version ?? ''} ${servers.join(',')}`;
}
