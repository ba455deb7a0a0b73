/**
 * Znodes as a member has applied them: what a client that is connected to it would see, with the
 * caller's rights. A page of children costs as much in a directory of a hundred thousand as in one
 * of ten, once its names are in order.
 */
import { type Acl, ErrorCode, formatZxid, Perms } from '@rookery/protocol';
import { mayDo, type Requester } from '../../pipeline/access.js';
import type { ReplicatedState } from '../../state/replicated-state.js';
import { NO_NODE, type Tree } from '../../state/tree.js';
import { HttpError } from '../http-port.js';
import type { ApiMember } from './api-member.js';
import type { Caller } from './caller.js';
import type { ChildFacts, NodeSource, PageAsked, Versioned } from './node-source.js';
import { aclFacts, rightsAt, statFacts } from './node-source.js';
import { keeperProblem } from './problem.js';

/** Names of one page, as ZooKeeper would write them. */
const PAGE_BYTES_MAX = 256 << 10;
/** Znodes and entries of ACLs that one request looks at for a figure; this takes some ms. */
const SUBTREE_WORK_MAX = 1 << 15;
/** What only those may read who may read everything. */
const NO_ACL: readonly Acl[] = [];

export class MemberNodes implements NodeSource {
  readonly #member: ApiMember;

  constructor(member: ApiMember) {
    this.#member = member;
  }

  facts(path: string, { requester }: Caller) {
    const { node, tree } = this.#find(path, requester);
    const acl = tree.acl(node);
    return this.#versioned(node, {
      path,
      mode: tree.mode(node),
      ttlMs: tree.ttlMs(node) === 0 ? null : tree.ttlMs(node),
      stat: statFacts(tree.stat(node)),
      descendants: tree.descendantCount(node),
      subtreeBytes: mayReadSubtree(tree, node, requester) ? tree.subtreeDataBytes(node) : null,
      acl: aclFacts(acl, requester),
      may: rightsAt(acl, requester),
    });
  }

  data(path: string, { requester }: Caller) {
    const { node, tree } = this.#find(path, requester);
    return this.#versioned(node, Uint8Array.from(tree.data(node) ?? []));
  }

  acl(path: string, { requester }: Caller) {
    const { node, tree } = this.#find(path, requester);
    const acl = tree.acl(node);
    const value = { acl: aclFacts(acl, requester), may: rightsAt(acl, requester) };
    return { ...this.#versioned(node, value), version: tree.aversion(node) };
  }

  children(path: string, { after, limit, withStat }: PageAsked, { requester }: Caller) {
    const { node, tree } = this.#find(path, requester);
    const page = tree.childPage(node, { startAfter: after, limit, bytesMax: PAGE_BYTES_MAX });
    const prefix = tree.pathPrefix(node);
    const facts = (name: string): ChildFacts => {
      const child = tree.find(prefix + name);
      if (!mayReadNode(tree, child, requester)) return { name, mode: null, stat: null };
      return { name, mode: tree.mode(child), stat: statFacts(tree.stat(child)) };
    };
    const { numChildren, cversion } = tree.stat(node);
    return this.#versioned(node, {
      names: page.names,
      children: withStat ? page.names.map(facts) : null,
      hasMore: page.more,
      numChildren,
      cversion,
    });
  }

  #find(path: string, requester: Requester) {
    requireServing(this.#member);
    const { state } = this.#member;
    return { node: readableNode(state, path, requester), tree: state.tree };
  }

  #versioned<T>(node: number, value: T): Versioned<T> {
    const { tree, lastZxid } = this.#member.state;
    return { value, version: tree.version(node), zxid: formatZxid(lastZxid) };
  }
}

/** The number of the znode, which the caller may read. Throws HttpError 404 and 403. */
export function readableNode(state: ReplicatedState, path: string, requester: Requester): number {
  const { tree } = state;
  const node = tree.find(path);
  if (node === NO_NODE) throw keeperProblem(ErrorCode.noNode, { path });
  if (!mayReadNode(tree, node, requester)) throw keeperProblem(ErrorCode.noAuth, { path });
  return node;
}

export function mayReadNode(tree: Tree, node: number, requester: Requester): boolean {
  return tree.worldMay(node, Perms.read) || mayDo(requester, tree.acl(node), Perms.read);
}

/**
 * Whether the caller may read the znode and everything below it. False, too, where that takes too
 * long to find out: a large subtree of a tree in which something may not be read. It looks at
 * nothing below what the caller may not read, so nothing there makes a difference.
 */
function mayReadSubtree(tree: Tree, node: number, requester: Requester): boolean {
  if (mayDo(requester, NO_ACL, Perms.read)) return true;
  const waiting = [node];
  let work = 1;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (!tree.worldMay(at, Perms.read)) work += tree.acl(at).length;
    if (work > SUBTREE_WORK_MAX) return mayReadAll(tree, requester);
    if (!mayReadNode(tree, at, requester)) return false;
    tree.visitChildren(at, (child) => {
      waiting.push(child);
      work += 1;
      return work <= SUBTREE_WORK_MAX;
    });
  }
  return work <= SUBTREE_WORK_MAX || mayReadAll(tree, requester);
}

function mayReadAll(tree: Tree, requester: Requester): boolean {
  let work = 0;
  return tree.aclLists().every((acl) => {
    work += acl.length;
    return work <= SUBTREE_WORK_MAX && mayDo(requester, acl, Perms.read);
  });
}

/** What is not served to clients is not shown here either. Throws HttpError 503. */
export function requireServing(member: ApiMember): void {
  if (member.context().view.serving) return;
  throw new HttpError(503, 'This member serves no clients at the moment: it has no leader.', {
    'retry-after': '1',
  });
}
