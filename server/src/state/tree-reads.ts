/**
 * The tree of znodes as everybody but apply sees it: found by path, read field by field.
 *
 * A node is a number, valid until that node is deleted; reading through a number that is no live
 * node is an assertion. Semantics of a Stat: see versions.ts. Nothing here changes anything; Tree
 * adds the changes.
 */
import { assert, JuteWriter, putLong, STAT_BYTES, type Stat, type Zxid } from '@rookery/protocol';
import { AclTable } from './acl-table.js';
import { ChildPages, type Page, type PageRequest } from './child-pages.js';
import { ENCODED_FROM, EncodedChildren } from './encoded-children.js';
import { Ephemerals } from './ephemerals.js';
import { hashAsciiPath, hashPath } from './hash.js';
import { MODE, NODE_MODES } from './modes.js';
import { DOUBLE, INT, modeOf, NONE, NodeStore } from './node-store.js';
import { PathIndex } from './path-index.js';
import { Payloads } from './payloads.js';
import { SubtreeCounts } from './subtree-counts.js';
import { TimedNodes } from './timed-nodes.js';
import type { Acl, NodeMode, SessionId } from './txn.js';
import { visibleCversion } from './versions.js';

/** What `find` answers when there is no such node. */
export const NO_NODE = NONE;
export const ROOT_NODE = 0;

const SLASH = 0x2f;
const ASCII_MAX = 0x7f;

/** Some of the children of a node. */
export interface Family {
  readonly parent: number;
  readonly children: readonly number[];
}

export class TreeReads {
  protected readonly store = new NodeStore();
  protected readonly payloads = new Payloads(this.store);
  protected readonly index = new PathIndex(this.store);
  protected readonly ephemerals = new Ephemerals(this.store);
  protected readonly acls = new AclTable();
  protected readonly timed = new TimedNodes(this.store);
  protected readonly subtrees = new SubtreeCounts(this.store);
  protected readonly pages = new ChildPages();
  protected readonly encodedChildren = new EncodedChildren();
  protected dataSize = 0;
  /** Whoever changes a znode asks for it again to answer; '' is at no node. */
  #foundPath = '';
  #found: number = NONE;

  /** Without ZooKeeper's alias of the root: 4 for a fresh tree. */
  get nodeCount(): number {
    return this.store.count;
  }
  get ephemeralCount(): number {
    return this.ephemerals.count;
  }
  /** As ZooKeeper counts it: path characters plus data bytes; 44 for a fresh tree. */
  get approximateDataSize(): number {
    return this.dataSize;
  }
  /** Bytes held for names and data, unused slots included. */
  get payloadBytesReserved(): number {
    return this.payloads.reservedBytes;
  }

  /** The node at `path`, or NO_NODE (an ill-formed path too). */
  find(path: string): number {
    if (path.length === 1 && path === '/') {
      return ROOT_NODE;
    }
    if (path === this.#foundPath) {
      return this.#found;
    }
    const hash = hashPath(path);
    let node = this.index.first(hash);
    while (node !== NONE) {
      if (this.store.int(node, INT.pathHash) === hash && this.hasPath(node, path)) {
        this.#foundPath = path;
        this.#found = node;
        return node;
      }
      node = this.index.next(node);
    }
    return NONE;
  }

  /** The node found last is gone. */
  protected forgetFound(): void {
    this.#foundPath = '';
    // A request may have the empty path.
    this.#found = NONE;
  }

  /** As `find`, of a path that is UTF-8 in `bytes`; without a string where it is ASCII. */
  findBytes(bytes: DataView, start: number, end: number): number {
    const found = this.findAscii(bytes, start, end);
    if (found !== NONE) return found;
    for (let at = start; at < end; at++) {
      if (bytes.getUint8(at) > ASCII_MAX) return this.find(textAt(bytes, start, end));
    }
    return NONE;
  }

