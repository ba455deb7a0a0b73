/**
 * Writes a snapshot of ZooKeeper, version 2, of a state at one zxid, with its digest.
 *
 * See `snapshot-reader.ts` for the layout. The parts are of bounded size, so that a tree need not
 * be in memory twice.
 */
import { Adler32 } from './adler32.js';
import type { AclEntry, SnapshotNode } from './snapshot-node.js';
import { MAGIC, OPEN_ACL, VERSION } from './snapshot-reader.js';
import { DIGEST_VERSION, TreeDigest, UTF8_BYTES_MAX } from './tree-digest.js';

export interface SnapshotContent {
  readonly zxid: bigint;
  /** Timeouts in ms by session. */
  readonly sessions: ReadonlyMap<bigint, number>;
  /** The lists that `nodes` have: the same objects, each once. */
  readonly aclLists: ReadonlySet<readonly AclEntry[]>;
  /** All znodes, each parent before its children; the root has an empty path. */
  readonly nodes: Iterable<SnapshotNode>;
}

const PART_BYTES = 1 << 20;
const FIRST_BYTES = 64 << 10;

export function* snapshotParts(content: SnapshotContent): Generator<Buffer> {
  const out = new Parts();
  out.int(MAGIC);
  out.int(VERSION);
  out.long(-1n);
  out.int(content.sessions.size);
  for (const [session, timeoutMs] of content.sessions) {
    out.long(session);
    out.int(timeoutMs);
  }
  const ids = new Map<readonly AclEntry[], bigint>();
  out.int(content.aclLists.size);
  for (const list of content.aclLists) {
    ids.set(list, BigInt(ids.size + 1));
    out.long(BigInt(ids.size));
    putAclList(out, list);
  }
  const digest = new TreeDigest();
  for (const node of content.nodes) {
    putNode(out, node, (node.acl === null ? undefined : ids.get(node.acl)) ?? OPEN_ACL);
    digest.add(node);
    if (out.length >= PART_BYTES) yield out.take();
  }
  out.text('/');
  yield out.take();
  yield out.checksum();
  out.long(content.zxid);
  out.int(DIGEST_VERSION);
  out.long(BigInt.asIntN(64, digest.value));
  yield out.take();
  yield out.checksum();
}

function putAclList(out: Parts, list: readonly AclEntry[]): void {
  out.int(list.length);
  for (const { perms, scheme, id } of list) {
    out.int(perms);
    out.text(scheme);
    out.text(id);
  }
}

function putNode(out: Parts, node: SnapshotNode, aclId: bigint): void {
  out.text(node.path);
  out.buffer(node.data);
  out.long(aclId);
  for (const value of [node.czxid, node.mzxid, node.ctime, node.mtime]) out.long(value);
  for (const value of [node.version, node.cversion, node.aversion]) out.int(value);
  out.long(node.ephemeralOwner);
  out.long(node.pzxid);
}

/** Jute into memory that grows, with the checksum of all that was taken. */
class Parts {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** The same memory: a DataView writes longs several times as fast as a Buffer. */
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  readonly #adler = new Adler32();

  get length(): number {
    return this.#length;
  }

  int(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
  }

  long(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigInt64(this.#length, value);
    this.#length += 8;
  }

  text(value: string): void {
    this.#reserve(4 + UTF8_BYTES_MAX * value.length);
    const bytes = this.#bytes.write(value, this.#length + 4);
    this.int(bytes);
    this.#length += bytes;
  }

  buffer(value: Buffer | null): void {
    this.int(value?.length ?? -1);
    if (value === null) return;
    this.#reserve(value.length);
    this.#length += value.copy(this.#bytes, this.#length);
  }

  /** All that was put since the last time, in memory of its own. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    this.#adler.update(taken);
    return taken;
  }

  /** The checksum of all that was taken, and the mark behind it. */
  checksum(): Buffer {
    this.long(BigInt(this.#adler.value));
    this.text('/');
    return this.take();
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
