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
import type { OpenedSession } from '../state/session.js';
import { NO_NODE } from '../state/tree.js';
import type { Acl, SessionId } from '../state/txn.js';
import { isRaisedTo, nextVersion } from '../state/versions.js';
import { SessionsInFlight } from './sessions-in-flight.js';
import { ABSENT, type NodeView, ZnodeInFlight, ZnodesInFlight } from './znodes-in-flight.js';

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
