/**
 * The tree of znodes as everything but apply sees it: found by path, read field by field.
 *
 * A node is a number, valid until that node is deleted. Reading through a number that is no live
 * node is an assertion. For the semantics of a Stat see versions.ts. Nothing here changes anything;
 * Tree adds the changes.
 */
import {
  assert,
  type JuteWriter,
  putLong,
  STAT_BYTES,
  type Stat,
  type Zxid,
} from '@rookery/protocol';
import { AclTable } from './acl-table.js';
import { type Family, familiesOf } from './ephemeral-paths.js';
import { Ephemerals } from './ephemerals.js';
import type { Page, PageRequest } from './memory/child-pages.js';
import { dividedChildren } from './memory/divided-children.js';
import { type ListingLimits, Listings } from './memory/listings.js';
import { DOUBLE, INT, modeOf, NONE, NodeStore } from './memory/node-store.js';
import { PathFinder } from './memory/path-finder.js';
import type { PathKey } from './memory/path-hash.js';
import type { PathView } from './memory/path-view.js';
import { Payloads } from './memory/payloads.js';
import { SubtreeCounts } from './memory/subtree-counts.js';
import { TimedNodes } from './memory/timed-nodes.js';
import { MODE, NODE_MODES } from './modes.js';
import type { Acl, NodeMode, SessionId } from './txn.js';
import { visibleCversion } from './versions.js';

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

  constructor(pathKey: PathKey, limits?: ListingLimits) {
    this.paths = new PathFinder(this.store, this.payloads, pathKey);
    this.listings = new Listings({ store: this.store, payloads: this.payloads }, pathKey, limits);
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
  /** Whether the first entry of the list allows everybody one of `perms`. False decides nothing. */
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
    const count = this.childCount(node);
    const list = () => dividedChildren({ store: this.store, payloads: this.payloads }, node, asked);
    const listNames = () => this.children(node);
    return this.listings.pages.page({ node, count, list, listNames }, asked);
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
