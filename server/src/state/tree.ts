/**
 * Holds the tree of znodes: `TreeReads` reads it, `Tree` changes it. TreeLoader recovers it.
 *
 * Only ReplicatedState changes it. A change decides nothing: prepare has decided what it does, so
 * what does not fit is an assertion. The fixed-size part of a znode is its row (`node-store.ts`);
 * the digest of the changed rows is maintained here. Nothing here knows of dirty sets, the session
 * table or watches.
 *
 * Invariants: each node but the root is in the path index and in its parent's list of children;
 * childCount is the length of that list; the digest contains every node once. The data of
 * /zookeeper/config is local: each member sets it for itself, and it is in no digest.
 */
import {
  assert,
  type JuteWriter,
  parentOf,
  putLong,
  STAT_BYTES,
  type Stat,
  type Zxid,
} from '@rookery/protocol';
import { AclTable } from './acl-table.js';
import type { Digest } from './digest.js';
import { Ephemerals, type Family, familiesOf } from './ephemerals.js';
import type { Page, PageRequest } from './memory/child-pages.js';
import { Listings } from './memory/listings.js';
import {
  DOUBLE,
  FLAG,
  INT,
  linkChild,
  makeShape,
  modeOf,
  NONE,
  NodeStore,
  nameBytesOf,
  TimedNodes,
  unlinkChild,
} from './memory/node-store.js';
import { PathFinder } from './memory/path-finder.js';
import type { PathKey } from './memory/path-hash.js';
import { type PathView, pathHashOf, type WithPath } from './memory/path-view.js';
import { Payloads } from './memory/payloads.js';
import { SubtreeCounts } from './memory/subtree-counts.js';
import {
  type BlockContent,
  type BlockWriter,
  CONFIG_NODE,
  nodeRecordBytes,
} from './node-record.js';
import { CreateView, OpView } from './op-view.js';
import { payloadBytes, znodeBytes } from './tree-bytes.js';
import { type BlockToLoad, type LoadedTree, TreeLoader } from './tree-loader.js';
import {
  type Acl,
  type CreateOp,
  isRaisedTo,
  isTimed,
  MODE,
  NODE_MODES,
  type NodeMode,
  nextVersion,
  type SessionId,
  type SetDataOp,
  visibleCversion,
} from './txn.js';

/** What `find` returns if there is no such node. */
export const NO_NODE = NONE;
export const ROOT_NODE = 0;

/** How long ago, at least, a znode was modified, whatever clocks say. */
export interface NodeAges {
  ageMs(mzxid: Zxid, mtimeMs: number): number;
}

/** What decides on the containers and TTL znodes that are empty. */
export interface ReapRules {
  readonly ages: NodeAges;
  /** How old a container becomes that never had a child, in ms; 0 for any age. */
  readonly neverUsedMs: number;
}

export class TreeReads {
  protected readonly store = new NodeStore();
  protected readonly payloads = new Payloads(this.store);
  protected readonly paths: PathFinder;
  protected readonly ephemerals = new Ephemerals(this.store);
  protected readonly acls = new AclTable();
  protected readonly timed = new TimedNodes(this.store);
  protected readonly subtrees = new SubtreeCounts(this.store);
  protected readonly listings: Listings;
  protected dataSize = 0;

  /** `encodedBytesMax` is the bound for the lists of children that are kept as they are sent. */
  constructor(pathKey: PathKey, encodedBytesMax?: number) {
    this.paths = new PathFinder(this.store, this.payloads, pathKey);
    this.listings = new Listings(this.store, this.payloads, pathKey, encodedBytesMax);
  }

  /** Without ZooKeeper's alias of the root: 4 for a fresh tree. */
  get nodeCount(): number {
    return this.store.count;
  }
  /** Every node is a number below it; see `isLive`. */
  get nodeLimit(): number {
    return this.store.limit;
  }
  get ephemeralCount(): number {
    return this.ephemerals.count;
  }
  /** As ZooKeeper counts it: path characters plus data bytes; 44 for a fresh tree. */
  get approximateDataSize(): number {
    return this.dataSize;
  }
  /** The bytes held for names and data, unused slots included. */
  get payloadBytesReserved(): number {
    return this.payloads.reservedBytes;
  }

