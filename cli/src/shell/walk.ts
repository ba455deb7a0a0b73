/**
 * Walks a subtree, parents before children, in the order of names.
 *
 * Requests are sent in batches of siblings, so a tree takes few round trips; a large directory is
 * read page by page, so memory grows with depth only. Znodes that vanish meanwhile are left out. A
 * znode whose children may not be read is reported with `isClosed`, and the walk continues.
 */
import { type Client, NoAuthError, NoNodeError, type Stat } from '@rookery/client';
import { joinPath } from '@rookery/protocol';
import { UNKNOWN_STAT } from '../znodes/unknown-stat.js';

export interface Walked {
  readonly path: string;
  /** 0 for the znode at which the walk begins. */
  readonly depth: number;
  /** All zeros where the ACL forbids even that; ZooKeeper 3.8 tells it in any case. */
  readonly stat: Stat;
  /** Undefined unless the walk reads data; null also where the ACL forbids it (`isClosed`). */
  readonly data?: Buffer | null;
  /** The ACL forbids reading it, so its data, or what is below it, is missing here. */
  readonly isClosed: boolean;
}

interface WalkOptions {
  readonly client: Client;
  readonly path: string;
  readonly signal: AbortSignal;
  /** The maximum depth below the beginning; unlimited by default. */
  readonly depthMax?: number;
  readonly withData?: boolean;
}

const SIBLINGS = 64;
/**
 * The number of siblings in a batch with data: this many values of the greatest size are in memory.
 */
const SIBLINGS_WITH_DATA = 16;

/** Throws NoNodeError if there is nothing at the path. */
export async function* walk(options: WalkOptions): AsyncGenerator<Walked, void> {
  const first = await visit(options, options.path, 0);
  if (first === null) throw new NoNodeError(options.path);
  yield* below(options, first);
}

async function* below(options: WalkOptions, node: Walked): AsyncGenerator<Walked, void> {
  const { client, signal, depthMax = Number.POSITIVE_INFINITY, withData = false } = options;
  if (node.stat.numChildren === 0 || node.depth >= depthMax) {
    yield node;
    return;
  }
  const names = client.listChildren(node.path, { signal })[Symbol.asyncIterator]();
  const size = withData ? SIBLINGS_WITH_DATA : SIBLINGS;
  let batch = await take(names, size);
  yield batch === null ? { ...node, isClosed: true } : node;
  while (batch !== null && batch.length > 0) {
    const visits = batch.map((name) => visit(options, joinPath(node.path, name), node.depth + 1));
    for (const child of await Promise.all(visits)) {
      if (child !== null) yield* below(options, child);
    }
    batch = batch.length < size ? null : await take(names, size);
  }
}

/** Null if the ACL forbids it; empty if the directory has been deleted. */
async function take(names: AsyncIterator<string>, count: number): Promise<string[] | null> {
  const taken: string[] = [];
  try {
    while (taken.length < count) {
      const next = await names.next();
      if (next.done === true) break;
      taken.push(next.value);
    }
  } catch (error) {
    if (error instanceof NoAuthError) return null;
    if (!(error instanceof NoNodeError)) throw error;
  }
  return taken;
}

/** Null if it has been deleted. */
async function visit(options: WalkOptions, path: string, depth: number): Promise<Walked | null> {
  const { client, signal, withData = false } = options;
  if (withData) {
    try {
      return { path, depth, ...(await client.getData(path, { signal })), isClosed: false };
    } catch (error) {
      if (error instanceof NoNodeError) return null;
      if (!(error instanceof NoAuthError)) throw error;
    }
  }
  const stat = await statOf(options, path);
  if (stat === null) return null;
  const isClosed = withData || stat === UNKNOWN_STAT;
  return withData ? { path, depth, stat, data: null, isClosed } : { path, depth, stat, isClosed };
}

async function statOf({ client, signal }: WalkOptions, path: string): Promise<Stat | null> {
  try {
    return await client.exists(path, { signal });
  } catch (error) {
    if (error instanceof NoAuthError) return UNKNOWN_STAT;
    throw error;
  }
}
