/**
 * A state as ZooKeeper's snapshots have it: the znodes, each parent before its children, and the
 * ACL lists that they share.
 */
import type { ReplicatedState } from '../state/replicated-state.js';
import { ROOT_NODE, type Tree } from '../state/tree.js';
import {
  type AclEntry,
  CONTAINER_OWNER,
  ownerOfTtl,
  type SnapshotContent,
  type SnapshotNode,
} from '../zookeeper-files/index.js';

export function exportedState(state: ReplicatedState): SnapshotContent {
  const sessions = [...state.sessions.all()].map(
    ([id, { timeoutMs }]) => [BigInt(id), timeoutMs] as const,
  );
  return {
    zxid: BigInt(state.lastZxid),
    sessions: new Map(sessions),
    aclLists: aclListsOf(state.tree),
    nodes: exportedNodes(state),
  };
}

export function* exportedNodes({ tree }: ReplicatedState): Generator<SnapshotNode> {
  for (const node of nodesOf(tree)) {
    const data = tree.data(node);
    const path = tree.path(node);
    yield {
      path: path === '/' ? '' : path,
      data: data === null ? null : Buffer.from(data),
      acl: tree.acl(node),
      czxid: BigInt(tree.czxid(node)),
      mzxid: BigInt(tree.mzxid(node)),
      pzxid: BigInt(tree.pzxid(node)),
      ctime: BigInt(tree.ctime(node)),
      mtime: BigInt(tree.mtime(node)),
      version: tree.version(node),
      cversion: tree.cversion(node),
      aversion: tree.aversion(node),
      ephemeralOwner: ownerOf(tree, node),
    };
  }
}

function aclListsOf(tree: Tree): ReadonlySet<readonly AclEntry[]> {
  const lists = new Set<readonly AclEntry[]>();
  for (const node of nodesOf(tree)) lists.add(tree.acl(node));
  return lists;
}

/** Each parent before its children. */
function* nodesOf(tree: Tree): Generator<number> {
  const pending = [ROOT_NODE];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    yield node;
    tree.visitChildren(node, (child) => {
      pending.push(child);
      return true;
    });
  }
}

function ownerOf(tree: Tree, node: number): bigint {
  switch (tree.mode(node)) {
    case 'persistent':
      return 0n;
    case 'container':
      return CONTAINER_OWNER;
    case 'ttl':
      return ownerOfTtl(BigInt(tree.ttlMs(node)));
    default:
      return BigInt(tree.owner(node));
  }
}