  /** The node at `path`, or NO_NODE (also for an ill-formed path). */
  find(path: string): number {
    return this.paths.find(path);
  }
  /** Like `find`, for a path that is UTF-8 in `bytes`; it makes no string if the path is ASCII. */
  findBytes(bytes: DataView, start: number, end: number): number {
    return this.paths.findBytes(bytes, start, end);
  }
  /** Like `find`, for a path that is ASCII in `bytes`; NO_NODE for anything else. */
  findAscii(bytes: DataView, start: number, end: number): number {
    return this.paths.findAscii(bytes, start, end);
  }
  /** Leaves the node of the path, or NO_NODE, and its hash in `at`. */
  locate(at: PathView): void {
    this.paths.locateAscii(at);
    if (at.node === NO_NODE && !at.isAscii) at.node = this.find(at.path);
  }
  /** The hash that `locate` leaves; valid as long as this tree. */
  indexHash(path: string): number {
    return this.paths.hashOf(path);
  }

  path(node: number): string {
    this.mustLive(node);
    let path = '';
    for (let at = node; at !== ROOT_NODE; at = this.store.int(at, INT.parent)) {
      path = `/${this.payloads.name(at)}${path}`;
    }
    return path === '' ? '/' : path;
  }
  /** The path of a child of `node` without the child's name. */
  pathPrefix(node: number): string {
    return node === ROOT_NODE ? '/' : `${this.path(node)}/`;
  }
  name(node: number): string {
    this.mustLive(node);
    return this.payloads.name(node);
  }
  /** NO_NODE for the root. */
  parent(node: number): number {
    return this.intOf(node, INT.parent);
  }

  stat(node: number): Stat {
    return {
      czxid: this.czxid(node),
      mzxid: this.mzxid(node),
      ctime: this.ctime(node),
      mtime: this.mtime(node),
      version: this.version(node),
      cversion: visibleCversion(this.creates(node), this.childCount(node)),
      aversion: this.aversion(node),
      ephemeralOwner: this.owner(node),
      dataLength: this.dataLength(node),
      numChildren: this.childCount(node),
      pzxid: this.pzxid(node),
    };
  }
  /** Writes the Stat in one step, because every answer to a read has one. */
  writeStat(node: number, writer: JuteWriter): void {
    this.mustLive(node);
    const ints = this.store.intPage(node);
    const int = this.store.intBase(node);
    const doubles = this.store.doublePage(node);
    const double = this.store.doubleBase(node);
    const childCount = ints[int + INT.childCount] ?? 0;
    const isEphemeral = modeOf(ints[int + INT.shape] ?? 0) === MODE.ephemeral;
    const at = writer.claim(STAT_BYTES);
    const { view } = writer;
    putLong(view, at, doubles[double + DOUBLE.czxid] ?? 0);
    putLong(view, at + 8, doubles[double + DOUBLE.mzxid] ?? 0);
    putLong(view, at + 16, doubles[double + DOUBLE.ctime] ?? 0);
    putLong(view, at + 24, doubles[double + DOUBLE.mtime] ?? 0);
    view.setInt32(at + 32, ints[int + INT.version] ?? 0);
    view.setInt32(at + 36, visibleCversion(ints[int + INT.creates] ?? 0, childCount));
    view.setInt32(at + 40, ints[int + INT.aversion] ?? 0);
    putLong(view, at + 44, isEphemeral ? (doubles[double + DOUBLE.owner] ?? 0) : 0);
    view.setInt32(at + 52, Math.max(0, ints[int + INT.dataBytes] ?? 0));
    view.setInt32(at + 56, childCount);
    putLong(view, at + 60, doubles[double + DOUBLE.pzxid] ?? 0);
  }
  /** A view that is valid until the next change of the tree. */
  data(node: number): Uint8Array | null {
    this.mustLive(node);
    return this.payloads.data(node);
  }
  /** Writes the data as a jute buffer. */
  writeData(node: number, writer: JuteWriter): void {
    this.mustLive(node);
    this.payloads.encodeData(node, writer);
  }
  /** 0 for null data. */
  dataLength(node: number): number {
    return Math.max(0, this.intOf(node, INT.dataBytes));
  }
  acl(node: number): readonly Acl[] {
    return this.acls.acl(this.intOf(node, INT.aclId));
  }
  /** The lists of all nodes, each once: the objects that `acl` returns. */
  aclLists(): readonly (readonly Acl[])[] {
    return this.acls.lists();
  }
  /** Whether the first entry of the list gives anyone one of `perms`; false proves nothing. */
  worldMay(node: number, perms: number): boolean {
    return (this.acls.worldPerms(this.intOf(node, INT.aclId)) & perms) !== 0;
  }
  /** The names, in no particular order. */
  children(node: number): string[] {
    const names: string[] = [];
    let child = this.intOf(node, INT.firstChild);
    while (child !== NONE) {
      names.push(this.payloads.name(child));
      child = this.store.int(child, INT.nextSibling);
    }
    return names;
  }
  /**
   * The bytes that `writeChildren` writes, or more if names are not ASCII. For a large directory
   * the first call passes over its rows; later calls read a kept count.
   */
  listedBytes(node: number): number {
    this.mustLive(node);
    return this.listings.bytes.of(node);
  }
  /** Writes the names as a jute vector of strings. */
  writeChildren(node: number, writer: JuteWriter): void {
    const encode = (to: JuteWriter) => this.#encodeChildren(node, to);
    this.listings.write({ node, count: this.childCount(node), encode }, writer);
  }
  /** Visits the children until `visit` returns false; it must not change the tree. */
  visitChildren(node: number, visit: (child: number) => boolean): void {
    let child = this.intOf(node, INT.firstChild);
    while (child !== NONE && visit(child)) {
      child = this.store.int(child, INT.nextSibling);
    }
  }
  childCount(node: number): number {
    return this.intOf(node, INT.childCount);
  }
  /** The names in code-unit order, as many as fit a page. */
  childPage(node: number, asked: PageRequest): Page {
    this.mustLive(node);
    return this.listings.pages.page(node, asked);
  }
  /** The number of all nodes below `node`, itself not included. */
  descendantCount(node: number): number {
    this.mustLive(node);
    return this.subtrees.below(node);
  }
  /** The bytes of the data of `node` and of all nodes below. */
  subtreeDataBytes(node: number): number {
    return this.dataLength(node) + this.subtrees.bytesBelow(node);
  }

