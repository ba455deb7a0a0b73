/**
 * Writes a snapshot of ZooKeeper, version 2, of a state at one zxid, with its digest.
 *
 * See `snapshot-reader.ts` for the layout. The parts are of bounded size, so that a tree need not
 * be in memory twice. The digest is computed from the bytes of each part by what reads snapshots,
 * so it is that of the znodes which a reader will find.
 */
import { bufferOf, JuteWriter } from '@rookery/protocol';
import { Adler32, ByteCursor } from './byte-cursor.js';
import { type AclEntry, EncodedNode, type NodeToWrite } from './snapshot-node.js';
import { MAGIC, OPEN_ACL, VERSION } from './snapshot-reader.js';
import { DIGEST_VERSION, TreeDigest } from './tree-digest.js';

export interface SnapshotContent {
  readonly zxid: bigint;
  /** Timeouts in ms by session. */
  readonly sessions: ReadonlyMap<bigint, number>;
  /** The lists that `nodes` have: the same objects, each once. */
  readonly aclLists: ReadonlySet<readonly AclEntry[]>;
  /** All znodes, each parent before its children; each is valid until the next one. */
  readonly nodes: Iterable<NodeToWrite>;
}

const PART_BYTES = 1 << 20;
/** Where the memory ends, what was begun of a part is copied into the next one. */
const SLAB_BYTES = 8 * PART_BYTES;
/** Behind the last znode, and behind each checksum. */
const END = '/';

export function* snapshotParts(content: SnapshotContent): Generator<Uint8Array> {
  const out = new JuteWriter(null, SLAB_BYTES);
  const adler = new Adler32();
  const digest = new TreeDigest();
  const aclIds = putHead(out, content);
  yield taken(out, adler);
  for (const node of content.nodes) {
    putNode(out, node, (node.acl === null ? undefined : aclIds.get(node.acl)) ?? OPEN_ACL);
    if (out.length >= PART_BYTES) yield counted(taken(out, adler), digest);
  }
  yield counted(taken(out, adler), digest);
  out.string(END);
  yield taken(out, adler);
  putChecksum(out, adler);
  out.long(content.zxid);
  out.int(DIGEST_VERSION);
  out.long(BigInt.asIntN(64, digest.value));
  yield taken(out, adler);
  putChecksum(out, adler);
  yield taken(out, adler);
}

/** Header, sessions and ACL lists. Returns the ids of the lists. */
function putHead(
  out: JuteWriter,
  { sessions, aclLists }: SnapshotContent,
): ReadonlyMap<readonly AclEntry[], bigint> {
  out.int(MAGIC);
  out.int(VERSION);
  out.long(-1n);
  out.int(sessions.size);
  for (const [session, timeoutMs] of sessions) {
    out.long(session);
    out.int(timeoutMs);
  }
  const ids = new Map<readonly AclEntry[], bigint>();
  out.int(aclLists.size);
  for (const list of aclLists) {
    const id = BigInt(ids.size + 1);
    ids.set(list, id);
    out.long(id);
    putAclList(out, list);
  }
  return ids;
}

function putAclList(out: JuteWriter, list: readonly AclEntry[]): void {
  out.int(list.length);
  for (const { perms, scheme, id } of list) {
    out.int(perms);
    out.string(scheme);
    out.string(id);
  }
}

function putNode(out: JuteWriter, node: NodeToWrite, aclId: bigint): void {
  out.string(node.path);
  out.buffer(node.data);
  out.long(aclId);
  out.long(node.czxid);
  out.long(node.mzxid);
  out.long(node.ctime);
  out.long(node.mtime);
  out.int(node.version);
  out.int(node.cversion);
  out.int(node.aversion);
  out.long(node.ephemeralOwner);
  out.long(node.pzxid);
}

/** The checksum of all that was taken, and the mark behind it. */
function putChecksum(out: JuteWriter, adler: Adler32): void {
  out.long(adler.value);
  out.string(END);
}

/** All that was put since the last time. */
function taken(out: JuteWriter, adler: Adler32): Uint8Array {
  const part = out.take();
  adler.update(part);
  return part;
}

/** A part that has whole znodes and nothing else. */
function counted(part: Uint8Array, digest: TreeDigest): Uint8Array {
  const cursor = new ByteCursor(bufferOf(part));
  const encoded = new EncodedNode();
  while (cursor.left > 0 && encoded.next(cursor)) digest.addEncoded(encoded, cursor);
  return part;
}
