/**
 * The changes that are proposed and not yet applied, as the next request must see them.
 *
 * Owns a record per znode that a transaction in flight touches, and the sessions that are being
 * opened or closed. Reads fall through to the tree. A record belongs to the last transaction that
 * changed it and goes away when that one is applied: from then on the tree says the same.
 * Records are never changed in place, so a failed multi is undone by putting the old ones back.
 */
import { assert, parentOf, type Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';
import type { Acl, SessionId } from '../state/txn.js';
import { nextVersion } from '../state/versions.js';
import { LOCAL_SESSION } from './local-sessions.js';

/** What the checks of a request ask of a znode. */
export interface NodeView {
  readonly exists: boolean;
  readonly version: number;
  /** Creates ever done below it: the next sequence number. */
  readonly creates: number;
  readonly aversion: number;
  readonly childCount: number;
  /** The session whose ephemeral it is, else 0. */
  readonly owner: SessionId;
  readonly acl: readonly Acl[];
  readonly dataBytes: number;
}

interface NodeRecord extends NodeView {
  readonly zxid: Zxid;
}

interface Change {
  readonly path: string;
  readonly before: NodeRecord | undefined;
  /** The session for which this change created an ephemeral, else 0. */
  readonly ephemeralOwner: SessionId;
}

interface InFlight {
  readonly zxid: Zxid;
  readonly changes: readonly Change[];
  readonly opens: boolean;
  readonly closes: SessionId;
}

export interface OpenedSession {
  readonly timeoutMs: number;
  readonly password: Uint8Array;
}

/** Applied transactions are cut off the front of the queue from this many on. */
const COMPACT_AT = 1024;

const ABSENT: NodeView = {
  exists: false,
  version: 0,
  creates: 0,
  aversion: 0,
  childCount: 0,
  owner: 0,
  acl: [],
  dataBytes: 0,
};

export class Overlay {
  readonly #state: ReplicatedState;
  readonly #nodes = new Map<string, NodeRecord>();
  readonly #opened = new Map<SessionId, OpenedSession>();
  readonly #closing = new Set<SessionId>();
  /** Ephemeral creates in flight by owner; sessions without any are not in it. */
  readonly #ephemeralCreates = new Map<SessionId, number>();
  readonly #inFlight: InFlight[] = [];
  #inFlightHead = 0;
  /** The transaction being prepared. */
  #zxid: Zxid = 0;
  #changes: Change[] = [];

  constructor(state: ReplicatedState) {
    this.#state = state;
  }

  /** Records of all kinds; 0 when nothing is in flight. */
  get size(): number {
    const sessions = this.#opened.size + this.#closing.size + this.#ephemeralCreates.size;
    return this.#nodes.size + sessions + this.#inFlight.length - this.#inFlightHead;
  }

  /** The root is its own parent: callers must not create or delete it. */
  node(path: string): NodeView {
    const record = this.#nodes.get(path);
    if (record !== undefined) return record;
    const tree = this.#state.tree;
    const node = tree.find(path);
    if (node === NO_NODE) return ABSENT;
    return {
      exists: true,
      version: tree.version(node),
      creates: tree.cversion(node),
      aversion: tree.aversion(node),
      childCount: tree.childCount(node),
      owner: tree.owner(node),
      acl: tree.acl(node),
      dataBytes: tree.dataLength(node),
    };
  }

  /** A transaction in flight changes the znode itself, or creates or deletes a child of it. */
  touches(path: string): boolean {
    return this.#nodes.has(path);
  }

  isClosing(session: SessionId): boolean {
    return this.#closing.has(session);
  }

  openedSession(session: SessionId): OpenedSession | undefined {
    return this.#opened.get(session);
  }

  /** Exists, or will, and is not being closed. */
  isLive(session: SessionId): boolean {
    // Its member vouches for it.
    if (session === LOCAL_SESSION) return true;
    if (this.#closing.has(session)) return false;
    return this.#state.sessions.has(session) || this.#opened.has(session);
  }

  /** Starts the changes of one transaction; `commit` or `rollBack` ends them. */
  begin(zxid: Zxid): void {
    assert(this.#changes.length === 0, 'the overlay has no open transaction at begin');
    this.#zxid = zxid;
  }

  commit(): void {
    if (this.#changes.length > 0) this.#track({ opens: false, closes: 0 });
  }

  rollBack(): void {
    for (let change = this.#changes.pop(); change !== undefined; change = this.#changes.pop()) {
      if (change.before === undefined) this.#nodes.delete(change.path);
      else this.#nodes.set(change.path, change.before);
      this.#countEphemeral(change.ephemeralOwner, -1);
    }
  }

  create(path: string, created: Pick<NodeView, 'owner' | 'acl' | 'dataBytes'>): void {
    const parentPath = parentOf(path);
    const parent = this.node(parentPath);
    const creates = (parent.creates + 1) | 0;
    const zxid = this.#zxid;
    this.#set(parentPath, { ...parent, creates, childCount: parent.childCount + 1, zxid }, 0);
    this.#set(path, { ...ABSENT, exists: true, ...created, zxid }, created.owner);
    this.#countEphemeral(created.owner, 1);
  }

  delete(path: string): void {
    const parentPath = parentOf(path);
    const parent = this.node(parentPath);
    const zxid = this.#zxid;
    this.#set(parentPath, { ...parent, childCount: parent.childCount - 1, zxid }, 0);
    this.#set(path, { ...ABSENT, zxid }, 0);
  }

  /** Returns the version that the znode has afterwards. */
  setData(path: string, dataBytes: number): number {
    const node = this.node(path);
    const version = nextVersion(node.version);
    this.#set(path, { ...node, version, dataBytes, zxid: this.#zxid }, 0);
    return version;
  }

  /** Returns the aversion that the znode has afterwards. */
  setAcl(path: string, acl: readonly Acl[]): number {
    const node = this.node(path);
    const aversion = nextVersion(node.aversion);
    this.#set(path, { ...node, aversion, acl, zxid: this.#zxid }, 0);
    return aversion;
  }

  /** A transaction of its own: the session's id is the zxid given to `begin`. */
  openSession(opened: OpenedSession): void {
    this.#opened.set(this.#zxid, opened);
    this.#track({ opens: true, closes: 0 });
  }

  /** A transaction of its own. The session's ephemerals are gone from here on. */
  closeSession(session: SessionId): void {
    assert(!this.#closing.has(session), () => `session ${session} is closed once`);
    for (const path of this.#ephemeralsOf(session)) this.delete(path);
    this.#closing.add(session);
    this.#track({ opens: false, closes: session });
  }

  /** The transaction is in the state now. */
  applied(zxid: Zxid): void {
    const first = this.#inFlight[this.#inFlightHead];
    if (first === undefined || first.zxid > zxid) return;
    assert(first.zxid === zxid, () => `${first.zxid} is not applied after ${zxid}`);
    this.#inFlightHead += 1;
    if (this.#inFlightHead >= COMPACT_AT && this.#inFlightHead * 2 >= this.#inFlight.length) {
      this.#inFlight.splice(0, this.#inFlightHead);
      this.#inFlightHead = 0;
    }
    for (const change of first.changes) {
      if (this.#nodes.get(change.path)?.zxid === zxid) this.#nodes.delete(change.path);
      this.#countEphemeral(change.ephemeralOwner, -1);
    }
    if (first.opens) this.#opened.delete(zxid);
    if (first.closes !== 0) this.#closing.delete(first.closes);
  }

  #ephemeralsOf(session: SessionId): readonly string[] {
    const tree = this.#state.tree;
    const owned = tree.ephemeralsOf(session).filter((path) => this.node(path).owner === session);
    if (!this.#ephemeralCreates.has(session)) return owned;
    const paths = new Set(owned);
    for (const [path, node] of this.#nodes) if (node.owner === session) paths.add(path);
    return [...paths];
  }

  #countEphemeral(owner: SessionId, by: 1 | -1): void {
    if (owner === 0) return;
    const count = (this.#ephemeralCreates.get(owner) ?? 0) + by;
    assert(count >= 0, () => `session ${owner} has ${count} ephemeral creates in flight`);
    if (count === 0) this.#ephemeralCreates.delete(owner);
    else this.#ephemeralCreates.set(owner, count);
  }

  #set(path: string, record: NodeRecord, ephemeralOwner: SessionId): void {
    this.#changes.push({ path, before: this.#nodes.get(path), ephemeralOwner });
    this.#nodes.set(path, record);
  }

  #track(kind: Pick<InFlight, 'opens' | 'closes'>): void {
    this.#inFlight.push({ zxid: this.#zxid, changes: this.#changes, ...kind });
    this.#changes = [];
  }
}