  version(node: number): number {
    return this.intOf(node, INT.version);
  }
  /**
   * The number of creates ever done below this node, which is the next sequence number. Clients see
   * visibleCversion.
   */
  creates(node: number): number {
    return this.intOf(node, INT.creates);
  }
  aversion(node: number): number {
    return this.intOf(node, INT.aversion);
  }
  czxid(node: number): Zxid {
    return this.doubleOf(node, DOUBLE.czxid);
  }
  mzxid(node: number): Zxid {
    return this.doubleOf(node, DOUBLE.mzxid);
  }
  pzxid(node: number): Zxid {
    return this.doubleOf(node, DOUBLE.pzxid);
  }
  ctime(node: number): number {
    return this.doubleOf(node, DOUBLE.ctime);
  }
  mtime(node: number): number {
    return this.doubleOf(node, DOUBLE.mtime);
  }
  mode(node: number): NodeMode {
    return NODE_MODES[this.modeNumber(node)] ?? 'persistent';
  }
  /** The session of an ephemeral, 0 for every other mode. */
  owner(node: number): SessionId {
    return this.modeNumber(node) === MODE.ephemeral ? this.doubleOf(node, DOUBLE.owner) : 0;
  }
  /** 0 for every other mode. */
  ttlMs(node: number): number {
    return this.modeNumber(node) === MODE.ttl ? this.doubleOf(node, DOUBLE.owner) : 0;
  }

  /** The number of containers and TTL nodes. */
  get timedCount(): number {
    return this.timed.count;
  }
  /** The node at an index below `timedCount`. A delete may move the last one to the freed index. */
  timedNode(place: number): number {
    return this.timed.at(place);
  }
  /**
   * Whether the reaper may delete the node: a container that was used and is empty again, or that
   * was not used for its time, or an empty TTL node that was not written to for its time.
   */
  isReapable(node: number, { ages, neverUsedMs }: ReapRules): boolean {
    if (this.childCount(node) > 0) {
      return false;
    }
    const mode = this.modeNumber(node);
    if (mode !== MODE.container && mode !== MODE.ttl) return false;
    if (mode === MODE.container && this.creates(node) !== 0) return true;
    const timeMs = mode === MODE.container ? neverUsedMs : this.ttlMs(node);
    return timeMs > 0 && ages.ageMs(this.mzxid(node), this.mtime(node)) > timeMs;
  }

