/**
 * Everything below a znode, with its facts, by pages of children: a request for each znode that
 * has children, and none for the others.
 */
import type { Api } from '../../api/api.js';
import type { ChildrenPage, FoundNode, NodeFacts } from '../../api/types.js';
import { childrenPage } from '../children/children-page.js';
import { childOf } from '../paths.js';

export interface Walk {
  /** A znode comes before its children. */
  readonly nodes: readonly FoundNode[];
  /** Whether there is more than the bound. */
  readonly isCut: boolean;
}

export const NODES_MAX = 50_000;
const PAGE = 1_000;

/** `onProgress` is told how many are found so far. Throws ApiProblem, and when it is aborted. */
export async function walk(
  api: Pick<Api, 'get'>,
  root: string,
  { signal, onProgress }: { readonly signal: AbortSignal; onProgress?(count: number): void },
): Promise<Walk> {
  const facts = await api.get<NodeFacts>('/node', { path: root }, signal);
  const nodes: FoundNode[] = [{ path: root, mode: facts.mode, stat: facts.stat }];
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
