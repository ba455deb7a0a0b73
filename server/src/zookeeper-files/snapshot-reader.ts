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
 *
 * The file comes in parts of any size, of which no more than one field and the part behind it is
 * held. The paths of all znodes, sessions and ACLs are, because each must be there once: together
 * up to a bound, beyond which FileBoundError is thrown.
 */
import { parentOf } from '@rookery/protocol';
import { Adler32, ByteCursor, FileBoundError, FileError, MoreBytesNeeded } from './byte-cursor.js';
import {
  type AclEntry,
  EncodedNode,
  OPEN_LIST,
  readAclList,
  type SnapshotNode,
} from './snapshot-node.js';
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
/** The id of the open list, which no file writes out. */
export const OPEN_ACL = -1n;
const DIGEST_BYTES = 20 + 13;
const LAST_ZXID_BYTES = 8 + 13;

/** A trailer of each kind, and the checksum before them. */
const END_BYTES_MAX = 13 + DIGEST_BYTES + LAST_ZXID_BYTES;
/** What an entry of a Set or Map takes beside its text. */
const ENTRY_BYTES = 64;
/** About 10,000,000 znodes with paths of 40 characters; a Set holds no more than 2^24. */
const KEPT_BYTES_MAX = 1 << 30;
const KEPT_MAX = 2 ** 24 - 1;

type Visit = (node: SnapshotNode) => void;

/** `visit` is called for each znode, parents before children. */
export function readSnapshot(bytes: Buffer, visit: Visit): SnapshotFacts {
  const reader = new SnapshotReader(visit);
  reader.push(bytes);
  return reader.end();
}

/** What `visit` is given shares the memory of the parts, or of copies of them. */
export class SnapshotReader {
  readonly #cursor = new ByteCursor(Buffer.alloc(0), { isLast: false });
  readonly #checksums = new Checksums(this.#cursor);
  readonly #steps: Generator<void, SnapshotFacts>;
  #parts: Buffer[] = [];
  #partsBytes = 0;
  /** The bytes without which it cannot go on. */
  #neededBytes = 0;

  constructor(visit: Visit) {
    this.#steps = this.#read(visit);
  }

  /** The number of bytes that were read. */
  get bytes(): number {
    return this.#cursor.position;
  }

  /** The next part, which must not change any more. Throws FileError and FileBoundError. */
  push(part: Buffer): void {
    this.#parts.push(part);
    this.#partsBytes += part.length;
    if (this.#partsBytes < this.#neededBytes) return;
    this.#refill(false);
    this.#steps.next();
  }

  /** After the last part; once. Throws FileError and FileBoundError. */
  end(): SnapshotFacts {
    this.#refill(true);
    const last = this.#steps.next();
    if (last.done !== true) throw new FileError('the file ends too early', this.bytes);
    return last.value;
  }

  #refill(isLast: boolean): void {
    this.#checksums.sumUp();
    this.#cursor.refill(this.#parts, isLast);
    this.#parts = [];
    this.#partsBytes = 0;
  }