  /** The number of ephemerals that the session owns. */
  ephemeralsOwned(session: SessionId): number {
    return this.ephemerals.countOf(session);
  }
  /**
   * Visits the session's ephemerals, in no order, until `visit` returns false; it must change
   * nothing.
   */
  visitEphemerals(session: SessionId, visit: (node: number) => boolean): void {
    this.ephemerals.visit(session, visit);
  }
  /** The ephemerals of a session in no order, those with the same parent together. */
  ephemeralFamilies(session: SessionId): readonly Family[] {
    return familiesOf(this, this.ephemerals.nodesOf(session));
  }
  get ephemeralOwnerCount(): number {
    return this.ephemerals.ownerCount;
  }
  /** The sessions that own ephemerals. Lazy: it may continue after later changes. */
  ephemeralOwners(): IterableIterator<SessionId> {
    return this.ephemerals.sessions();
  }
  /** The sessions that own ephemerals, in ascending order. */
  sessionsWithEphemerals(): readonly SessionId[] {
    return [...this.ephemerals.sessions()].sort((a, b) => a - b);
  }

  #encodeChildren(node: number, writer: JuteWriter): void {
    writer.int(this.childCount(node));
    let child = this.intOf(node, INT.firstChild);
    while (child !== NONE) {
      this.payloads.encodeName(child, writer);
      child = this.store.int(child, INT.nextSibling);
    }
  }

  protected intOf(node: number, field: number): number {
    this.mustLive(node);
    return this.store.int(node, field);
  }
  protected doubleOf(node: number, field: number): number {
    this.mustLive(node);
    return this.store.double(node, field);
  }
  protected modeNumber(node: number): number {
    return modeOf(this.intOf(node, INT.shape));
  }
  protected mustLive(node: number): void {
    assert(this.store.isLive(node), 'a node number is one of a live node');
  }
}

export type { Family } from './ephemerals.js';

