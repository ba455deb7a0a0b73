/**
 * Goes through the znodes below a path as a client does, directory by directory.
 *
 * Requests are sent in batches, so a tree takes few round trips, and no faster than the batches are
 * answered. What the ACLs close, and what vanishes meanwhile, is left out. It ends early when the
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
import { hex, kindOf } from '../shell/values.js';
import type { ClientPool, Leased } from './client-pool.js';
import { asProblem, problemOf } from './keeper-problem.js';

const BATCH = 64;

export interface ScannedNode {
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

/** A directory comes after everything that is in it. */
export type Scanned =
  | { readonly kind: 'nodes'; readonly nodes: readonly ScannedNode[] }
  | { readonly kind: 'directory'; readonly directory: ScannedDirectory };

/** Throws NoNodeError, or NoAuthError if the path itself may not be read. */
export async function* scan(
  client: Client,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Scanned> {
  const stat = await client.exists(path);
  if (stat === null) throw new NoNodeError(path);
  yield { kind: 'nodes', nodes: [{ path, name: path === '/' ? '' : nameOf(path), stat }] };
  yield* below(client, path, signal);
}

async function* below(client: Client, path: string, signal: AbortSignal): AsyncGenerator<Scanned> {
  const children: ScannedNode[] = [];
  let isTruncated = false;
  const names = client.listChildren(path)[Symbol.asyncIterator]();
  for (;;) {
    const batch = await take(names);
    if (batch.length === 0 || signal.aborted) break;
    const nodes = await visit(client, path, batch);
    yield { kind: 'nodes', nodes };
    isTruncated ||= children.length + nodes.length > CHILDREN_MAX;
    children.push(...nodes.slice(0, CHILDREN_MAX - children.length));
    for (const node of nodes) {
      if (node.stat.numChildren > 0) yield* unlessClosed(below(client, node.path, signal));
      if (signal.aborted) return;
    }
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

async function visit(client: Client, path: string, names: readonly string[]) {
  const visited = await Promise.all(
    names.map(async (name): Promise<ScannedNode | null> => {
      const own = joinPath(path, name);
      const stat = await client.exists(own);
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
    for await (const one of scan(leased.client, path, signal)) {
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
    yield { done: true, visited, cut: null };
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
