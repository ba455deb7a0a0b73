/**
 * Searches the tree of a member, a little in each turn: see tree-scan.ts.
 */
import { prefixedHex } from '../../net/four-letter/format.js';
import type { Requester } from '../../pipeline/access.js';
import type { Tree } from '../../state/tree.js';
import type { ApiMember } from './api-member.js';
import { mayReadNode, requireServing } from './member-nodes.js';
import { statFacts } from './node-source.js';
import type { Candidate, Search } from './search-route.js';
import { type Slices, TreeScan } from './tree-scan.js';

export function memberSearch(member: ApiMember): Search {
  return ({ path, isWanted, limit, caller: { requester }, signal }) => {
    requireServing(member);
    const scan = new TreeScan(member, { path, requester, signal });
    const candidate = new NodeInTree(requester, (characters) => scan.spend(characters));
    const facts = (tree: Tree, node: number): object => {
      const stat = mayReadNode(tree, node, requester) ? statFacts(tree.stat(node)) : null;
      return { path: tree.path(node), mode: stat === null ? null : tree.mode(node), stat };
    };
    const isFound = (tree: Tree, node: number) => isWanted(candidate.at(tree, node));
    return found(scan.slices(isFound, facts, limit));
  };
}

async function* found(slices: Slices<object>): AsyncGenerator<object> {
  for (;;) {
    const { value, done } = await slices.next();
    if (done === true) {
      yield { done: true, ...value };
      return;
    }
    yield* value;
  }
}

/** One object for all nodes of a search, because there may be millions of them. */
class NodeInTree implements Candidate {
  readonly #requester: Requester;
  readonly #spend: (characters: number) => void;
  #tree: Tree | null = null;
  #node = 0;

  constructor(requester: Requester, spend: (characters: number) => void) {
    this.#requester = requester;
    this.#spend = spend;
  }

  at(tree: Tree, node: number): this {
    this.#tree = tree;
    this.#node = node;
    return this;
  }

  get name(): string {
    return this.#tree?.name(this.#node) ?? '';
  }

  get path(): string {
    const path = this.#tree?.path(this.#node) ?? '';
    this.#spend(path.length);
    return path;
  }

  get mode(): string {
    return this.#tree?.mode(this.#node) ?? '';
  }

  get dataLength(): number {
    return this.#tree?.dataLength(this.#node) ?? 0;
  }

  get owner(): string | null {
    const owner = this.#tree?.owner(this.#node) ?? 0;
    return owner === 0 ? null : prefixedHex(owner);
  }

  get isReadable(): boolean {
    return this.#tree !== null && mayReadNode(this.#tree, this.#node, this.#requester);
  }
}
