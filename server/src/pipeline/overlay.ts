/**
 * The changes that are prepared and not yet applied, as the next request must see them.
 *
 * Nearly every write is a change of data alone or a plain create; those are in queues, which make
 * no record (DataInFlight, CreatesInFlight). The overlay owns a record for each znode that any
 * other transaction in flight touches, and the sessions that are being opened or closed
 * (SessionsInFlight). Reads fall through to the tree. A record belongs to the last transaction that
 * changed it and is removed when that one is applied: from then on the tree says the same. A record
 * that is kept is never changed, so a failed multi is undone by restoring the former ones.
 *
 * Closing a session touches none of its ephemerals: while the close is in flight, whatever it owns
 * counts as absent, in the records and in the tree.
 */
import { assert, Fifo, formatZxid, nameOf, parentOf, type Zxid } from '@rookery/protocol';
import { CONFIG_NODE } from '../state/node-record.js';
import type { CreateView, SetDataView } from '../state/op-view.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { OpenedSession } from '../state/session.js';
import { NO_NODE } from '../state/tree.js';
import type { Acl, SessionId } from '../state/txn.js';
import { nextVersion } from '../state/versions.js';
import { CREATED_NAME_BYTES_MAX, CreatesInFlight } from './creates-in-flight.js';
import { DataInFlight } from './data-in-flight.js';
import { NONE } from './newest-by-hash.js';
import { absent, type NodeRecord, type NodeView } from './node-view.js';
import { type ChildChange, OverlayChildren } from './overlay-children.js';
import { SessionsInFlight } from './sessions-in-flight.js';

/** What a transaction does to one znode, beyond its data alone. */
interface Change {
  readonly zxid: Zxid;
  readonly path: string;
  readonly before: NodeRecord | undefined;
  /** What happens to the path as a child of its parent; null if none was added or removed. */
  readonly child: ChildChange | null;
}

/**
 * Up to this many children are examined for each question anew; for more, all are examined once and
 * the answer is kept.
 */
const FEW_CHILDREN = 64;

export class Overlay {
  readonly sessions: SessionsInFlight;
  readonly #state: ReplicatedState;
  readonly #nodes = new Map<string, NodeRecord>();
  readonly #children = new OverlayChildren();
  /**
   * The number of children that disappear with the sessions being closed, for parents that were
   * asked about.
   */
  readonly #closingBelow = new Map<string, number>();
  /** The changes that are not applied yet, in the order of their zxids. */
  readonly #inFlight = new Fifo<Change>();
  /** No record is made for these changes; a record that is made later includes them. */
  readonly #data = new DataInFlight();
  readonly #creates = new CreatesInFlight();
  /** The object that `nodeAt` and `parentAt` return. */
  readonly #located = absent();
  /** The transaction that is being prepared. */
  #zxid: Zxid = 0;
  /** The index in `#inFlight` at which the changes of the open transaction begin. */
  #openFrom = 0;

  constructor(state: ReplicatedState) {
    this.#state = state;
    this.sessions = new SessionsInFlight(state);
  }

  /** The number of entries of any kind; 0 if nothing is in flight. */
  get size(): number {
    const nodes = this.#nodes.size + this.#children.size + this.#closingBelow.size;
    const plain = this.#data.length + this.#creates.length;
    return nodes + this.sessions.length + this.#inFlight.length + plain;
  }

