/**
 * `setquota`, `delquota` and `listquota` of ZooKeeper's shell.
 */
import { type Client, deleteRecursive, NodeExistsError, NoNodeError } from '@rookery/client';
import { parentOf } from '@rookery/protocol';
import { walk } from '../walk.js';
import { wholeNumber, type ZkArguments, ZkError } from './arguments.js';

const ROOT = '/zookeeper/quota';
const LIMITS = 'zookeeper_limits';
const STATS = 'zookeeper_stats';
const KEYS = { n: 'count', b: 'bytes', N: 'countHardLimit', B: 'byteHardLimit' } as const;
type Letter = keyof typeof KEYS;
const LETTERS: readonly Letter[] = ['n', 'b', 'N', 'B'];

type Limits = Readonly<Record<Letter, number>>;

export async function setQuota(client: Client, args: ZkArguments): Promise<void> {
  if (!LETTERS.some((letter) => args.has(letter))) {
    throw new ZkError(
      'org.apache.commons.cli.MissingOptionException: Missing required option: [-n num soft quota, -b bytes soft quota, -N num hard quota, -B bytes hard quota]',
    );
  }
  const [path = ''] = args.rest;
  if ((await client.exists(path)) === null) throw new ZkError(`${path} does not exist.`);
  await checkNested(client, path);
  const now = (await limitsAt(client, path)) ?? { n: -1, b: -1, N: -1, B: -1 };
  const given = Object.fromEntries(
    LETTERS.filter((letter) => args.has(letter)).map((letter) => {
      return [letter, wholeNumber(args.value(letter) ?? '')];
    }),
  );
  await createAll(client, `${ROOT}${path}`);
  await write(client, `${ROOT}${path}/${LIMITS}`, textOf({ ...now, ...given }));
  try {
    await client.create(`${ROOT}${path}/${STATS}`, 'count=0,bytes=0');
  } catch (error) {
    if (!(error instanceof NodeExistsError)) throw error;
  }
}

/** A quota within another one is refused. */
async function checkNested(client: Client, path: string): Promise<void> {
  for (let above = parentOf(path); above !== '/'; above = parentOf(above)) {
    if ((await limitsAt(client, above)) !== null) {
      throw new ZkError(`${path} has a parent ${above} which has a quota`);
    }
  }
  const own = `${ROOT}${path}`;
  if ((await client.exists(own)) === null) return;
  const { signal } = new AbortController();
  for await (const node of walk({ client, path: own, signal })) {
    if (!node.path.endsWith(`/${LIMITS}`) || node.path === `${own}/${LIMITS}`) continue;
    const child = node.path.slice(ROOT.length, -LIMITS.length - 1);
    throw new ZkError(`${path} has a child ${child} which has a quota`);
  }
}

async function createAll(client: Client, path: string): Promise<void> {
  if ((await client.exists(path)) !== null) return;
  await createAll(client, parentOf(path));
  try {
    await client.create(path);
  } catch (error) {
    if (!(error instanceof NodeExistsError)) throw error;
  }
}

async function write(client: Client, path: string, text: string): Promise<void> {
  try {
    await client.create(path, text);
  } catch (error) {
    if (!(error instanceof NodeExistsError)) throw error;
    await client.setData(path, text);
  }
}

/** Resolves with what is printed; '' for nothing. */
export async function deleteQuota(client: Client, args: ZkArguments): Promise<string> {
  const [path = ''] = args.rest;
  const limits = await limitsAt(client, path);
  if (limits === null) return `Quota does not exist for ${path}`;
  const cleared = LETTERS.filter((letter) => args.has(letter));
  if (cleared.length > 0) {
    const left = { ...limits, ...Object.fromEntries(cleared.map((letter) => [letter, -1])) };
    await client.setData(`${ROOT}${path}/${LIMITS}`, textOf(left));
    return '';
  }
  for (const name of [LIMITS, STATS]) await deleteRecursive(client, `${ROOT}${path}/${name}`);
  // Directories that served only this quota go, too.
  for (let at = `${ROOT}${path}`; at !== ROOT; at = parentOf(at)) {
    if ((await client.getChildren(at)).children.length > 0) break;
    await client.delete(at);
  }
  return '';
}

interface Listed {
  readonly out: readonly string[];
  readonly error: readonly string[];
}

export async function listQuota(client: Client, path: string): Promise<Listed> {
  const place = `${ROOT}${path}/${LIMITS}`;
  const error = [`absolute path is ${place}`];
  if (path.endsWith('/')) {
    const at = ROOT.length + path.length;
    const reason = `caused by empty node name specified @${at}`;
    return { out: [], error: [...error, `Invalid path string "${place}" ${reason}`] };
  }
  try {
    const limits = await client.getData(place);
    const stats = await client.getData(`${ROOT}${path}/${STATS}`);
    const line = (what: string, data: Buffer | null) =>
      `Output ${what} for ${path} ${data?.toString() ?? ''}`;
    return { out: [line('quota', limits.data), line('stat', stats.data)], error };
  } catch (failure) {
    if (!(failure instanceof NoNodeError)) throw failure;
    return { out: [], error: [...error, `quota for ${path} does not exist.`] };
  }
}

/** Null if there is none. */
async function limitsAt(client: Client, path: string): Promise<Limits | null> {
  try {
    const text = (await client.getData(`${ROOT}${path}/${LIMITS}`)).data?.toString() ?? '';
    const pairs = new Map(
      [...text.matchAll(/\b(\w+)=(-?\d{1,15})/g)].map(([, name, value]) => [name, Number(value)]),
    );
    const of = (letter: Letter): number => pairs.get(KEYS[letter]) ?? -1;
    return { n: of('n'), b: of('b'), N: of('N'), B: of('B') };
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}

function textOf({ n, b, N, B }: Limits): string {
  return `count=${n},bytes=${b}=;byteHardLimit=${B};countHardLimit=${N}`;
}
