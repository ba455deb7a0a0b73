/**
 * Mutants of the leader's decisions: the overlay of changes in flight, versions, sequence numbers,
 * time.
 */
import type { Mutant } from './mutant.js';

export const decisionMutants: readonly Mutant[] = [
  {
    name: 'failed-multi-not-rolled-back',
    area: 'pipeline',
    breaks: 'a multi that failed leaves nothing behind in the overlay',
    in: 'TxnPreparer.#multi',
    find: `{
        this.overlay.rollBack();
        return multiFailure(decision, { failed: ops.length, count: requests.length });
      }`,
    replace: `{
        return multiFailure(decision, { failed: ops.length, count: requests.length });
      }`,
  },
  {
    name: 'failed-multi-applied-in-part',
    area: 'pipeline',
    breaks: 'a multi is applied completely or not at all',
    in: 'TxnPreparer.#multi',
    find: `{
        this.overlay.rollBack();
        return multiFailure(decision, { failed: ops.length, count: requests.length });
      }`,
    replace: `{
        if (ops.length > 1) break;
        this.overlay.rollBack();
        return multiFailure(decision, { failed: ops.length, count: requests.length });
      }`,
  },
  {
    name: 'check-in-multi-ignores-the-version',
    area: 'pipeline',
    breaks: 'a check that does not hold fails its multi',
    in: 'decideCheck',
    find: 'if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;',
    replace: 'if (version !== ANY_VERSION && version < 0) return ErrorCode.badVersion;',
  },
  {
    name: 'overlay-without-deletes',
    area: 'pipeline',
    breaks: 'the next request sees the deletes in flight',
    in: 'Overlay.delete',
    find: 'own.become(ABSENT);',
    replace: '',
  },
  {
    name: 'overlay-without-children',
    area: 'pipeline',
    breaks: 'a delete sees the children that are being created',
    in: 'Overlay.hasChildren',
    find: 'const count = applied + (known?.children ?? 0);',
    replace: 'const count = applied + Math.min(0, known?.children ?? 0);',
  },
  {
    name: 'overlay-forgets-at-the-first-change-applied',
    area: 'pipeline',
    breaks: 'a znode is seen with all that is in flight until the last of it is applied',
    in: 'Overlay.#forget',
    find: 'if (znode.changes === 0) this.#znodes.remove(znode);',
    replace: 'if (znode.changes <= 1 && znode.isUsed) this.#znodes.remove(znode);',
  },
  {
    name: 'failed-multi-restores-only-what-it-added',
    area: 'pipeline',
    breaks: 'a multi that failed leaves nothing behind in the overlay',
    in: 'Overlay.rollBack',
    find: 'znode.become(was);',
    replace: 'if (znode.changes < 0) znode.become(was);',
  },
  {
    name: 'sequence-from-the-tree',
    area: 'pipeline',
    breaks: 'sequence numbers below a parent are never handed out twice',
    in: 'decideCreate',
    find: 'op.setPath(op.path + sequenceSuffix(parent.creates));',
    replace: 'op.setPath(op.path + sequenceSuffix(overlay.appliedCreates(parentViewOf(op))));',
    also: [
      {
        in: 'Overlay.hasChildren',
        find: 'hasChildren(path: PathView): boolean { $BODY }',
        replace: `appliedCreates({ path }: PathView): number {
            const node = this.#state.tree.find(path);
            return node === NO_NODE ? 0 : this.#state.tree.creates(node);
          }

          hasChildren(path: PathView): boolean { $BODY }`,
      },
    ],
  },
  {
    name: 'sequence-counts-the-living',
    area: 'pipeline',
    breaks: 'a sequence number is never used again, deleted children or not',
    in: 'Overlay.#fill',
    find: 'znode.creates = tree.creates(node);',
    replace: 'znode.creates = tree.childCount(node);',
  },
  {
    name: 'version-from-the-tree',
    area: 'pipeline',
    breaks: 'a version is checked against what is in flight',
    in: 'decideSetData',
    find: 'if (op.expected !== ANY_VERSION && op.expected !== node.version) return ErrorCode.badVersion;',
    replace:
      'if (op.expected !== ANY_VERSION && op.expected !== overlay.appliedVersion(op, node.version)) return ErrorCode.badVersion;',
    also: [
      {
        in: 'Overlay.hasChildren',
        find: 'hasChildren(path: PathView): boolean { $BODY }',
        replace: `appliedVersion({ node }: PathView, otherwise: number): number {
            return node === NO_NODE ? otherwise : this.#state.tree.version(node);
          }

          hasChildren(path: PathView): boolean { $BODY }`,
      },
    ],
  },
  {
    name: 'old-version-accepted',
    area: 'pipeline',
    breaks: 'a set with a version changes only that version',
    in: 'decideSetData',
    find: 'if (op.expected !== ANY_VERSION && op.expected !== node.version) return ErrorCode.badVersion;',
    replace:
      'if (op.expected !== ANY_VERSION && op.expected > node.version) return ErrorCode.badVersion;',
  },
  {
    name: 'delete-ignores-its-version',
    area: 'pipeline',
    breaks: 'a delete with a version deletes only that version',
    in: 'decideDelete',
    find: 'if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;',
    replace: 'if (version !== ANY_VERSION && version < 0) return ErrorCode.badVersion;',
  },
  {
    name: 'ephemeral-behind-its-close',
    area: 'pipeline',
    breaks: 'a session that is being closed creates nothing more',
    aim: [
      'members=3',
      'kinds=["slow-disk"]',
      'settings.peerTimeoutMs=200',
      'settings.peerHeartbeatMs=20',
      'clients.vanishEveryMs=500',
      'clients.timeoutMinMs=500',
      'clients.timeoutMaxMs=600',
      'settings.minSessionTimeoutMs=500',
      'clients.works=["ephemerals"]',
      'clients.readShare=0',
    ],
    in: 'SessionsInFlight.isLive',
    find: 'if (this.isEndDecided(session)) return false;',
    replace: '',
  },
  {
    name: 'ephemerals-of-a-closing-session-count',
    area: 'pipeline',
    breaks: 'while a close is in flight, whatever the session owns counts as absent',
    aim: [
      'members=3',
      'kinds=["slow-disk"]',
      'clients.closeEveryMs=300',
      'clients.works=["families"]',
      'clients.thinkMaxMs=0',
    ],
    in: 'Overlay.at',
    find: 'if (this.#isClosed(znode.owner)) $BODY',
    replace: '',
  },
  {
    name: 'deleted-znode-found-by-its-node',
    area: 'pipeline',
    breaks: 'what is deleted and created anew in flight is found by its path',
    in: 'Overlay.delete',
    find: 'this.#znodes.keepPath(own, path);',
    replace: 'void path;',
  },
  {
    name: 'delete-tells-the-next-zxid',
    area: 'state',
    breaks: 'the zxids of a znode are those of its changes',
    in: 'Tree.losesChildren',
    find: 'this.store.setDouble(parent, DOUBLE.pzxid, at.zxid);',
    replace: 'this.store.setDouble(parent, DOUBLE.pzxid, at.zxid + 1);',
  },
  {
    name: 'ephemerals-of-one-parent-go',
    area: 'state',
    breaks: 'all ephemerals of a session end with it, on every member',
    in: 'ReplicatedState.#closeSession',
    find: 'const families = this.tree.ephemeralFamilies(at.session);',
    replace: 'const families = this.tree.ephemeralFamilies(at.session).slice(0, 1);',
  },
];
