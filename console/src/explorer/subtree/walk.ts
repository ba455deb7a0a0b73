/**
 * Everything below one or several znodes, with its facts, by pages of children: a request for each
 * znode that has children, and none for the others.
 */
import type { Api } from '../../api/api.js';
import type { ChildrenPage, FoundNode, NodeFacts } from '../../api/types.js';
import { childrenPage } from '../children/children-page.js';
import { childOf } from '../paths.js';
import { forEach } from './at-once.js';

export interface Walk {
  /** A znode comes before its children. */
  readonly nodes: readonly FoundNode[];
  /** Whether there is more than the bound. */
  readonly isCut: boolean;
}

export const NODES_MAX = 50_000;
const PAGE = 1_000;

/**
 * None of the roots is below another one. `onProgress` is told how many znodes are found so far.
 * Throws ApiProblem, and when it is aborted.
 */
export async function walk(
  api: Pick<Api, 'get'>,
  roots: readonly string[],
  { signal, onProgress }: { readonly signal: AbortSignal; onProgress?(count: number): void },
): Promise<Walk> {
  if (roots.length > NODES_MAX) return { nodes: [], isCut: true };
  const nodes: FoundNode[] = [];
  await forEach(roots, async (path, index) => {
    const { mode, stat } = await api.get<NodeFacts>('/node', { path }, signal);
    nodes[index] = { path, mode, stat };
  });
  // What is appended while going along is visited, too.
  for (const { path, stat } of nodes) {
    // What ZooKeeper makes for itself is no part of a tree of data.
    if (stat === null || stat.numChildren === 0 || path === '/zookeeper') continue;
    let after: string | null = '';
    while (after !== null) {
      const page: ChildrenPage = await childrenPage(api, path, { after, limit: PAGE, signal });
      for (const child of page.children) {
        if (nodes.length >= NODES_MAX) return { nodes, isCut: true };
        if (path === '/' && child.name === 'zookeeper') continue;
        nodes.push({ path: childOf(path, child.name), mode: child.mode, stat: child.stat });
      }
      after = page.next;
      onProgress?.(nodes.length);
    }
  }
  return { nodes, isCut: false };
}