  /** Yields where it needs more bytes. */
  *#read(visit: Visit): Generator<void, SnapshotFacts> {
    const cursor = this.#cursor;
    const kept = new KeptEntries();
    yield* this.#whole(() => readHeader(cursor));
    const sessions = new Map<bigint, number>();
    const sessionCount = yield* this.#whole(() => cursor.count('the number of sessions', 12));
    for (let left = sessionCount; left > 0; left--) {
      const [id, timeoutMs] = yield* this.#whole(() => readSession(cursor));
      kept.add(0, cursor);
      sessions.set(id, timeoutMs);
    }
    const acls = new Map<bigint, readonly AclEntry[]>();
    const aclCount = yield* this.#whole(() => cursor.count('the number of ACLs', 12));
    for (let left = aclCount; left > 0; left--) {
      const [id, list] = yield* this.#whole(() => readAcl(cursor));
      // Each entry has two texts of its own.
      for (const entry of list)
        kept.add(ENTRY_BYTES + entry.scheme.length + entry.id.length, cursor);
      kept.add(0, cursor);
      acls.set(id, list);
    }
    const nodes = new NodeReader(cursor, { acls, kept, visit });
    while (!nodes.isDone) {
      const missing = nodes.readOn();
      if (missing !== null) yield* this.#more(missing);
    }
    while (!cursor.isLast && cursor.left <= END_BYTES_MAX) yield* this.#more(1);
    const { tree } = nodes;
    return factsOf(tree, { sessions, aclLists: acls.size, ...this.#trailers(tree.digest) });
  }

  #trailers(digest: TreeDigest) {
    const cursor = this.#cursor;
    const checksums = this.#checksums;
    checksums.check();
    const { left } = cursor;
    const known = [0, LAST_ZXID_BYTES, DIGEST_BYTES, DIGEST_BYTES + LAST_ZXID_BYTES];
    if (!known.includes(left)) {
      const count = cursor.isLast ? left : `more than ${END_BYTES_MAX - 13}`;
      throw new FileError(
        `${count} bytes follow the checksum, which no release writes`,
        cursor.position,
      );
    }
    const kept = left >= DIGEST_BYTES ? readDigest(cursor, checksums, digest) : null;
    // Before the first transaction, ZooKeeper writes 0 for both.
    const isUnchanged = kept !== null && kept.zxid === 0n && kept.kept === 0n;
    const lastZxid = cursor.left > 0 ? readLastZxid(cursor, checksums) : null;
    return { digest: isUnchanged ? null : kept, isUnchanged, lastZxid };
  }

  /** Begins `read` again once there are more bytes, if it needs them. */
  *#whole<T>(read: () => T): Generator<void, T> {
    for (;;) {
      const from = this.#cursor.offset;
      try {
        return read();
      } catch (thrown) {
        if (!(thrown instanceof MoreBytesNeeded)) throw thrown;
        this.#cursor.offset = from;
        // A list is begun again from its start, so the window at least doubles for it.
        yield* this.#more(Math.max(thrown.bytes, this.#cursor.left));
      }
    }
  }

  *#more(bytes: number): Generator<void, void> {
    this.#neededBytes = bytes;
    yield;
  }
}

/** Bounds what is held of all entries of a file. */
class KeptEntries {
  #count = 0;
  #bytes = 0;

  add(bytes: number, { position }: ByteCursor): void {
    this.#count += 1;
    this.#bytes += ENTRY_BYTES + bytes;
    if (this.#count <= KEPT_MAX && this.#bytes <= KEPT_BYTES_MAX) return;
    throw new FileBoundError(
      `it has more znodes, sessions and ACLs than can be checked: at byte ${position} there are ` +
        `${this.#count}, whose paths and texts take about ${this.#bytes} bytes of memory; at most ` +
        `${KEPT_MAX}, and ${KEPT_BYTES_MAX} bytes, can be held`,
    );
  }
}

/** Each checksum covers all that is before it, the checksums before it included. */
class Checksums {
  readonly #cursor: ByteCursor;
  readonly #adler = new Adler32();
  /** Up to where in the window the bytes are summed up. */
  #from = 0;

  constructor(cursor: ByteCursor) {
    this.#cursor = cursor;
  }

  /** Before the window moves on to begin at the cursor. */
  sumUp(): void {
    this.#adler.update(this.#cursor.between(this.#from, this.#cursor.offset));
    this.#from = 0;
  }

