/**
 * The changes that are prepared and not yet applied, as the next request must see them.
 *
 * It owns an entry for each znode that any transaction in flight changes (ZnodesInFlight), and the
 * sessions that are being opened or closed (SessionsInFlight). An entry is what the znode will be
 * once everything in flight is applied, and is removed when the last change that concerns it is
 * applied: from then on the tree says the same. A znode that the transaction being prepared looks
 * at gets an entry too, made from the tree, which is removed at the end of that transaction unless
 * it changes it.
 *
 * Closing a session touches none of its ephemerals: while the close is in flight, whatever it owns
 * counts as absent, in the entries and in the tree.
 */
import { assert, Fifo, formatZxid, type Zxid } from '@rookery/protocol';
import { type PathView, pathViewOf } from '../state/memory/path-view.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { OpenedSession } from '../state/session-record.js';
import { NO_NODE } from '../state/tree.js';
import type { Acl, SessionId } from '../state/txn.js';
import { isRaisedTo, nextVersion } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';

type Created = Pick<NodeView, 'owner' | 'acl' | 'dataBytes'>;

/** What a transaction does to one znode. */
interface Change {
  readonly zxid: Zxid;
  readonly znode: ZnodeInFlight;
  /** The parent if it gets a child (1) or loses one (-1), which is `owner`'s if not 0. */
  readonly parent: ZnodeInFlight | null;
  readonly by: 1 | 0 | -1;
  readonly owner: SessionId;
}

/**
 * Up to this many children are examined for each question anew; for more, all are examined once and
 * the answer is kept.
 */
const FEW_CHILDREN = 64;

export class Overlay {
  readonly sessions: SessionsInFlight;
  readonly #state: ReplicatedState;
  readonly #znodes = new ZnodesInFlight();
  /** For each session, the ephemerals created in flight less those deleted; without zeros. */
  readonly #ephemerals = new Map<SessionId, number>();
  /**
   * The number of children that disappear with the sessions being closed, for parents that were
   * asked about.
   */
  readonly #closingBelow = new Map<string, number>();
  /** The changes that are not applied yet, in the order of their zxids. */
  readonly #inFlight = new Fifo<Change>();
  /** The transaction that is being prepared, and how many of the changes are its own. */
  #zxid: Zxid = 0;
  #open = 0;
  /** The entries that were made for it. Those that it does not change are dropped at its end. */
  readonly #made: ZnodeInFlight[] = [];
  /** What a multi has changed of entries that it may have to restore; null for anything else. */
  #before: { readonly znode: ZnodeInFlight; readonly was: NodeView }[] | null = null;

  constructor(state: ReplicatedState) {
    this.#state = state;
    this.sessions = new SessionsInFlight(state);
  }

  /** The number of operations in flight that change something, with opens and closes. */
  get size(): number {
    return this.#inFlight.length + this.sessions.length;
  }

  /** For tests: whether nothing is kept of what was in flight. */
  get isEmpty(): boolean {
    const counts = this.#ephemerals.size + this.#closingBelow.size;
    return this.size + this.#znodes.size + counts === 0;
  }

  /**
   * The znode as it will be once everything in flight is applied, for the transaction that is being
   * prepared. The methods below take it until `end`; what they change is seen in it at once.
   */
  at(path: PathView): NodeView {
    this.#state.tree.locate(path);
    let znode = this.#znodes.find(path);
    if (znode === null) {
      znode = this.#znodes.add(path);
      this.#fill(znode, path.node);
      this.#made.push(znode);
    }
    // While the close of its owner is in flight, an ephemeral counts as deleted.
    if (this.#isClosed(znode.owner)) {
      this.#znodes.keepPath(znode, path);
      znode.become(ABSENT);
    }
    return znode;
  }

  /** The owner of the ephemeral at the path, once everything in flight is applied; or 0. */
  ownerOf(path: string): SessionId {
    const { tree } = this.#state;
    const at = pathViewOf(path);
    tree.locate(at);
    const applied = at.node === NO_NODE ? 0 : tree.owner(at.node);
    const owner = this.#znodes.find(at)?.owner ?? applied;
    return this.#isClosed(owner) ? 0 : owner;
  }