/** The nodes of a fresh tree. Their order gives their numbers. */
const FRESH_PATHS = ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'] as const;
const OPEN_ACL: readonly Acl[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const READ_ACL: readonly Acl[] = [{ perms: 1, scheme: 'world', id: 'anyone' }];
const NO_DATA = new Uint8Array(0);

/** When and for which session a change happens. */
export interface ChangePoint {
  readonly zxid: Zxid;
  readonly time: number;
  readonly session: SessionId;
}

/** A znode of a backup; its mode is not 'ephemeral'. */
export interface RestoredZnode {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly acl: readonly Acl[];
  readonly ttlMs: number;
  readonly mode: Exclude<CreateOp['mode'], 'ephemeral'>;
  readonly stat: Readonly<
    Record<(typeof RESTORED_DOUBLES)[number] | (typeof RESTORED_INTS)[number], number>
  >;
}

const RESTORED_DOUBLES = ['czxid', 'mzxid', 'pzxid', 'ctime', 'mtime'] as const;
const RESTORED_INTS = ['version', 'creates', 'aversion'] as const;

export class Tree extends TreeReads {
  readonly #digest: Digest;
  readonly #loaded: LoadedTree;
  /** The sum of `znodeBytes` over all znodes, without the local data of /zookeeper/config. */
  #znodesBytes = 0;
  /** Not null while a checkpoint is loaded. */
  #loader: TreeLoader | null = null;

  constructor(digest: Digest, pathKey: PathKey, encodedBytesMax?: number) {
    super(pathKey, encodedBytesMax);
    this.#digest = digest;
    this.#loaded = {
      store: this.store,
      payloads: this.payloads,
      paths: this.paths,
      acls: this.acls,
      ephemerals: this.ephemerals,
      timed: this.timed,
      subtrees: this.subtrees,
      digest,
      freshCount: FRESH_PATHS.length,
      path: (node) => this.path(node),
    };
    for (const [node, path] of FRESH_PATHS.entries()) {
      this.#attach(path, this.find(parentOf(path)), NO_DATA);
      this.store.setInt(node, INT.aclId, this.acls.use(node === CONFIG_NODE ? READ_ACL : OPEN_ACL));
      this.#storeContent(node, digestPathHash(node, { path }));
      this.#countInDigest(node, 1);
      this.subtrees.count(this.parent(node), 1, 0);
    }
  }

  /** The memory of the tree, by the estimate that all members share (tree-bytes.ts). */
  get bytes(): number {
    return this.#znodesBytes + this.acls.bytes;
  }
  /** What one more use of the list would add to `bytes`. */
  aclGrowth(acl: readonly Acl[]): number {
    return this.acls.growthFor(acl);
  }

  /** Called after each transaction: one step of giving back memory that is mostly free. */
  compactSome(): void {
    this.payloads.compactSome();
  }

  /** The nodes with which a state begins; none of them is ever deleted. */
  freshNodes(): readonly number[] {
    return [...FRESH_PATHS.keys()];
  }

  /** NO_NODE if the parent does not exist. */
  findParentOf(op: WithPath): number {
    if (!(op instanceof CreateView)) return this.find(parentOf(op.path));
    // The path of the root, as a parent, is the slash itself.
    return this.findAscii(op.view, op.pathStart, Math.max(op.nameStart - 1, op.pathStart + 1));
  }

  /** `parent` is the node of the parent path. */
  create(op: CreateOp, parent: number, at: ChangePoint): number {
    const store = this.store;
    assert(this.#isFree(op), 'a created path did not exist');
    assert(this.modeNumber(parent) !== MODE.ephemeral, 'an ephemeral has no children');
    this.#countInDigest(parent, -1);
    store.setInt(parent, INT.creates, this.creates(parent) + 1);
    store.setDouble(parent, DOUBLE.pzxid, at.zxid);
    const node =
      op instanceof CreateView
        ? this.#attachView(op, parent)
        : this.#attach(op.path, parent, op.data);
    this.#countInDigest(parent, 1);
    this.#setMode(node, MODE[op.mode]);
    store.setInt(node, INT.aclId, this.acls.use(op.acl));
    store.setDouble(node, DOUBLE.czxid, at.zxid);
    store.setDouble(node, DOUBLE.mzxid, at.zxid);
    store.setDouble(node, DOUBLE.pzxid, at.zxid);
    store.setDouble(node, DOUBLE.ctime, at.time);
    store.setDouble(node, DOUBLE.mtime, at.time);
    if (op.mode === 'ephemeral') {
      assert(at.session > 0, 'an ephemeral has a session');
      store.setDouble(node, DOUBLE.owner, at.session);
      this.ephemerals.add(node, at.session);
    } else if (op.mode === 'ttl') {
      assert(op.ttlMs > 0, 'a TTL node has a TTL');
      store.setDouble(node, DOUBLE.owner, op.ttlMs);
    }
    if (op.mode === 'ttl' || op.mode === 'container') {
      this.timed.add(node);
    }
    this.#storeContent(node, pathHashOf(op));
    this.#countInDigest(node, 1);
    this.#childChanged(parent, node, 1);
    return node;
  }

  /**
   * Recovery from a backup: creates the znode with its former fields, below an existing parent, or
   * overwrites one of the fresh nodes. Its parent does not change. Returns the node.
   */
  restore(znode: RestoredZnode): number {
    const { path, data, acl, stat, mode, ttlMs } = znode;
    const found = this.find(path);
    assert(found < FRESH_PATHS.length, 'a path is restored once');
    const parent = found === NONE ? this.find(parentOf(path)) : NONE;
    const node = found === NONE ? this.#attach(path, parent, data) : found;
    if (found === NONE) {
      this.#setMode(node, MODE[mode]);
      if (isTimed(MODE[mode])) this.timed.add(node);
      if (mode === 'ttl') this.store.setDouble(node, DOUBLE.owner, ttlMs);
      this.#childChanged(parent, node, 1);
    } else {
      this.#countInDigest(node, -1);
      if (node !== CONFIG_NODE) this.#replaceData(node, znode);
    }
    this.#replaceAcl(node, this.acls.use(acl));
    for (const field of RESTORED_DOUBLES) this.store.setDouble(node, DOUBLE[field], stat[field]);
    for (const field of RESTORED_INTS) this.store.setInt(node, INT[field], stat[field]);
    if (node !== CONFIG_NODE) {
      this.#storeContent(node, digestPathHash(node, znode));
    }
    this.#countInDigest(node, 1);
    return node;
  }

  /** Records at a parent that it loses children, however many; then `delete` each of them. */
  losesChildren(parent: number, at: ChangePoint): void {
    this.#countInDigest(parent, -1);
    this.store.setDouble(parent, DOUBLE.pzxid, at.zxid);
    this.#countInDigest(parent, 1);
  }

  /**
   * Called after `losesChildren` of its parent. A closed session may delete a great many nodes in
   * one step, so each field is read directly from the row.
   */
  delete(node: number, path: string): void {
    const store = this.store;
    assert(node >= FRESH_PATHS.length, 'the system nodes are never deleted');
    this.mustLive(node);
    const row = store.intPage(node);
    const base = store.intBase(node);
    assert(row[base + INT.childCount] === 0, 'a deleted node has no children');
    const parent = row[base + INT.parent] ?? NONE;
    const dataBytes = Math.max(0, row[base + INT.dataBytes] ?? 0);
    const mode = modeOf(row[base + INT.shape] ?? 0);
    this.#countInDigest(node, -1);
    unlinkChild(store, parent, node);
    if (mode === MODE.ephemeral) {
      this.ephemerals.remove(node, store.double(node, DOUBLE.owner));
    } else if (isTimed(mode)) {
      this.timed.remove(node);
    }
    this.#childChanged(parent, node, -1);
    this.listings.forget(node);
    this.dataSize -= path.length + dataBytes;
    this.#znodesBytes -= znodeBytes(nameBytesOf(row[base + INT.shape] ?? 0), dataBytes);
    this.acls.release(row[base + INT.aclId] ?? NONE);
    this.paths.removed(node, path);
    this.payloads.free(node);
    store.release(node);
  }

  setData(node: number, op: SetDataOp, at: ChangePoint): void {
    assert(op.version === nextVersion(this.version(node)), 'a version is the next one');
    this.#countInDigest(node, -1);
    this.#replaceData(node, op);
    this.#storeContent(node, digestPathHash(node, op));
    this.store.setInt(node, INT.version, op.version);
    this.store.setDouble(node, DOUBLE.mzxid, at.zxid);
    this.store.setDouble(node, DOUBLE.mtime, at.time);
    this.#countInDigest(node, 1);
  }

  /** Sets the statistics of a quota at a path: neither version nor times change. */
  setQuotaStats(node: number, stats: { readonly path: string; readonly data: Uint8Array }): void {
    this.#countInDigest(node, -1);
    this.#replaceData(node, stats);
    this.#storeContent(node, pathHashOf(stats));
    this.#countInDigest(node, 1);
  }

  /** Neither version nor times change. */
  setConfigData(data: Uint8Array): void {
    this.#replaceData(CONFIG_NODE, { data });
  }

  setAcl(node: number, acl: readonly Acl[], version: number): void {
    assert(version === nextVersion(this.aversion(node)), 'an aversion is the next one');
    this.#countInDigest(node, -1);
    this.#replaceAcl(node, this.acls.use(acl));
    this.store.setInt(node, INT.aversion, version);
    this.#countInDigest(node, 1);
  }

  /** Neither pzxid nor times change, because no child does. */
  raiseSequence(node: number, creates: number): void {
    const before = this.creates(node);
    assert(isRaisedTo(creates, before), () => `${creates} is no lower number than ${before}`);
    this.#countInDigest(node, -1);
    this.store.setInt(node, INT.creates, creates);
    this.#countInDigest(node, 1);
  }

  /** The capture generation in which the node was marked as changed; for Capture. */
  mark(node: number): number {
    return this.store.int(node, INT.mark);
  }
  setMark(node: number, mark: number): void {
    this.store.setInt(node, INT.mark, mark);
  }
  isLive(node: number): boolean {
    return this.store.isLive(node);
  }
  /** All nodes are below it; not every number below it is a node. */
  get rowLimit(): number {
    return this.store.limit;
  }

  /** The location of the node's newest checkpoint record, 0 if there is none; for Capture. */
  record(node: number): number {
    return this.store.int(node, INT.record);
  }
  setRecord(node: number, record: number): void {
    this.store.setInt(node, INT.record, record);
  }
  /** The approximate size of a record of the node, in bytes. */
  recordBytes(node: number): number {
    return nodeRecordBytes(this.store, node);
  }
  /** Returns the size of the record in bytes. */
  writeRecord(node: number, writer: BlockWriter): number {
    return writer.add(this.#loaded, node);
  }

  /** Recovery: the blocks may come in any order. Throws DamagedCheckpointError. */
  load(block: BlockToLoad): BlockContent {
    this.#loader ??= new TreeLoader(this.#loaded);
    return this.#loader.load(block);
  }

  /** Ends recovery. Returns whether there was any record. Throws DamagedCheckpointError. */
  finishLoad(): boolean {
    const loader = this.#loader;
    if (loader !== null) {
      loader.finish();
      this.dataSize = loader.dataSize;
      this.#znodesBytes = loader.znodesBytes;
      this.#loader = null;
    }
    return loader !== null;
  }

  /** The child came (1), or is about to go (-1). */
  #childChanged(parent: number, child: number, by: 1 | -1): void {
    this.subtrees.count(parent, by, by * this.dataLength(child));
    this.listings.childChanged(parent, child, by === 1);
  }

  /** Adds a persistent node with a name, data and a parent, without an ACL and not counted yet. */
  #attach(path: string, parent: number, data: Uint8Array | null): number {
    const node = this.#newRow();
    this.payloads.write(node, path, data);
    const dataBytes = this.dataLength(node);
    this.dataSize += path.length + dataBytes;
    this.#znodesBytes += znodeBytes(nameBytesOf(this.store.int(node, INT.shape)), dataBytes);
    if (node !== ROOT_NODE) this.#link(node, parent, { path, hash: this.indexHash(path) });
    return node;
  }

  /** Searches for the path, as `PathFinder.added` requires. */
  #isFree(op: CreateOp): boolean {
    if (!(op instanceof CreateView)) return this.find(op.path) === NONE;
    this.paths.locateAscii(op);
    return op.node === NONE;
  }

  /** Like `#attach`, after `#isFree` has searched for it. */
  #attachView(op: CreateView, parent: number): number {
    const node = this.#newRow();
    this.payloads.writeView(node, op);
    this.dataSize += op.pathEnd - op.pathStart + Math.max(0, op.dataBytes);
    this.#znodesBytes += znodeBytes(op.pathEnd - op.nameStart, op.dataBytes);
    this.#link(node, parent, op);
    return node;
  }

  #newRow(): number {
    const store = this.store;
    const node = store.allocate();
    store.setInt(node, INT.aclId, NONE);
    store.setInt(node, INT.firstChild, NONE);
    store.setInt(node, INT.parent, NONE);
    return node;
  }

  #link(node: number, parent: number, at: { readonly path: string; readonly hash: number }): void {
    this.paths.added(node, at.hash, at);
    linkChild(this.store, parent, node);
  }

  #setMode(node: number, mode: number): void {
    const shape = this.store.int(node, INT.shape);
    const flags = shape & FLAG.wide;
    this.store.setInt(node, INT.shape, makeShape({ nameBytes: nameBytesOf(shape), mode, flags }));
  }

  #replaceAcl(node: number, id: number): void {
    const old = this.store.int(node, INT.aclId);
    this.store.setInt(node, INT.aclId, id);
    if (old !== NONE) {
      this.acls.release(old);
    }
  }

  #replaceData(node: number, by: { readonly data: Uint8Array | null }): void {
    const before = this.dataLength(node);
    if (by instanceof OpView) this.payloads.replaceDataView(node, by);
    else this.payloads.replaceData(node, by.data);
    const grown = this.dataLength(node) - before;
    if (grown !== 0) {
      this.dataSize += grown;
      this.#payloadGrew(node, before);
      this.subtrees.grew(this.store.int(node, INT.parent), grown);
    }
  }

  #payloadGrew(node: number, dataBytesBefore: number): void {
    if (node === CONFIG_NODE) return;
    const nameBytes = nameBytesOf(this.store.int(node, INT.shape));
    const after = payloadBytes(nameBytes, this.dataLength(node));
    this.#znodesBytes += after - payloadBytes(nameBytes, dataBytesBefore);
  }

  #storeContent(node: number, pathHash: number): void {
    this.#digest.storeContent(this.store, this.payloads, node, pathHash);
  }

  /** Takes the node's row out of the digest (-1) before a change, and counts it again (1) after. */
  #countInDigest(node: number, sign: 1 | -1): void {
    this.#digest.countNode(this.store, this.acls, node, sign);
  }
}

/** The root's hash is 0: it is in no index, and has no name. */
function digestPathHash(node: number, op: WithPath): number {
  return node === ROOT_NODE ? 0 : pathHashOf(op);
}
