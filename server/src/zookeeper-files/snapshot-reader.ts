/**
 * Reads a snapshot of ZooKeeper, version 2, of its releases 3.4 to 3.9, and checks all that can be
 * checked: checksums, parents, ACLs, and the digest where there is one.
 *
 *     header, sessions, ACLs, znodes until "/", checksum [digest, checksum] [last zxid, checksum]
 *
 * A checksum is the Adler-32 of every byte before it, followed by "/". The number of bytes that are
 * left tells which trailers there are. Throws FileError for a file that is damaged. A digest that
 * differs is no error, because ZooKeeper writes its snapshots while the tree changes, and the log
 * behind them makes them right.
 */
import { parentOf } from '@rookery/protocol';
import { readAclList } from './acl-list.js';
import { Adler32 } from './adler32.js';
import { ByteCursor, FileError } from './byte-cursor.js';
import { EncodedNode } from './encoded-node.js';
import { type AclEntry, OPEN_LIST, type SnapshotNode } from './snapshot-node.js';
import { DIGEST_VERSION, TreeDigest } from './tree-digest.js';

export interface SnapshotFacts {
  /** Timeouts in ms by session. */
  readonly sessions: ReadonlyMap<bigint, number>;
  readonly aclLists: number;
  readonly nodes: number;
  readonly dataBytes: number;
  /** ACL ids that nodes have and the file does not: fuzzy snapshots of old releases. */
  readonly missingAcls: number;
  /** Null before 3.6, where digests are turned off, and where no transaction came yet. */
  readonly digest: SnapshotDigest | null;
  /**
   * A server that knows digests wrote the file and had applied no transaction since its start, so
   * the tree did not change meanwhile, and the digests of the log are right from the first one on.
   */
  readonly isUnchanged: boolean;
  /** Null before 3.9. */
  readonly lastZxid: bigint | null;
}

export interface SnapshotDigest {
  /** The zxid of the state that the digest describes, which may be newer than the file. */
  readonly zxid: bigint;
  readonly version: number;
  /** The digest that the file has. */
  readonly kept: bigint;
  /** The digest of the znodes in the file. */
  readonly computed: bigint;
}

export const MAGIC = 0x5a4b534e;
export const VERSION = 2;
const HEADER_BYTES = 16;
/** The id of the open list, which no file writes out. */
export const OPEN_ACL = -1n;
const DIGEST_BYTES = 20 + 13;
const LAST_ZXID_BYTES = 8 + 13;

/** `visit` is called for each znode, parents before children. */
export function readSnapshot(bytes: Buffer, visit: (node: SnapshotNode) => void): SnapshotFacts {
  const cursor = new ByteCursor(bytes);
  const checksums = new Checksums(cursor);
  readHeader(cursor);
  const sessions = readSessions(cursor);
  const acls = readAcls(cursor);
  const tree = readNodes(cursor, acls, visit);
  checksums.check();
  const { left } = cursor;
  const known = [0, LAST_ZXID_BYTES, DIGEST_BYTES, DIGEST_BYTES + LAST_ZXID_BYTES];
  if (!known.includes(left)) {
    throw new FileError(
      `${left} bytes follow the checksum, which no release writes`,
      cursor.offset,
    );
  }
  const kept = left >= DIGEST_BYTES ? readDigest(cursor, checksums, tree.digest) : null;
  // Before the first transaction, ZooKeeper writes 0 for both.
  const isUnchanged = kept !== null && kept.zxid === 0n && kept.kept === 0n;
  const digest = isUnchanged ? null : kept;
  const lastZxid = cursor.left > 0 ? readLastZxid(cursor, checksums) : null;
  const { nodes, dataBytes, missingAcls } = tree;
  return {
    sessions,
    aclLists: acls.size,
    nodes,
    dataBytes,
    missingAcls,
    digest,
    isUnchanged,
    lastZxid,
  };
}

/** Each covers all that is before it, the checksums before it included. */
class Checksums {
  readonly #cursor: ByteCursor;
  readonly #adler = new Adler32();
  #from = 0;

  constructor(cursor: ByteCursor) {
    this.#cursor = cursor;
  }

  check(): void {
    const cursor = this.#cursor;
    const at = cursor.offset;
    this.#adler.update(cursor.between(this.#from, at));
    const computed = this.#adler.value;
    const written = BigInt.asUintN(64, cursor.long('a checksum'));
    const mark = cursor.text('a checksum');
    this.#adler.update(cursor.between(at, cursor.offset));
    this.#from = cursor.offset;
    if (mark !== '/') throw new FileError('a checksum is not followed by "/"', at);
    if (written !== BigInt(computed)) {
      const both = `${written.toString(16)} is written, ${computed.toString(16)} was computed`;
      throw new FileError(`the checksum is wrong: ${both}`, at);
    }
  }
}