  /** Whether the znode has children, once everything in flight is applied. */
  hasChildren(path: PathView): boolean {
    const { tree } = this.#state;
    const { node } = path;
    const known = this.#znodes.find(path);
    const applied = node === NO_NODE ? 0 : tree.childCount(node);
    const count = applied + (known?.children ?? 0);
    const closes = this.sessions.closesInFlight;
    if (count === 0 || closes.size === 0) return count > 0;
    const text = path.path;
    const less = this.#closingBelow.get(text);
    if (less !== undefined) return count > less;
    let closing = 0;
    for (const [owner, net] of known?.childrenOf ?? []) if (closes.has(owner)) closing += net;
    return this.#closingIsLess(text, { node, closing, count });
  }

  /**
   * Whether a transaction in flight changes the znode itself, or creates or deletes a child of it
   * other than by closing a session; children of a closing session are still in the tree.
   */
  touches(path: PathView): boolean {
    this.#state.tree.locate(path);
    return this.#znodes.find(path) !== null;
  }

  /** The number of ephemerals that the session owns once everything in flight is applied. */
  ephemeralsOwned(session: SessionId): number {
    return this.#state.tree.ephemeralsOwned(session) + (this.#ephemerals.get(session) ?? 0);
  }

  /** The changes that follow are those of this transaction; `end` comes before the next one. */
  begin(zxid: Zxid): void {
    assert(this.#made.length === 0, 'the transaction before this one has ended');
    this.#zxid = zxid;
    this.#open = 0;
    this.#before = null;
  }

  /** The transaction is decided: what it looked at and did not change is forgotten. */
  end(): void {
    for (let znode = this.#made.pop(); znode !== undefined; znode = this.#made.pop()) {
      if (znode.changes === 0) this.#znodes.remove(znode);
    }
  }

  /** What the transaction changes from now on can be undone. */
  beginMulti(): void {
    assert(this.#open === 0, () => `a multi begins with ${this.#open} changes`);
    this.#before = [];
  }

  /** Undoes all changes since `begin`, if there are any, which only a multi has then. */
  rollBack(): void {
    const before = this.#before ?? [];
    assert(this.#open === 0 || this.#before !== null, 'only a multi is undone');
    for (; this.#open > 0; this.#open--) {
      const change = this.#inFlight.pop();
      if (change !== undefined) this.#uncount(change);
    }
    for (const { znode, was } of before.reverse()) znode.become(was);
    this.#before = null;
  }

  /** The znode does not exist, its parent does. */
  create(znode: NodeView, parent: NodeView, created: Created): void {
    assert(parent.exists && !znode.exists, 'a znode is created below one that exists');
    const { owner } = created;
    const above = this.#changing(parent);
    above.creates = (above.creates + 1) | 0;
    const own = this.#changing(znode);
    own.become(ABSENT);
    own.exists = true;
    own.owner = owner;
    own.acl = created.acl;
    own.dataBytes = created.dataBytes;
    this.#add({ zxid: this.#zxid, znode: own, parent: above, by: 1, owner });
  }

  /** The znode at the path exists. */
  delete(path: PathView, znode: NodeView, parent: NodeView): void {
    assert(parent.exists && znode.exists, 'a znode that is deleted exists');
    assert(this.#znodes.find(path) === znode, 'a znode is deleted at its own path');
    const { owner } = znode;
    const own = this.#changing(znode);
    this.#znodes.keepPath(own, path);
    own.become(ABSENT);
    this.#add({ zxid: this.#zxid, znode: own, parent: this.#changing(parent), by: -1, owner });
  }

  /** The znode exists. Returns its version afterwards. */
  setData(znode: NodeView, dataBytes: number): number {
    assert(znode.exists, 'a znode whose data are set exists');
    const own = this.#changing(znode);
    own.version = nextVersion(own.version);
    own.dataBytes = dataBytes;
    this.#add({ zxid: this.#zxid, znode: own, parent: null, by: 0, owner: 0 });
    return own.version;
  }

  /** The znode exists. Returns its aversion afterwards. */
  setAcl(znode: NodeView, acl: readonly Acl[]): number {
    assert(znode.exists, 'a znode whose ACL is set exists');
    const own = this.#changing(znode);
    own.aversion = nextVersion(own.aversion);
    own.acl = acl;
    this.#add({ zxid: this.#zxid, znode: own, parent: null, by: 0, owner: 0 });
    return own.aversion;
  }

  /** The znode exists. Returns the number of its next sequential child afterwards. */
  raiseSequence(znode: NodeView, atLeast: number): number {
    assert(znode.exists, 'a znode whose number is raised exists');
    const own = this.#changing(znode);
    if (!isRaisedTo(own.creates, atLeast)) own.creates = atLeast;
    this.#add({ zxid: this.#zxid, znode: own, parent: null, by: 0, owner: 0 });
    return own.creates;
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

  /**
   * The transaction is in the state now, and no later one is: the entry of an ephemeral that is
   * found by its node must be removed before the close of the session deletes that node.
   */
  applied(zxid: Zxid): void {
    if (this.sessions.firstZxid === zxid) {
      this.sessions.shift();
      this.#closingBelow.clear();
    }
    let first = this.#inFlight.first;
    for (; first?.zxid === zxid; first = this.#inFlight.first) {
      this.#inFlight.shift();
      this.#forget(first);
    }
    const next = Math.min(first?.zxid ?? Number.POSITIVE_INFINITY, this.sessions.firstZxid);
    assert(next > zxid, () => `${formatZxid(next)} is not applied before ${formatZxid(zxid)}`);
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

  /** Makes the entry what the tree has of the znode. */
  #fill(znode: ZnodeInFlight, node: number): void {
    if (node === NO_NODE) return znode.become(ABSENT);
    const { tree } = this.#state;
    znode.exists = true;
    znode.version = tree.version(node);
    znode.creates = tree.creates(node);
    znode.aversion = tree.aversion(node);
    znode.owner = tree.owner(node);
    znode.acl = tree.acl(node);
    znode.dataBytes = tree.dataLength(node);
  }

  /** The entry that the transaction is about to change. */
  #changing(znode: NodeView): ZnodeInFlight {
    assert(znode instanceof ZnodeInFlight && znode.isUsed, 'an entry that is changed is in use');
    this.#before?.push({ znode, was: znode.seen() });
    return znode;
  }

  #add(change: Change): void {
    const { znode, parent } = change;
    this.#inFlight.push(change);
    this.#open += 1;
    znode.changes += 1;
    if (parent === null) return;
    parent.changes += 1;
    this.#countChild(change, parent, change.by);
  }

  /** The change is applied. */
  #forget(change: Change): void {
    this.#uncount(change);
    const { znode, parent } = change;
    if (znode.changes === 0) this.#znodes.remove(znode);
    if (parent?.changes === 0) this.#znodes.remove(parent);
  }

  /** The change is applied, or undone. */
  #uncount(change: Change): void {
    const { znode, parent } = change;
    znode.changes -= 1;
    if (parent === null) return;
    parent.changes -= 1;
    this.#countChild(change, parent, -change.by);
  }

  #countChild({ owner }: Change, parent: ZnodeInFlight, by: number): void {
    parent.children += by;
    if (owner === 0) return;
    parent.childrenOf ??= new Map();
    addTo(parent.childrenOf, owner, by);
    addTo(this.#ephemerals, owner, by);
  }
}

function addTo(counts: Map<SessionId, number>, owner: SessionId, by: number): void {
  const count = (counts.get(owner) ?? 0) + by;
  if (count === 0) counts.delete(owner);
  else counts.set(owner, count);
}

const BUCKETS_FIRST = 1 << 8;
/** The number of entries that are kept for later use. */
const SPARE_MAX = 1 << 10;
/** The room for a path that is kept; it doubles until the path fits. */
const PATH_BYTES_FIRST = 64;
const NO_PATH = new Uint8Array(0);
/** An entry with more room is not kept for later use: all that are kept have 256 KB at most. */
const PATH_BYTES_KEPT = 256;
const NO_ACL: readonly Acl[] = [];

/** What the checks of a request see of a znode, once everything in flight is applied. */
interface NodeView {
  readonly exists: boolean;
  readonly version: number;
  /** The number of creates ever done below it, which is the next sequence number. */
  readonly creates: number;
  readonly aversion: number;
  /** The session that owns it if it is an ephemeral, otherwise 0. */
  readonly owner: SessionId;
  readonly acl: readonly Acl[];
  readonly dataBytes: number;
}

/** A path at which there is no znode. */
const ABSENT: NodeView = {
  exists: false,
  version: 0,
  creates: 0,
  aversion: 0,
  owner: 0,
  acl: NO_ACL,
  dataBytes: 0,
};

/**
 * The znodes that transactions in flight change: each as it will be once all of them are applied.
 *
 * They are found by the hash of the path, so that no string is made. Then the node in the tree
 * decides. A znode that is not in the tree, or that a delete or the close of its owner in flight
 * takes from it, has no node to rely on: for these a copy of the path is kept (`keepPath`), whose
 * bytes decide. Overlay decides when an entry comes and goes, and alone changes it; the object
 * serves another znode afterwards. The table doubles when it is full and never shrinks; the
 * operations that a leader may have in flight bound it.
 */
export class ZnodeInFlight implements NodeView {
  exists = false;
  version = 0;
  creates = 0;
  aversion = 0;
  owner: SessionId = 0;
  acl = NO_ACL;
  dataBytes = 0;
  /** The changes in flight of the znode itself, or that create or delete a child of it. */
  changes = 0;
  /** The children created in flight, less those deleted. */
  children = 0;
  /** The part of `children` that is ephemerals of a session, without sessions with 0. */
  childrenOf: Map<SessionId, number> | null = null;
  /** Whether it is in the table. */
  isUsed = false;
  /** The next entry of the same bucket. */
  next: ZnodeInFlight | null = null;
  hash = 0;
  /** Its node in the tree until the entry is removed; NO_NODE if its path is kept instead. */
  node = NO_NODE;
  path = NO_PATH;
  pathBytes = 0;