  /** As `find`, of a path that is ASCII in `bytes`; NO_NODE where it is anything else. */
  findAscii(bytes: DataView, start: number, end: number): number {
    if (end - start === 1 && bytes.getUint8(start) === SLASH) return ROOT_NODE;
    const hash = hashAsciiPath(bytes, start, end);
    let node = this.index.first(hash);
    while (node !== NONE) {
      if (this.store.int(node, INT.pathHash) === hash && this.hasBytes(node, bytes, start, end)) {
        return node;
      }
      node = this.index.next(node);
    }
    return NONE;
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
      cversion: visibleCversion(this.cversion(node), this.childCount(node)),
      aversion: this.aversion(node),
      ephemeralOwner: this.owner(node),
      dataLength: this.dataLength(node),
      numChildren: this.childCount(node),
      pzxid: this.pzxid(node),
    };
  }
  /** In one go: every answer to a read has one. */
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
    view.setInt32(at + 36, visibleCversion(ints[int + INT.cversion] ?? 0, childCount));
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
  /** As a jute buffer. */
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
  /** Whether everybody may do one of `perms` by the first entry of the list; no is no answer. */
  worldMay(node: number, perms: number): boolean {
    return (this.acls.worldPerms(this.intOf(node, INT.aclId)) & perms) !== 0;
  }
  /** The list as a checkpoint record holds it. */
  encodedAcl(node: number): Buffer {
    return this.acls.encoded(this.intOf(node, INT.aclId));
  }
  /** Names, in no particular order. */
  children(node: number): string[] {
    const names: string[] = [];
    let child = this.intOf(node, INT.firstChild);
    while (child !== NONE) {
      names.push(this.payloads.name(child));
      child = this.store.int(child, INT.nextSibling);
    }
    return names;
  }
  /** As a jute vector of strings. */
  writeChildren(node: number, writer: JuteWriter): void {
    if (this.childCount(node) < ENCODED_FROM) {
      this.#encodeChildren(node, writer);
      return;
    }
    let list = this.encodedChildren.get(node);
    if (list === undefined) {
      const own = new JuteWriter();
      this.#encodeChildren(node, own);
      list = Uint8Array.from(own.take());
      this.encodedChildren.keep(node, list);
    }
    writer.raw(list);
  }
  /** Until `visit` returns false; it must not change the tree. */
  visitChildren(node: number, visit: (child: number) => boolean): void {
    let child = this.intOf(node, INT.firstChild);
    while (child !== NONE && visit(child)) {
      child = this.store.int(child, INT.nextSibling);
    }
  }
  childCount(node: number): number {
    return this.intOf(node, INT.childCount);
  }
  /** Names in code-unit order, as many as fit a page. */
  childPage(node: number, asked: PageRequest): Page {
    const count = this.childCount(node);
    return this.pages.page({ node, count, list: () => this.children(node) }, asked);
  }
  /** All nodes below `node`, itself not included. */
  descendantCount(node: number): number {
    this.mustLive(node);
    return this.subtrees.below(node);
  }
  /** Bytes of data of `node` and all below. */
  subtreeDataBytes(node: number): number {
    return this.dataLength(node) + this.subtrees.bytesBelow(node);
  }

  version(node: number): number {
    return this.intOf(node, INT.version);
  }
  /** Creates ever done below this node: the next sequence number. Clients see visibleCversion. */
  cversion(node: number): number {
    return this.intOf(node, INT.cversion);
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

  /** Containers and TTL nodes. */
  get timedCount(): number {
    return this.timed.count;
  }
  /** The one at a place below `timedCount`; a delete may move the last one to a freed place. */
  timedNode(place: number): number {
    return this.timed.at(place);
  }
  /**
   * Nobody would miss it: a container that was used and is empty again, or an empty TTL node that
   * was not written to for its time.
   */
  isReapable(node: number, nowMs: number): boolean {
    if (this.childCount(node) > 0) {
      return false;
    }
    const mode = this.modeNumber(node);
    if (mode === MODE.container) {
      return this.cversion(node) !== 0;
    }
    return mode === MODE.ttl && nowMs - this.mtime(node) > this.ttlMs(node);
  }

  /** The ephemerals of a session in no order, those with the same parent together. */
  ephemeralFamilies(session: SessionId): readonly Family[] {
    const families = new Map<number, number[]>();
    let parent: number = NONE;
    let children: number[] = [];
    for (const node of this.ephemerals.nodesOf(session)) {
      if (this.parent(node) !== parent) {
        parent = this.parent(node);
        children = families.get(parent) ?? [];
        families.set(parent, children);
      }
      children.push(node);
    }
    return [...families].map(([of, those]) => ({ parent: of, children: those }));
  }
  /** Paths in code-unit order. Below one parent, as most are, that is the order of their names. */
  ephemeralsOf(session: SessionId): readonly string[] {
    const nodes = this.ephemerals.nodesOf(session);
    const parent = nodes[0] === undefined ? NONE : this.parent(nodes[0]);
    if (parent === NONE || nodes.some((node) => this.parent(node) !== parent)) {
      return nodes.map((node) => this.path(node)).sort();
    }
    const prefix = this.pathPrefix(parent);
    const names = nodes.map((node) => this.payloads.name(node));
    return names.sort().map((name) => prefix + name);
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
  protected hasBytes(node: number, path: DataView, start: number, end: number): boolean {
    let at = node;
    let left = end;
    while (at !== ROOT_NODE) {
      const from = this.payloads.asciiNameStart(at, path, start, left);
      if (from === NONE) return false;
      left = from - 1;
      at = this.store.int(at, INT.parent);
    }
    return left === start;
  }
  protected hasPath(node: number, path: string): boolean {
    let at = node;
    let end = path.length;
    while (at !== ROOT_NODE) {
      const start = this.payloads.nameStart(at, path, end);
      if (start === NONE) {
        return false;
      }
      end = start - 1;
      at = this.store.int(at, INT.parent);
    }
    return end === 0;
  }
}

function textAt(bytes: DataView, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
