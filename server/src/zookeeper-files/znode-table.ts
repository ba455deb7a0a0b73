/**
 * Holds a tree of ZooKeeper while its log is replayed: znodes by path, and their digest.
 *
 * A snapshot was written while the tree changed, so a transaction of the log may find its effect
 * already there, or its znode already gone. The rules by which ZooKeeper itself replays make equal
 * Stats of both: what it says of parents only ever grows, and what is not there is passed over.
 */
import { parentOf } from '@rookery/protocol';
import type { LogRecord, NodeChange } from './log-record.js';
import type { SnapshotNode } from './snapshot-node.js';
import { TreeDigest } from './tree-digest.js';

export const CONTAINER_OWNER = -(2n ** 63n);
const TTL_MARK = 0xffn << 56n;
const TTL_MS_MASK = (1n << 40n) - 1n;
const CVERSION_MAX = 2 ** 31 - 1;

type Znode = { -readonly [Field in keyof SnapshotNode]: SnapshotNode[Field] };
/** The first create below a znode whose counter of creates was at its end. */
export interface CounterEnd {
  readonly path: string;
  readonly zxid: bigint;
}

type Create = Extract<NodeChange, { readonly kind: 'create' }>;

/** What an owner says of a znode that belongs to no session. */
export function ownerKind(owner: bigint): 'none' | 'container' | 'ttl' | 'session' {
  if (owner === 0n) return 'none';
  if (owner === CONTAINER_OWNER) return 'container';
  return BigInt.asUintN(64, owner) >> 56n === 0xffn ? 'ttl' : 'session';
}

/** The time to live in ms that an owner of kind `ttl` encodes. */
export function ttlMsOf(owner: bigint): bigint {
  return BigInt.asUintN(64, owner) & TTL_MS_MASK;
}

export function ownerOfTtl(ttlMs: bigint): bigint {
  return BigInt.asIntN(64, TTL_MARK | (ttlMs & TTL_MS_MASK));
}

export class ZnodeTable {
  readonly #nodes = new Map<string, Znode>();
  readonly #digest = new TreeDigest();
  /** The paths of the ephemerals of each session. */
  readonly #owned = new Map<bigint, Set<string>>();
  #counterEnd: CounterEnd | null = null;

  get count(): number {
    return this.#nodes.size;
  }

  get digest(): bigint {
    return this.#digest.value;
  }

  /**
   * From there on ZooKeeper's digests are not those of its trees: they are computed beforehand with
   * a counter that has wrapped, and the counter in the tree, which never falls, stays at its end.
   */
  get counterEnd(): CounterEnd | null {
    return this.#counterEnd;
  }

  /** In the order of their paths, so parents before children. */
  nodes(): readonly SnapshotNode[] {
    return [...this.#nodes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** A znode of the snapshot, whose memory is shared. */
  add(node: SnapshotNode): void {
    this.#put({ ...node });
  }

  apply(record: LogRecord): void {
    for (const change of record.changes) this.#change(record, change);
    if (record.closes === null) return;
    const owned = this.#owned.get(record.session) ?? [];
    for (const path of new Set([...record.closes, ...owned])) this.#delete(record, path);
  }

  #change(record: LogRecord, change: NodeChange): void {
    if (change.kind === 'create') return this.#create(record, change);
    if (change.kind === 'delete') return this.#delete(record, change.path);
    const node = this.#nodes.get(keyOf(change.path));
    if (node === undefined) return;
    this.#digest.remove(node);
    if (change.kind === 'setData') {
      node.data = ownCopy(change.data);
      node.version = change.version;
      node.mzxid = record.zxid;
      node.mtime = record.time;
    } else {
      node.acl = change.acl;
      node.aversion = change.version;
    }
    this.#digest.add(node);
  }

  #create(record: LogRecord, change: Create): void {
    const parent = this.#nodes.get(keyOf(parentOf(change.path)));
    if (parent === undefined) return;
    this.#digest.remove(parent);
    const { parentCversion } = change;
    const cversion = parentCversion === -1 ? (parent.cversion + 1) | 0 : parentCversion;
    if (parent.cversion === CVERSION_MAX && cversion < 0) {
      this.#counterEnd ??= { path: parentOf(change.path), zxid: record.zxid };
    }
    const existing = this.#nodes.get(change.path);
    if (cversion > parent.cversion) {
      parent.cversion = cversion;
      parent.pzxid = record.zxid;
    }
    this.#digest.add(parent);
    if (existing !== undefined) {
      if (change.replacesAcl) existing.acl = change.acl;
      return;
    }
    const { zxid, time } = record;
    this.#put({
      path: change.path,
      data: ownCopy(change.data),
      acl: change.acl,
      czxid: zxid,
      mzxid: zxid,
      pzxid: zxid,
      ctime: time,
      mtime: time,
      version: 0,
      cversion: 0,
      aversion: 0,
      ephemeralOwner: ownerOf(record, change),
    });
  }

  #delete({ zxid }: LogRecord, path: string): void {
    const parent = this.#nodes.get(keyOf(parentOf(path)));
    if (parent !== undefined && zxid > parent.pzxid) {
      this.#digest.remove(parent);
      parent.pzxid = zxid;
      this.#digest.add(parent);
    }
    const node = this.#nodes.get(path);
    if (node === undefined) return;
    this.#digest.remove(node);
    this.#nodes.delete(path);
    this.#owned.get(node.ephemeralOwner)?.delete(path);
  }

  #put(node: Znode): void {
    this.#nodes.set(node.path, node);
    this.#digest.add(node);
    if (ownerKind(node.ephemeralOwner) !== 'session') return;
    const owned = this.#owned.get(node.ephemeralOwner);
    if (owned === undefined) this.#owned.set(node.ephemeralOwner, new Set([node.path]));
    else owned.add(node.path);
  }
}

function ownerOf({ session }: LogRecord, { owner, ttlMs }: Create): bigint {
  if (owner === 'session') return session;
  if (owner === 'container') return CONTAINER_OWNER;
  return ttlMs === null ? 0n : ownerOfTtl(ttlMs);
}

/** The root is stored with an empty path. */
function keyOf(path: string): string {
  return path === '/' ? '' : path;
}

/** A record's memory is used again for the next one. */
function ownCopy(data: Buffer | null): Buffer | null {
  return data === null ? null : Buffer.from(data);
}
