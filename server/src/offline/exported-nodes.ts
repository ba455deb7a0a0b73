/**
 * Converts a state to the form of ZooKeeper's snapshots: the znodes, each parent before its
 * children, and the ACL lists that they share.
 */
import type { Int64 } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE, ROOT_NODE, type Tree } from '../state/tree.js';
import {
  CONTAINER_OWNER,
  type NodeToWrite,
  ownerOfTtl,
  type SnapshotContent,
  type SnapshotNode,
} from '../zookeeper-files/index.js';

export function exportedState({ lastZxid, sessions, tree }: ReplicatedState): SnapshotContent {
  const timeouts = [...sessions.all()].map(
    ([id, { timeoutMs }]) => [BigInt(id), timeoutMs] as const,
  );
  return {
    zxid: BigInt(lastZxid),
    sessions: new Map(timeouts),
    aclLists: new Set(tree.aclLists()),
    nodes: nodesToWrite(tree),
  };
}

export function* exportedNodes({ tree }: ReplicatedState): Generator<SnapshotNode> {
  for (const node of nodesToWrite(tree)) {
    yield {
      path: node.path,
      data: node.data === null ? null : Buffer.from(node.data),
      acl: node.acl,
      czxid: BigInt(node.czxid),
      mzxid: BigInt(node.mzxid),
      pzxid: BigInt(node.pzxid),
      ctime: BigInt(node.ctime),
      mtime: BigInt(node.mtime),
      version: node.version,
      cversion: node.cversion,
      aversion: node.aversion,
      ephemeralOwner: BigInt(node.ephemeralOwner),
    };
  }
}

/** Data are views that are valid until the next change of the tree. */
function* nodesToWrite(tree: Tree): Generator<NodeToWrite> {
  let parent = NO_NODE;
  let prefix = '';
  for (const node of nodesOf(tree)) {
    // Siblings mostly follow each other.
    if (tree.parent(node) !== parent) {
      parent = tree.parent(node);
      prefix = tree.pathPrefix(parent);
    }
    yield {
      path: node === ROOT_NODE ? '' : prefix + tree.name(node),
      data: tree.data(node),
      acl: tree.acl(node),
      czxid: tree.czxid(node),
      mzxid: tree.mzxid(node),
      pzxid: tree.pzxid(node),
      ctime: tree.ctime(node),
      mtime: tree.mtime(node),
      version: tree.version(node),
      cversion: tree.creates(node),
      aversion: tree.aversion(node),
      ephemeralOwner: ownerOf(tree, node),
    };
  }
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

function ownerOf(tree: Tree, node: number): Int64 {
  switch (tree.mode(node)) {
    case 'persistent':
      return 0;
    case 'container':
      return CONTAINER_OWNER;
    case 'ttl':
      return ownerOfTtl(BigInt(tree.ttlMs(node)));
    default:
      return tree.owner(node);
  }
}
