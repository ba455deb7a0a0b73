/**
 * The znodes of a state as ZooKeeper's snapshots have them, each parent before its children.
 */
import type { ReplicatedState } from '../state/replicated-state.js';
import { ROOT_NODE } from '../state/tree.js';
import { CONTAINER_OWNER, ownerOfTtl, type SnapshotNode } from '../zookeeper-files/index.js';

export function* exportedNodes({ tree }: ReplicatedState): Generator<SnapshotNode> {
  const pending = [ROOT_NODE];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
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
    tree.visitChildren(node, (child) => {
      pending.push(child);
      return true;
    });
  }
}

function ownerOf(tree: ReplicatedState['tree'], node: number): bigint {
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
