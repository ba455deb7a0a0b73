/**
 * Goes through the znodes below a path as a client does, directory by directory.
 *
 * Requests are sent in batches, so a tree takes few round trips, and no faster than the batches are
 * answered. One directory is listed at a time, whatever the depth of the tree, and the directories
 * that wait for their turn are bounded, so a tree cannot be made that takes the memory of the
 * process. What the ACLs close, and what vanishes meanwhile, is left out. It ends early when the
 * one who asked is gone.
 */
import { type Client, NoAuthError, NoNodeError, type Stat } from '@rookery/client';
import { joinPath, nameOf } from '@rookery/protocol';
import {
  type Candidate,
  CHILDREN_MAX,
  type Search,
  type SearchAsked,
  statFacts,
} from '@rookery/server/http';
import { hex, kindOf } from '../command/values.js';
import type { ClientPool, Leased } from './client-pool.js';
import { asProblem, problemOf } from './keeper-problem.js';
import { readableStat } from './readable-stat.js';

const BATCH = 64;
/** The characters of the paths that wait: half a million directories, mostly. */
const WAITING_CHARACTERS_MAX = 32 << 20;
/** What a path takes beside its characters. */
const PATH_CHARACTERS = 32;

/** What `cut` says of a scan that has left out directories. */
export const TOO_MANY = 'too many directories';

interface ScannedNode {
  readonly path: string;
  readonly name: string;
  readonly stat: Stat;
}

export interface ScannedDirectory {
  readonly path: string;
  /** The children, CHILDREN_MAX of them at most. */
  readonly children: readonly ScannedNode[];
  readonly isTruncated: boolean;
}

/** A directory comes after its children, and before what is in them. */
export type Scanned =
  | { readonly kind: 'nodes'; readonly nodes: readonly ScannedNode[] }
  | { readonly kind: 'directory'; readonly directory: ScannedDirectory }
  /** The last one, where so many directories waited for their turn that others were left out. */
  | { readonly kind: 'leftOut' };

type Source = Pick<Client, 'exists' | 'listChildren'>;

interface ScanAsked {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly waitingCharactersMax?: number;
}

/** Throws NoNodeError, or NoAuthError if the path itself may not be read. */
export async function* scan(client: Source, asked: ScanAsked): AsyncGenerator<Scanned> {
  const { path, signal, waitingCharactersMax = WAITING_CHARACTERS_MAX } = asked;
  const stat = await client.exists(path);
  if (stat === null) throw new NoNodeError(path);
  yield { kind: 'nodes', nodes: [{ path, name: path === '/' ? '' : nameOf(path), stat }] };
  // The last one is the next one, so what waits is mostly a few siblings of each level.
  const waiting: string[] = [];
  let characters = 0;
  let isLeftOut = false;
  for (let at: string | undefined = path; at !== undefined; at = waiting.pop()) {
    if (at !== path) characters -= at.length + PATH_CHARACTERS;
    const inner: string[] = [];
    const directory = inDirectory(client, at, signal);
    for await (const one of at === path ? directory : unlessClosed(directory)) {
      yield one;
      if (one.kind !== 'nodes') continue;
      for (const node of one.nodes) {
        if (node.stat.numChildren === 0) continue;
        const length = node.path.length + PATH_CHARACTERS;
        isLeftOut ||= characters + length > waitingCharactersMax;
        if (characters + length > waitingCharactersMax) continue;
        characters += length;
        inner.push(node.path);
      }
    }
    if (signal.aborted) return;
    for (let next = inner.pop(); next !== undefined; next = inner.pop()) waiting.push(next);
  }
  if (isLeftOut) yield { kind: 'leftOut' };
}

/** The children in batches, then the directory itself. */
async function* inDirectory(
  client: Source,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Scanned> {
  const children: ScannedNode[] = [];
  let isTruncated = false;
  const names = client.listChildren(path)[Symbol.asyncIterator]();
  for (;;) {
    const batch = await take(names);
    if (signal.aborted) return;
    if (batch.length === 0) break;
    const nodes = await visit(client, path, batch);
    yield { kind: 'nodes', nodes };
    isTruncated ||= children.length + nodes.length > CHILDREN_MAX;
    children.push(...nodes.slice(0, CHILDREN_MAX - children.length));
  }
  yield { kind: 'directory', directory: { path, children, isTruncated } };
}

/** What is below a znode that may not be read, or has just gone, is nothing. */
async function* unlessClosed(scanned: AsyncGenerator<Scanned>): AsyncGenerator<Scanned> {
  try {
    yield* scanned;
  } catch (error) {
    if (!(error instanceof NoAuthError) && !(error instanceof NoNodeError)) throw error;
  }
}

async function take(names: AsyncIterator<string>): Promise<readonly string[]> {
  const taken: string[] = [];
  while (taken.length < BATCH) {
    const next = await names.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

async function visit(client: Source, path: string, names: readonly string[]) {
  const visited = await Promise.all(
    names.map(async (name): Promise<ScannedNode | null> => {
      const own = joinPath(path, name);
      const stat = await readableStat(client, own);
      return stat === null ? null : { path: own, name, stat };
    }),
  );
  return visited.filter((node) => node !== null);
}

export function clientSearch(pool: ClientPool): Search {
  return (asked) => asProblem(() => begunSearch(pool, asked), asked.path);
}

async function begunSearch(pool: ClientPool, asked: SearchAsked): Promise<AsyncIterable<object>> {
  const leased = await pool.lease(asked.caller);
  try {
    // What is refused has its status, because nothing has been sent yet.
    await leased.client.getData(asked.path);
    return found(leased, asked);
  } catch (error) {
    leased.release();
    throw error;
  }
}

async function* found(leased: Leased, asked: SearchAsked): AsyncGenerator<object> {
  const { path, isWanted, limit, signal } = asked;
  let [count, visited] = [0, 0];
  try {
    let cut: string | null = null;
    for await (const one of scan(leased.client, { path, signal })) {
      if (one.kind === 'leftOut') cut = TOO_MANY;
      if (one.kind !== 'nodes') continue;
      for (const node of one.nodes) {
        visited += 1;
        if (!isWanted(candidateOf(node))) continue;
        if (count === limit) {
          yield { done: true, visited, cut: 'enough' };
          return;
        }
        count += 1;
        const { ephemeralOwner } = node.stat;
        yield { path: node.path, mode: kindOf(ephemeralOwner), stat: statFacts(node.stat) };
      }
    }
    yield { done: true, visited, cut };
  } catch (error) {
    throw problemOf(error, path);
  } finally {
    leased.release();
  }
}

function candidateOf({ path, name, stat }: ScannedNode): Candidate {
  const { ephemeralOwner: owner, dataLength } = stat;
  return {
    path,
    name,
    dataLength,
    mode: kindOf(owner),
    isReadable: true,
    owner: owner === 0n ? null : hex(owner),
  };
}