function readHeader(cursor: ByteCursor): void {
  if (cursor.left < HEADER_BYTES || cursor.int('the header') !== MAGIC) {
    throw new FileError('it does not begin as a snapshot of ZooKeeper does', 0);
  }
  const version = cursor.int('the header');
  if (version !== VERSION) {
    throw new FileError(`its version is ${version}; this release reads version ${VERSION}`, 4);
  }
  cursor.long('the header');
}

function readSessions(cursor: ByteCursor): Map<bigint, number> {
  const sessions = new Map<bigint, number>();
  for (let left = cursor.count('the number of sessions', 12); left > 0; left--) {
    const id = cursor.long('a session');
    sessions.set(id, cursor.int('a session'));
  }
  return sessions;
}

type AclLists = ReadonlyMap<bigint, readonly AclEntry[]>;

/** The lists of the file by their ids. */
function readAcls(cursor: ByteCursor): AclLists {
  const lists = new Map<bigint, readonly AclEntry[]>();
  for (let left = cursor.count('the number of ACLs', 12); left > 0; left--) {
    const id = cursor.long('an ACL');
    lists.set(id, readAclList(cursor));
  }
  return lists;
}

interface ReadTree {
  nodes: number;
  dataBytes: number;
  missingAcls: number;
  readonly digest: TreeDigest;
}

function readNodes(
  cursor: ByteCursor,
  acls: AclLists,
  visit: (node: SnapshotNode) => void,
): ReadTree {
  const tree: ReadTree = { nodes: 0, dataBytes: 0, missingAcls: 0, digest: new TreeDigest() };
  const paths = new Paths();
  const encoded = new EncodedNode();
  for (let at = cursor.offset; encoded.next(cursor); at = cursor.offset) {
    const node = nodeOf(encoded, cursor, acls);
    paths.add(node.path, at);
    tree.nodes += 1;
    tree.dataBytes += node.data?.length ?? 0;
    if (node.acl === null) tree.missingAcls += 1;
    tree.digest.addEncoded(encoded, cursor);
    visit(node);
  }
  return tree;
}

/** Those of the znodes that were read: each is there once, and comes after its parent. */
class Paths {
  readonly #known = new Set<string>();
  /** Siblings follow each other, so the parent of most is that of the one before. */
  #parent: string | null = null;

  add(path: string, at: number): void {
    const { size } = this.#known;
    if (this.#known.add(path).size === size) {
      throw new FileError(`the znode "${path}" is there twice`, at);
    }
    if (path === '') return;
    if (!path.startsWith('/')) throw new FileError(`"${path}" is no path`, at);
    const parent = parentOf(path);
    if (parent === this.#parent) return;
    if (!this.#known.has(parent === '/' ? '' : parent)) {
      throw new FileError(`the znode "${path}" comes before its parent`, at);
    }
    this.#parent = parent;
  }
}

function nodeOf(encoded: EncodedNode, { bytes, view }: ByteCursor, acls: AclLists): SnapshotNode {
  const { pathStart, pathEnd, dataStart, dataEnd, hasData, aclIdStart, numbersStart } = encoded;
  const aclId = view.getBigInt64(aclIdStart);
  return {
    path: bytes.toString('utf8', pathStart, pathEnd),
    data: hasData ? bytes.subarray(dataStart, dataEnd) : null,
    acl: acls.get(aclId) ?? (aclId === OPEN_ACL ? OPEN_LIST : null),
    czxid: view.getBigInt64(numbersStart),
    mzxid: view.getBigInt64(numbersStart + 8),
    ctime: view.getBigInt64(numbersStart + 16),
    mtime: view.getBigInt64(numbersStart + 24),
    version: view.getInt32(numbersStart + 32),
    cversion: view.getInt32(numbersStart + 36),
    aversion: view.getInt32(numbersStart + 40),
    ephemeralOwner: view.getBigInt64(numbersStart + 44),
    pzxid: view.getBigInt64(numbersStart + 52),
  };
}

function readDigest(cursor: ByteCursor, checksums: Checksums, digest: TreeDigest): SnapshotDigest {
  const zxid = cursor.long('the digest');
  const at = cursor.offset;
  const version = cursor.int('the digest');
  if (version !== DIGEST_VERSION) {
    throw new FileError(`its digest has the version ${version}, not ${DIGEST_VERSION}`, at);
  }
  const kept = BigInt.asUintN(64, cursor.long('the digest'));
  checksums.check();
  return { zxid, version, kept, computed: digest.value };
}

function readLastZxid(cursor: ByteCursor, checksums: Checksums): bigint {
  const zxid = cursor.long('the last zxid');
  checksums.check();
  return zxid;
}