  /** A copy of what requests see. */
  seen(): NodeView {
    const { exists, version, creates, aversion, owner, acl, dataBytes } = this;
    return { exists, version, creates, aversion, owner, acl, dataBytes };
  }

  /** Takes over everything that requests see. */
  become({ exists, version, creates, aversion, owner, acl, dataBytes }: NodeView): void {
    this.exists = exists;
    this.version = version;
    this.creates = creates;
    this.aversion = aversion;
    this.owner = owner;
    this.acl = acl;
    this.dataBytes = dataBytes;
  }
}

export class ZnodesInFlight {
  #buckets: (ZnodeInFlight | null)[] = new Array(BUCKETS_FIRST).fill(null);
  #size = 0;
  readonly #spare: ZnodeInFlight[] = [];

  get size(): number {
    return this.#size;
  }

  /** The entry of a path whose hash and node `Tree.locate` has set. */
  find(at: PathView): ZnodeInFlight | null {
    const { hash } = at;
    let znode = this.#buckets[hash & (this.#buckets.length - 1)] ?? null;
    while (znode !== null && (znode.hash !== hash || !isAt(znode, at))) znode = znode.next;
    return znode;
  }

  /** Adds an entry for a path that has none. The caller sets what requests see of the znode. */
  add(at: PathView): ZnodeInFlight {
    if (this.#size === this.#buckets.length) this.#enlarge();
    const znode = this.#spare.pop() ?? new ZnodeInFlight();
    znode.isUsed = true;
    znode.hash = at.hash;
    znode.node = at.node;
    if (at.node === NO_NODE) this.keepPath(znode, at);
    this.#link(znode);
    this.#size += 1;
    return znode;
  }

  /** From now on the znode is found by its path, whatever the tree has there. */
  keepPath(znode: ZnodeInFlight, { bytes, pathStart, pathEnd }: PathView): void {
    const size = pathEnd - pathStart;
    let room = Math.max(znode.path.length, PATH_BYTES_FIRST);
    while (room < size) room *= 2;
    if (room > znode.path.length) znode.path = new Uint8Array(room);
    for (let i = 0; i < size; i++) znode.path[i] = bytes[pathStart + i] ?? 0;
    znode.pathBytes = size;
    znode.node = NO_NODE;
  }

  /** Removes an entry that no change concerns any longer. */
  remove(znode: ZnodeInFlight): void {
    assert(znode.children === 0, () => `${znode.children} children are left over`);
    const index = znode.hash & (this.#buckets.length - 1);
    let before = this.#buckets[index] ?? null;
    if (before === znode) {
      this.#buckets[index] = znode.next;
    } else {
      while (before !== null && before.next !== znode) before = before.next;
      assert(before !== null, 'an entry is in the bucket of its hash');
      before.next = znode.next;
    }
    this.#size -= 1;
    znode.isUsed = false;
    znode.next = null;
    znode.acl = NO_ACL;
    znode.childrenOf = null;
    if (znode.path.length > PATH_BYTES_KEPT || this.#spare.length === SPARE_MAX) return;
    this.#spare.push(znode);
  }

  #link(znode: ZnodeInFlight): void {
    const index = znode.hash & (this.#buckets.length - 1);
    znode.next = this.#buckets[index] ?? null;
    this.#buckets[index] = znode;
  }

  #enlarge(): void {
    const former = this.#buckets;
    this.#buckets = new Array(2 * former.length).fill(null);
    for (const first of former) {
      let znode = first;
      while (znode !== null) {
        const { next } = znode;
        this.#link(znode);
        znode = next;
      }
    }
  }
}

function isAt(znode: ZnodeInFlight, at: PathView): boolean {
  return znode.node === NO_NODE ? hasPath(znode, at) : znode.node === at.node;
}

function hasPath(znode: ZnodeInFlight, { bytes, pathStart, pathEnd }: PathView): boolean {
  const { path, pathBytes } = znode;
  if (pathBytes !== pathEnd - pathStart) return false;
  for (let i = 0; i < pathBytes; i++) if (path[i] !== bytes[pathStart + i]) return false;
  return true;
}

/** A session is opened or closed. Its id is the zxid of the transaction that opens it. */
interface SessionChange {
  readonly zxid: Zxid;
  readonly session: SessionId;
}

/**
 * Knows which sessions are being opened and closed, and which ones may do nothing more.
 *
 * The end of a session whose ephemerals are many has several steps: it is decided (`beginClose`),
 * its ephemerals are deleted part by part, and the close comes last. From the decision on, the
 * session changes nothing. Opens and closes are a queue in the order of zxids. Overlay calls it,
 * and whoever asks whether a session is alive.
 */
export class SessionsInFlight {
  readonly #state: ReplicatedState;
  readonly #opened = new Map<SessionId, OpenedSession>();
  /** Sessions whose closeSession is proposed and not applied yet. */
  readonly #closesInFlight = new Set<SessionId>();
  /** Sessions that have a beginClose, in flight or in the state, until their close is applied. */
  readonly #closing = new Set<SessionId>();
  /** The opens and closes, not applied yet. */
  readonly #changes = new Fifo<SessionChange>();

  constructor(state: ReplicatedState) {
    this.#state = state;
    for (const [id, { isClosing }] of state.sessions.sorted()) if (isClosing) this.#closing.add(id);
  }

  /** The number of opens and closes in flight. */
  get length(): number {
    return this.#changes.length;
  }

  /** The zxid of the oldest open or close in flight; infinite without one. */
  get firstZxid(): Zxid {
    return this.#changes.first?.zxid ?? Number.POSITIVE_INFINITY;
  }

  /** The sessions whose closeSession is in flight: their ephemerals count as deleted. */
  get closesInFlight(): ReadonlySet<SessionId> {
    return this.#closesInFlight;
  }

  /** The sessions that have a beginClose, of this term or of an earlier one, and still exist. */
  closing(): Iterable<SessionId> {
    return this.#closing;
  }

  /** Whether the session has a beginClose, in flight or in the state, and still exists. */
  isClosing(session: SessionId): boolean {
    return this.#closing.has(session);
  }

  /** Whether the session has a beginClose, or its closeSession is in flight. */
  isEndDecided(session: SessionId): boolean {
    return this.#closesInFlight.has(session) || this.#closing.has(session);
  }

  opened(session: SessionId): OpenedSession | undefined {
    return this.#opened.get(session);
  }

  /** Whether the session exists, or will, and is not being closed. */
  isLive(session: SessionId): boolean {
    // A local session: its member vouches for it.
    if (session === LOCAL_SESSION) return true;
    if (this.isEndDecided(session)) return false;
    return this.#state.sessions.has(session) || this.#opened.has(session);
  }

  open(zxid: Zxid, opened: OpenedSession): void {
    this.#opened.set(zxid, opened);
    this.#changes.push({ zxid, session: zxid });
  }

  beginClose(session: SessionId): void {
    assert(!this.isEndDecided(session), () => `the end of session ${session} is decided once`);
    this.#closing.add(session);
  }

  close(zxid: Zxid, session: SessionId): void {
    assert(!this.#closesInFlight.has(session), () => `session ${session} is closed once`);
    this.#closesInFlight.add(session);
    this.#changes.push({ zxid, session });
  }

  /** The oldest open or close is in the state now. */
  shift(): void {
    const change = this.#changes.shift();
    if (change === undefined) return;
    const { zxid, session } = change;
    if (session === zxid) {
      this.#opened.delete(session);
    } else {
      this.#closesInFlight.delete(session);
      this.#closing.delete(session);
    }
  }
}