  /**
   * The znode as it will be once everything in flight is applied. Callers that create or delete
   * exclude the root, which is its own parent (`parentOf`).
   */
  node(path: string): NodeRecord {
    const record = this.#nodes.get(path);
    if (record !== undefined) return this.#isClosed(record.owner) ? absent() : record;
    const tree = this.#state.tree;
    const node = tree.find(path);
    if (node === NO_NODE) return this.#created(path);
    if (this.#isClosed(tree.owner(node))) return absent();
    return this.#fill(absent(), node);
  }

  /**
   * Points `op` at its znode, for `nodeAt`. Returns false where `node` must be used, because the
   * path is not ASCII, or the znode is not in the tree, or will differ in more than its data, or
   * nobody may set its data.
   */
  locate(op: SetDataView): boolean {
    const { tree } = this.#state;
    const node = tree.findAscii(op.view, op.pathStart, op.pathEnd);
    if (node === NO_NODE || node === CONFIG_NODE || this.#isClosed(tree.owner(node))) return false;
    if (this.#nodes.size > 0 && this.#nodes.has(op.path)) return false;
    op.node = node;
    return true;
  }

  /**
   * Like `node`, for an operation that `locate` has pointed at its znode; valid until the next
   * call.
   */
  nodeAt(op: SetDataView): NodeView {
    return this.#fill(this.#located, op.node);
  }

  /**
   * Points `op` at its parent, for `parentAt`. Returns false where `node` must be used, because the
   * name is too long for CreatesInFlight, there is a record of any znode, the parent is not in the
   * tree or is an ephemeral, or the znode exists or will.
   */
  locateCreate(op: CreateView): boolean {
    const { tree } = this.#state;
    if (op.pathEnd - op.nameStart > CREATED_NAME_BYTES_MAX) return false;
    // Looking for records of the path and of its parent would need both as strings. Where there are
    // records it would mostly find one of the parent: each delete and each create that is not plain
    // makes one.
    if (this.#nodes.size > 0) return false;
    const parent = tree.findParentOf(op);
    if (parent === NO_NODE || tree.owner(parent) !== 0) return false;
    op.parent = parent;
    if (tree.findView(op) !== NO_NODE) return false;
    return this.#creates.find(op) === NONE;
  }

  /**
   * Like `node` of the parent, for an operation that `locateCreate` has pointed at it; valid until
   * the next call.
   */
  parentAt(op: CreateView): NodeView {
    return this.#fill(this.#located, op.parent);
  }

  hasChildren(path: string): boolean {
    const { tree } = this.#state;
    const node = tree.find(path);
    const applied = node === NO_NODE ? 0 : tree.childCount(node);
    const count = applied + this.#children.net(path) + this.#createdBelow(node);
    if (count === 0 || this.sessions.closesInFlight.size === 0) return count > 0;
    const known = this.#closingBelow.get(path);
    if (known !== undefined) return count > known;
    const closing = this.#children.netOwnedBy(path, this.sessions.closesInFlight);
    return this.#closingIsLess(path, { node, closing, count });
  }

  /**
   * Whether a transaction in flight changes the znode itself, or creates or deletes a child of it
   * other than by closing a session; children of a closing session are still in the tree.
   */
  touches(path: string): boolean {
    if (this.#nodes.has(path)) return true;
    const node = this.#state.tree.find(path);
    if (node === NO_NODE) return this.#created(path).exists;
    return this.#data.find(node) !== NONE || this.#creates.newestBelow(node) !== NONE;
  }

  /** The number of ephemerals that the session owns once everything in flight is applied. */
  ephemeralsOwned(session: SessionId): number {
    return this.#state.tree.ephemeralsOwned(session) + this.#children.netOf(session);
  }

  /** Starts the changes of one transaction; `commit` or `rollBack` ends them. */
  begin(zxid: Zxid): void {
    assert(
      this.#openFrom === this.#inFlight.length,
      'the overlay has no open transaction at begin',
    );
    this.#zxid = zxid;
  }

  commit(): void {
    this.#openFrom = this.#inFlight.length;
  }

  rollBack(): void {
    while (this.#inFlight.length > this.#openFrom) {
      const change = this.#inFlight.pop();
      if (change === undefined) return;
      if (change.before === undefined) this.#nodes.delete(change.path);
      else this.#nodes.set(change.path, change.before);
      if (change.child !== null) this.#children.remove(change.child);
    }
  }

  /** `parent` is the result of `node` for its path. */
  create(
    path: string,
    parent: NodeRecord,
    created: Pick<NodeView, 'owner' | 'acl' | 'dataBytes'>,
  ): void {
    const parentPath = parentOf(path);
    const child: ChildChange = { parent: parentPath, by: 1, owner: created.owner };
    const below = this.#writable(parent);
    below.creates = (below.creates + 1) | 0;
    this.#set(parentPath, below, child);
    const record = this.#writable(absent());
    record.exists = true;
    record.owner = created.owner;
    record.acl = created.acl;
    record.dataBytes = created.dataBytes;
    this.#set(path, record, null);
  }

  delete(path: string): void {
    const parentPath = parentOf(path);
    const child: ChildChange = { parent: parentPath, by: -1, owner: this.node(path).owner };
    this.#set(parentPath, this.#writable(this.node(parentPath)), child);
    this.#set(path, this.#writable(absent()), null);
  }

  /**
   * `node` is the result of `node` for the path. Returns the version that the znode has afterwards.
   */
  setData(path: string, node: NodeRecord, dataBytes: number): number {
    const record = this.#writable(node);
    record.version = nextVersion(record.version);
    record.dataBytes = dataBytes;
    this.#set(path, record, null);
    return record.version;
  }

  /** `node` is the result of `nodeAt` for it. The operation is a whole transaction. */
  setDataView(op: SetDataView, node: NodeView): SetDataView {
    op.version = nextVersion(node.version);
    const { node: place, version } = op;
    const dataBytes = Math.max(0, op.dataBytes);
    this.#data.add({ zxid: this.#zxid, node: place, version, dataBytes });
    return op;
  }

  /** `parent` is the result of `parentAt` for it. The operation is a whole transaction. */
  createView(op: CreateView, parent: NodeView): CreateView {
    const { acl } = op;
    const creates = (parent.creates + 1) | 0;
    this.#creates.add(op, { zxid: this.#zxid, creates, acl, dataBytes: Math.max(0, op.dataBytes) });
    return op;
  }

  /**
   * `node` is the result of `node` for the path. Returns the aversion that the znode has
   * afterwards.
   */
  setAcl(path: string, node: NodeRecord, acl: readonly Acl[]): number {
    const record = this.#writable(node);
    record.aversion = nextVersion(record.aversion);
    record.acl = acl;
    this.#set(path, record, null);
    return record.aversion;
  }

  /** A transaction of its own; the session's id is the zxid given to `begin`. */
  openSession(opened: OpenedSession): void {
    this.sessions.open(this.#zxid, opened);
  }

  /** A transaction of its own. The session's ephemerals count as deleted from here on. */
  closeSession(session: SessionId): void {
    this.sessions.close(this.#zxid, session);
    this.#closingBelow.clear();
  }

  /** The transaction is in the state now. */
  applied(zxid: Zxid): void {
    const { firstZxid: firstSession } = this.sessions;
    const first = Math.min(this.#data.firstZxid, this.#creates.firstZxid, firstSession);
    assert(first >= zxid, () => `${formatZxid(first)} is not applied after ${formatZxid(zxid)}`);
    if (this.#data.firstZxid === zxid) return this.#data.shift();
    if (this.#creates.firstZxid === zxid) return this.#creates.shift();
    if (firstSession === zxid) {
      this.sessions.shift();
      return this.#closingBelow.clear();
    }
    for (;;) {
      const change = this.#inFlight.first;
      if (change === undefined || change.zxid > zxid) return;
      assert(
        change.zxid === zxid,
        () => `${formatZxid(change.zxid)} is not applied after ${formatZxid(zxid)}`,
      );
      this.#inFlight.shift();
      this.#openFrom -= 1;
      this.#changeApplied(change);
    }
  }

  #changeApplied({ zxid, path, child }: Change): void {
    if (this.#nodes.get(path)?.zxid === zxid) this.#nodes.delete(path);
    if (child !== null) this.#children.remove(child);
  }

  /**
   * Whether fewer than `count` children of the node disappear with the sessions being closed: those
   * in the tree, which are examined here, and the `closing` ones, of which only the overlay knows.
   * Whether or not a child is applied in between, their sum stays the same until a close begins or
   * ends.
   */
  #closingIsLess(
    path: string,
    asked: { readonly node: number; readonly closing: number; readonly count: number },
  ): boolean {
    const { tree } = this.#state;
    let { closing } = asked;
    let unseen = asked.node === NO_NODE ? 0 : tree.childCount(asked.node);
    let seen = 0;
    const look = (child: number): boolean => {
      seen += 1;
      unseen -= 1;
      if (this.#isClosed(tree.owner(child))) closing += 1;
      return closing + unseen >= asked.count || seen > FEW_CHILDREN;
    };
    if (unseen > 0) tree.visitChildren(asked.node, look);
    if (unseen === 0) this.#closingBelow.set(path, closing);
    return closing + unseen < asked.count;
  }

  /** Whether the close of the owner is in flight, so that what it owns counts as deleted. */
  #isClosed(owner: SessionId): boolean {
    const { closesInFlight } = this.sessions;
    return closesInFlight.size > 0 && closesInFlight.has(owner);
  }

  /** Fills the record with the znode as the tree has it, with the newest of its data in flight. */
  #fill(record: NodeRecord, node: number): NodeRecord {
    const { tree } = this.#state;
    const at = this.#data.find(node);
    const below = this.#creates.newestBelow(node);
    record.exists = true;
    record.version = at === NONE ? tree.version(node) : this.#data.version(at);
    record.creates = below === NONE ? tree.creates(node) : this.#creates.creates(below);
    record.aversion = tree.aversion(node);
    record.owner = tree.owner(node);
    record.acl = tree.acl(node);
    record.dataBytes = at === NONE ? tree.dataLength(node) : this.#data.dataBytes(at);
    return record;
  }

  /** What a plain create in flight makes of a path that is not in the tree. */
  #created(path: string): NodeRecord {
    const record = absent();
    if (this.#creates.length === 0) return record;
    const { tree } = this.#state;
    const parent = tree.find(parentOf(path));
    const bytes = Buffer.from(nameOf(path));
    const name = { bytes, nameStart: 0, pathEnd: bytes.length };
    const created = this.#creates.find({ hash: tree.indexHash(path), parent, ...name });
    if (created === NONE) return record;
    record.exists = true;
    record.acl = this.#creates.acl(created);
    record.dataBytes = this.#creates.dataBytes(created);
    return record;
  }

  /** The number of plain creates in flight below a znode of the tree. */
  #createdBelow(node: number): number {
    const newest = this.#creates.newestBelow(node);
    if (newest === NONE) return 0;
    return (this.#creates.creates(newest) - this.#state.tree.creates(node)) | 0;
  }

  /**
   * Returns a record that may be changed: `node` itself if the method `node` has just made it, so
   * that its zxid is 0, else a copy.
   */
  #writable(node: NodeRecord): NodeRecord {
    const record = node.zxid === 0 ? node : { ...node };
    record.zxid = this.#zxid;
    return record;
  }

  #set(path: string, record: NodeRecord, child: ChildChange | null): void {
    const before = this.#nodes.get(path);
    this.#inFlight.push({ zxid: this.#zxid, path, before, child });
    this.#nodes.set(path, record);
    if (child !== null) this.#children.add(child);
  }
}
