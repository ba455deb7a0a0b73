/**
 * `quota get`, `set`, `rm` and `ls` show and change how many znodes and bytes a subtree may have.
 *
 * A quota is two znodes below /zookeeper/quota: the limits, which a client writes, and the counts,
 * which the servers maintain. Their text is ZooKeeper's: `count=N,bytes=M`, followed by
 * `=;byteHardLimit=B;countHardLimit=C` if there are hard limits; -1 stands for none.
 */
import { type Client, NodeExistsError, NoNodeError, upsert } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import type { Call } from '../../command/command.js';
import { walk } from '../walk.js';

const ROOT = '/zookeeper/quota';
const [LIMITS, STATS] = ['zookeeper_limits', 'zookeeper_stats'];
const NONE = -1;

interface Quota {
  readonly path: string;
  /** The limits whose violation the servers log; null for none. */
  readonly nodes: number | null;
  readonly bytes: number | null;
  /** The limits that the servers enforce; null for none. */
  readonly hardNodes: number | null;
  readonly hardBytes: number | null;
  readonly usedNodes: number | null;
  readonly usedBytes: number | null;
}

export async function getQuota(call: Call): Promise<undefined> {
  const client = await call.client();
  const quota = await read(client, call.path(0));
  if (quota === null) throw new NoNodeError(limitsPath(call.path(0)));
  const lines = Object.entries(quota).map(([name, value]) => `${name.padEnd(10)} ${value ?? '-'}`);
  await call.output.value({ ...quota }, () => lines.join('\n'));
}

export async function listQuotas(call: Call): Promise<undefined> {
  const client = await call.client();
  const { signal } = call;
  await call.output.table(all(), {
    head: ['path', 'nodes', 'of', 'at most', 'bytes', 'of', 'at most'],
    json: (quota) => ({ ...quota }),
    cells: (quota) => [
      quota.path,
      ...[quota.usedNodes, quota.nodes, quota.hardNodes].map(numberText),
      ...[quota.usedBytes, quota.bytes, quota.hardBytes].map(numberText),
    ],
  });

  async function* all(): AsyncGenerator<Quota, void> {
    for await (const { path } of walk({ client, path: ROOT, signal })) {
      if (!path.endsWith(`/${LIMITS}`)) continue;
      const quota = await read(client, path.slice(ROOT.length, -LIMITS.length - 1));
      if (quota !== null) yield quota;
    }
  }
}

function numberText(value: number | null): string {
  return value === null ? '-' : String(value);
}

export async function setQuota(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const path = call.path(0);
  const client = await call.client();
  if ((await client.exists(path, { signal })) === null) throw new NoNodeError(path);
  const now = await read(client, path);
  const value = (name: 'nodes' | 'bytes' | 'hardNodes' | 'hardBytes') =>
    call.number(name) ?? now?.[name] ?? NONE;
  const [nodes, bytes] = [value('nodes'), value('bytes')];
  const [hardNodes, hardBytes] = [value('hardNodes'), value('hardBytes')];
  if ([nodes, bytes, hardNodes, hardBytes].every((limit) => limit === NONE)) {
    throw new OperatorError('Give --nodes, --bytes, --hard-nodes or --hard-bytes.');
  }
  const hard = hardNodes === NONE && hardBytes === NONE;
  const more = hard ? '' : `=;byteHardLimit=${hardBytes};countHardLimit=${hardNodes}`;
  const text = `count=${nodes},bytes=${bytes}${more}`;
  if (!call.isDryRun) await write(client, path, text, signal);
  await output.value({ path, limits: text }, () => '');
  await output.talk(`${call.isDryRun ? 'Would set' : 'Set'} the quota of ${path}: ${text}.`);
}

async function write(client: Client, path: string, text: string, signal: AbortSignal) {
  await upsert(client, limitsPath(path), text, { parents: 'persistent', signal });
  try {
    await client.create(statsPath(path), 'count=0,bytes=0', { signal });
  } catch (error) {
    if (!(error instanceof NodeExistsError)) throw error;
  }
}

export async function removeQuota(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const path = call.path(0);
  const client = await call.client();
  if ((await read(client, path)) === null) throw new NoNodeError(limitsPath(path));
  if (!call.isDryRun) {
    for (const node of [limitsPath(path), statsPath(path)]) {
      if ((await client.exists(node, { signal })) !== null) await client.delete(node, { signal });
    }
  }
  await output.value({ path }, () => '');
  await output.talk(`${call.isDryRun ? 'Would remove' : 'Removed'} the quota of ${path}.`);
}

function limitsPath(path: string): string {
  return `${ROOT}${path}/${LIMITS}`;
}
function statsPath(path: string): string {
  return `${ROOT}${path}/${STATS}`;
}

/** Null if there is none. */
async function read(client: Client, path: string): Promise<Quota | null> {
  const limits = await values(client, limitsPath(path));
  if (limits === null) return null;
  const used = (await values(client, statsPath(path))) ?? new Map<string, number>();
  const limit = (values: ReadonlyMap<string, number>, name: string): number | null => {
    const value = values.get(name) ?? NONE;
    return value < 0 ? null : value;
  };
  return {
    path,
    nodes: limit(limits, 'count'),
    bytes: limit(limits, 'bytes'),
    hardNodes: limit(limits, 'countHardLimit'),
    hardBytes: limit(limits, 'byteHardLimit'),
    usedNodes: limit(used, 'count'),
    usedBytes: limit(used, 'bytes'),
  };
}

async function values(client: Client, path: string): Promise<ReadonlyMap<string, number> | null> {
  try {
    const text = (await client.getData(path)).data?.toString() ?? '';
    const pairs = [...text.matchAll(/\b(\w+)=(-?\d{1,15})/g)];
    return new Map(pairs.map(([, name = '', value]) => [name, Number(value)]));
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}
