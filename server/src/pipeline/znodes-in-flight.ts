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
import { assert } from '@rookery/protocol';
import type { PathView } from '../state/memory/path-view.js';
import { NO_NODE } from '../state/tree.js';
import type { Acl, SessionId } from '../state/txn.js';

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
export interface NodeView {
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
export const ABSENT: NodeView = {
  exists: false,
  version: 0,
  creates: 0,
  aversion: 0,
  owner: 0,
  acl: NO_ACL,
  dataBytes: 0,
};

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