  check(): void {
    const cursor = this.#cursor;
    const at = cursor.offset;
    const { position } = cursor;
    this.#adler.update(cursor.between(this.#from, at));
    const computed = this.#adler.value;
    const written = BigInt.asUintN(64, cursor.long('a checksum'));
    const mark = cursor.text('a checksum');
    this.#adler.update(cursor.between(at, cursor.offset));
    this.#from = cursor.offset;
    if (mark !== '/') throw new FileError('a checksum is not followed by "/"', position);
    if (written !== BigInt(computed)) {
      const both = `${written.toString(16)} is written, ${computed.toString(16)} was computed`;
      throw new FileError(`the checksum is wrong: ${both}`, position);
    }
  }
}

function readHeader(cursor: ByteCursor): void {
  if (cursor.int('the header') !== MAGIC) {
    throw new FileError('it does not begin as a snapshot of ZooKeeper does', 0);
  }
  const version = cursor.int('the header');
  if (version !== VERSION) {
    throw new FileError(`its version is ${version}; this release reads version ${VERSION}`, 4);
  }
  cursor.long('the header');
}

function readSession(cursor: ByteCursor): readonly [id: bigint, timeoutMs: number] {
  const id = cursor.long('a session');
  return [id, cursor.int('a session')];
}

function readAcl(cursor: ByteCursor): readonly [id: bigint, list: readonly AclEntry[]] {
  const id = cursor.long('an ACL');
  return [id, readAclList(cursor)];
}

type AclLists = ReadonlyMap<bigint, readonly AclEntry[]>;

interface ReadTree {
  nodes: number;
  dataBytes: number;
  missingAcls: number;
  readonly digest: TreeDigest;
}

function factsOf(
  { nodes, dataBytes, missingAcls }: ReadTree,
  others: Omit<SnapshotFacts, 'nodes' | 'dataBytes' | 'missingAcls'>,
): SnapshotFacts {
  return { ...others, nodes, dataBytes, missingAcls };
}

class NodeReader {
  readonly tree: ReadTree = { nodes: 0, dataBytes: 0, missingAcls: 0, digest: new TreeDigest() };
  readonly #cursor: ByteCursor;
  readonly #acls: AclLists;
  readonly #visit: Visit;
  readonly #paths: Paths;
  readonly #encoded = new EncodedNode();
  #isDone = false;

  constructor(
    cursor: ByteCursor,
    { acls, kept, visit }: { acls: AclLists; kept: KeptEntries; visit: Visit },
  ) {
    this.#cursor = cursor;
    this.#acls = acls;
    this.#visit = visit;
    this.#paths = new Paths(kept);
  }

  /** Whether it has read the end of the znodes. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Reads all znodes of the window; the bytes that are missing then, or null at their end. */
  readOn(): number | null {
    const cursor = this.#cursor;
    const encoded = this.#encoded;
    let from = cursor.offset;
    try {
      for (; encoded.next(cursor); from = cursor.offset) this.#add(from);
    } catch (thrown) {
      if (!(thrown instanceof MoreBytesNeeded)) throw thrown;
      cursor.offset = from;
      return thrown.bytes;
    }
    this.#isDone = true;
    return null;
  }

  #add(from: number): void {
    const { tree } = this;
    const cursor = this.#cursor;
    const node = nodeOf(this.#encoded, cursor, this.#acls);
    this.#paths.add(node.path, cursor, from);
    tree.nodes += 1;
    tree.dataBytes += node.data?.length ?? 0;
    if (node.acl === null) tree.missingAcls += 1;
    tree.digest.addEncoded(this.#encoded, cursor);
    this.#visit(node);
  }
}

/** Those of the znodes that were read: each is there once, and comes after its parent. */
class Paths {
  readonly #known = new Set<string>();
  readonly #kept: KeptEntries;
  /** Siblings follow each other, so the parent of most is that of the one before. */
  #parent: string | null = null;

  constructor(kept: KeptEntries) {
    this.#kept = kept;
  }

  /** `from` is where the znode begins in the window. */
  add(path: string, cursor: ByteCursor, from: number): void {
    const problem = this.#problemOf(path);
    if (problem !== null) {
      throw new FileError(problem, cursor.position - cursor.offset + from);
    }
    this.#kept.add(path.length, cursor);
  }

  #problemOf(path: string): string | null {
    const { size } = this.#known;
    if (this.#known.add(path).size === size) return `the znode "${path}" is there twice`;
    if (path === '') return null;
    if (!path.startsWith('/')) return `"${path}" is no path`;
    const parent = parentOf(path);
    if (parent === this.#parent) return null;
    if (!this.#known.has(parent === '/' ? '' : parent)) {
      return `the znode "${path}" comes before its parent`;
    }
    this.#parent = parent;
    return null;
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
  const at = cursor.position;
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
