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
    replace: `        this.#overlay.commit();
        return multiFailure(`,
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
    find: '    this.#set(path, this.#writable(absent()), null);\n',
    replace: '',
  },
  {
    name: 'overlay-without-children',
    area: 'pipeline',
    breaks: 'a delete sees the children that are being created',
    file: 'pipeline/overlay.ts',
    find: 'applied + this.#children.net(path) + this.#createdBelow(node);',
    replace: 'applied + Math.min(0, this.#children.net(path) + this.#createdBelow(node));',
  },
  {
    name: 'sequence-from-the-tree',
    area: 'pipeline',
    breaks: 'sequence numbers below a parent are never handed out twice',
    file: 'pipeline/prepare-op.ts',
    find: 'path + sequenceSuffix(parent.creates)',
    replace: 'path + sequenceSuffix(overlay.appliedCreates(parentOf(path)))',
    also: [
      {
        file: 'pipeline/overlay.ts',
        find: '  hasChildren(path: string): boolean {\n',
        replace: `  appliedCreates(path: string): number {
    const node = this.#state.tree.find(path);
    return node === NO_NODE ? 0 : this.#state.tree.creates(node);
  }

  hasChildren(path: string): boolean {
`,
      },
    ],
  },
  {
    name: 'sequence-counts-the-living',
    area: 'pipeline',
    breaks: 'a sequence number is never used again, deleted children or not',
    file: 'pipeline/overlay.ts',
    find: 'below === NONE ? tree.creates(node) :',
    replace: 'below === NONE ? tree.childCount(node) :',
  },
  {
    name: 'version-from-the-tree',
    area: 'pipeline',
    breaks: 'a version is checked against what is in flight',
    file: 'pipeline/prepare-op.ts',
    find: '  const error = errorOfSetData(context, node, {',
    replace: `  const seen = { ...node, version: overlay.appliedVersion(path, node.version) };
  const error = errorOfSetData(context, seen, {`,
    also: [
      {
        file: 'pipeline/prepare-op.ts',
        find: '  return errorOfSetData(context, node, asked)',
        replace: `  const { path } = request;
  const seen = { ...node, version: overlay.appliedVersion(path, node.version) };
  return errorOfSetData(context, seen, asked)`,
      },
      {
        file: 'pipeline/overlay.ts',
        find: '  hasChildren(path: string): boolean {\n',
        replace: `  appliedVersion(path: string, otherwise: number): number {
    const node = this.#state.tree.find(path);
    return node === NO_NODE ? otherwise : this.#state.tree.version(node);
  }

  hasChildren(path: string): boolean {
`,
      },
    ],
  },
  {
    name: 'old-version-accepted',
    area: 'pipeline',
    breaks: 'a set with a version changes only that version',
    file: 'pipeline/prepare-op.ts',
    find: `  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  const { treeRoom } = context;`,
    replace: `  if (version !== ANY_VERSION && version > node.version) return ErrorCode.badVersion;
  const { treeRoom } = context;`,
  },
  {
    name: 'delete-ignores-its-version',
    area: 'pipeline',
    breaks: 'a delete with a version deletes only that version',
    file: 'pipeline/prepare-op.ts',
    find: `  if (version !== ANY_VERSION && version !== node.version) return ErrorCode.badVersion;
  if (overlay.hasChildren(path))`,
    replace: `  if (version !== ANY_VERSION && version < 0) return ErrorCode.badVersion;
  if (overlay.hasChildren(path))`,
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
    find: '    if (this.#isClosed(tree.owner(node))) return absent();\n',
    replace: '',
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
