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
    file: 'pipeline/prepare.ts',
    find: `        this.#overlay.rollBack();
        return multiFailure(`,
    replace: `        return multiFailure(`,
  },
  {
    name: 'failed-multi-applied-in-part',
    area: 'pipeline',
    breaks: 'a multi is applied completely or not at all',
    file: 'pipeline/prepare.ts',
    find: `        this.#overlay.rollBack();
        return multiFailure(`,
    replace: `        if (ops.length > 1) break;
        this.#overlay.rollBack();
        return multiFailure(`,
  },
  {
    name: 'check-in-multi-ignores-the-version',
    area: 'pipeline',
    breaks: 'a check that does not hold fails its multi',
    file: 'pipeline/prepare-op.ts',
    find: `  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  return { kind: 'check', path };`,
    replace: `  if (version !== ANY_VERSION && version < 0) return ErrorCode.badVersion;
  return { kind: 'check', path };`,
  },
  {
    name: 'overlay-without-deletes',
    area: 'pipeline',
    breaks: 'the next request sees the deletes in flight',
    file: 'pipeline/overlay.ts',
    find: `    own.become(ABSENT);
    this.#add({ zxid: this.#zxid, znode: own, parent: this.#changing(parent), by: -1, owner });`,
    replace: `    this.#add({ zxid: this.#zxid, znode: own, parent: this.#changing(parent), by: -1, owner });`,
  },
  {
    name: 'overlay-without-children',
    area: 'pipeline',
    breaks: 'a delete sees the children that are being created',
    file: 'pipeline/overlay.ts',
    find: 'applied + (known?.children ?? 0);',
    replace: 'applied + Math.min(0, known?.children ?? 0);',
  },
  {
    name: 'overlay-forgets-at-the-first-change-applied',
    area: 'pipeline',
    breaks: 'a znode is seen with all that is in flight until the last of it is applied',
    file: 'pipeline/overlay.ts',
    find: '    if (znode.changes === 0) this.#znodes.remove(znode);\n    if (parent',
    replace:
      '    if (znode.changes <= 1 && znode.isUsed) this.#znodes.remove(znode);\n    if (parent',
  },
  {
    name: 'failed-multi-restores-only-what-it-added',
    area: 'pipeline',
    breaks: 'a multi that failed leaves nothing behind in the overlay',
    file: 'pipeline/overlay.ts',
    find: 'of before.reverse()) znode.become(was);',
    replace: 'of before.reverse()) if (znode.changes < 0) znode.become(was);',
  },
  {
    name: 'sequence-from-the-tree',
    area: 'pipeline',
    breaks: 'sequence numbers below a parent are never handed out twice',
    file: 'pipeline/prepare-op.ts',
    find: 'sequenceSuffix(parent.creates)',
    replace: 'sequenceSuffix(overlay.appliedCreates(parentViewOf(op)))',
    also: [
      {
        file: 'pipeline/overlay.ts',
        find: '  hasChildren(path: PathView): boolean {\n',
        replace: `  appliedCreates({ path }: PathView): number {
    const node = this.#state.tree.find(path);
    return node === NO_NODE ? 0 : this.#state.tree.creates(node);
  }

  hasChildren(path: PathView): boolean {
`,
      },
    ],
  },
  {
    name: 'sequence-counts-the-living',
    area: 'pipeline',
    breaks: 'a sequence number is never used again, deleted children or not',
    file: 'pipeline/overlay.ts',
    find: 'znode.creates = tree.creates(node);',
    replace: 'znode.creates = tree.childCount(node);',
  },
  {
    name: 'version-from-the-tree',
    area: 'pipeline',
    breaks: 'a version is checked against what is in flight',
    file: 'pipeline/prepare-op.ts',
    find: 'op.expected !== node.version) return',
    replace: 'op.expected !== overlay.appliedVersion(op, node.version)) return',
    also: [
      {
        file: 'pipeline/overlay.ts',
        find: '  hasChildren(path: PathView): boolean {\n',
        replace: `  appliedVersion({ node }: PathView, otherwise: number): number {
    return node === NO_NODE ? otherwise : this.#state.tree.version(node);
  }

  hasChildren(path: PathView): boolean {
`,
      },
    ],
  },
  {
    name: 'old-version-accepted',
    area: 'pipeline',
    breaks: 'a set with a version changes only that version',
    file: 'pipeline/prepare-op.ts',
    find: 'op.expected !== node.version) return',
    replace: 'op.expected > node.version) return',
  },
  {
    name: 'delete-ignores-its-version',
    area: 'pipeline',
    breaks: 'a delete with a version deletes only that version',
    file: 'pipeline/prepare-op.ts',
    find: `  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  if (overlay.hasChildren(at))`,
    replace: `  if (version !== ANY_VERSION && version < 0) return ErrorCode.badVersion;
  if (overlay.hasChildren(at))`,
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
    file: 'pipeline/sessions-in-flight.ts',
    find: '    if (this.isEndDecided(session)) return false;\n',
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
    file: 'pipeline/overlay.ts',
    find: `    if (this.#isClosed(znode.owner)) {
      this.#znodes.keepPath(znode, path);
      znode.become(ABSENT);
    }
`,
    replace: '',
  },
  {
    name: 'deleted-znode-found-by-its-node',
    area: 'pipeline',
    breaks: 'what is deleted and created anew in flight is found by its path',
    file: 'pipeline/overlay.ts',
    find: '    this.#znodes.keepPath(own, path);\n',
    replace: '    void path;\n',
  },
  {
    name: 'delete-tells-the-next-zxid',
    area: 'state',
    breaks: 'the zxids of a znode are those of its changes',
    file: 'state/tree.ts',
    find: `    this.#countInDigest(parent, -1);
    this.store.setDouble(parent, DOUBLE.pzxid, at.zxid);
    this.#countInDigest(parent, 1);`,
    replace: `    this.#countInDigest(parent, -1);
    this.store.setDouble(parent, DOUBLE.pzxid, at.zxid + 1);
    this.#countInDigest(parent, 1);`,
  },
  {
    name: 'ephemerals-of-one-parent-go',
    area: 'state',
    breaks: 'all ephemerals of a session end with it, on every member',
    file: 'state/replicated-state.ts',
    find: 'const families = this.tree.ephemeralFamilies(at.session);',
    replace: 'const families = this.tree.ephemeralFamilies(at.session).slice(0, 1);',
  },
];
