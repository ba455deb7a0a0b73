/**
 * Recovery of the tree: znodes from the packs of a checkpoint straight into rows.
 *
 * Packs come in any order. What is in them was guarded by a checksum; all the same nothing makes a
 * tree that apply would not have made. No object and no string per znode: names are hashed,
 * compared and copied as bytes. Made by Tree; of no use after `finish`.
 */
import { parentOf, validatePath } from '@rookery/protocol';
import { linkChild } from './child-list.js';
import { DamagedCheckpointError, must } from './damage.js';
import type { Digest } from './digest.js';
import type { Ephemerals } from './ephemerals.js';
import { hashName, hashPath, hashPrefix, type NameBytes } from './hash.js';
import { isTimed, MODE } from './modes.js';
import { CONFIG_NODE, type NodeParts, type PackContent, RECORD_BITS } from './node-record.js';
import { DIGEST_INTS, DOUBLE, INT, modeOf, NONE } from './node-store.js';
import { PackReader } from './pack-reader.js';
import { isDead } from './packs.js';
import type { PathIndex } from './path-index.js';
import type { TimedNodes } from './timed-nodes.js';

/** Of the tree that is being loaded. */
export interface TreeParts extends NodeParts {
  readonly index: PathIndex;
  readonly ephemerals: Ephemerals;
  readonly timed: TimedNodes;
  readonly digest: Digest;
  /** Nodes below this are there from the beginning, and in the digest. */
  readonly freshCount: number;
  find(path: string): number;
}

export interface PackToLoad {
  readonly number: number;
  readonly value: Uint8Array;
  readonly dead: Uint8Array | null;
}

/** Whose children come now. */
interface Family {
  /** NONE for the root's. */
  readonly parent: number;
  /** Of the path that all of them begin with. */
  readonly hash: number;
  readonly pathLength: number;
}

const ROOT_NODE = 0;
const NO_FAMILY = -1;

export class TreeLoader {
  readonly #parts: TreeParts;
  #dataSize = 0;
  /** The family of the record loaded last, and where in its pack that has its path. */
  #family: Family;
  #familyAt = NO_FAMILY;
  #aclId = NONE;
  #aclAt = 0;
  /** Rows without a record, and the hashes of their paths; some may be of rows that have one. */
  #awaitedCount: number;
  readonly #awaited = new Set<number>();

  constructor(parts: TreeParts) {
    this.#parts = parts;
    this.#family = this.#familyOf('/');
    this.#awaitedCount = parts.freshCount;
    for (let node = 0; node < parts.freshCount; node++) {
      this.#awaited.add(parts.store.int(node, INT.pathHash));
    }
  }

  /** Path characters plus data bytes of all that was loaded. */
  get dataSize(): number {
    return this.#dataSize;
  }

  /** A dead record has NONE for a node. Throws DamagedCheckpointError. */
  load({ number, value, dead }: PackToLoad): PackContent {
    const reader = new PackReader(value);
    must(dead === null || isBitmap(dead, reader.count), 'a bitmap does not fit its pack');
    const nodes = new Int32Array(reader.count).fill(NONE);
    const sizes = new Int32Array(reader.count);
    this.#familyAt = NO_FAMILY;
    this.#aclAt = 0;
    while (reader.next()) {
      const { index } = reader;
      sizes[index] = reader.sizeBytes;
      if (dead === null || !isDead(dead, index)) {
        const node = this.#loadRecord(reader);
        this.#parts.store.setInt(node, INT.record, (number << RECORD_BITS) | index);
        nodes[index] = node;
      }
    }
    return { nodes, sizes };
  }

  /** Throws DamagedCheckpointError when records are missing. */
  finish(): void {
    const { store } = this.#parts;
    for (let node = 0; node < store.limit; node++) {
      const row = store.intPage(node);
      const base = store.intBase(node);
      if (row[base + INT.record] === 0) {
        throw new DamagedCheckpointError(`there is no record for ${this.#parts.path(node)}`);
      }
      if (row[base + INT.mark] !== row[base + INT.childCount]) {
        const counts = `${row[base + INT.childCount]} instead of ${row[base + INT.mark]}`;
        throw new DamagedCheckpointError(`${this.#parts.path(node)} has children: ${counts}`);
      }
      const parent = row[base + INT.parent] ?? NONE;
      if (parent !== NONE && modeOf(store.int(parent, INT.shape)) === MODE.ephemeral) {
        throw new DamagedCheckpointError(`${this.#parts.path(node)} is the child of an ephemeral`);
      }
      row[base + INT.mark] = 0;
    }
  }

  #loadRecord(reader: PackReader): number {
    const { store, digest, acls } = this.#parts;
    if (this.#familyAt !== reader.parentStart) {
      const { bytes, parentStart, parentEnd } = reader;
      this.#family = this.#familyOf(bytes.toString('utf8', parentStart, parentEnd));
      this.#familyAt = parentStart;
    }
    const node = this.#rowFor(reader);
    const row = store.intPage(node);
    const base = store.intBase(node);
    for (let i = 0; i < DIGEST_INTS; i++) {
      row[base + i] = reader.ints[reader.at + i] ?? 0;
    }
    row[base + INT.mark] = reader.childCount;
    row[base + INT.aclId] = this.#aclOf(reader);
    this.#checkNumbers(node, modeOf(reader.shape));
    this.#list(node, modeOf(reader.shape));
    const content = digest.contentOf(this.#parts, node);
    must(
      row[base + INT.contentLow] === content.low && row[base + INT.contentHigh] === content.high,
      'a record has another hash than its content',
    );
    digest.countNode(store, acls, node, 1);
    const nameLength = (reader.end - reader.start) / reader.unitBytes;
    const dataBytes = Math.max(0, row[base + INT.dataBytes] ?? 0);
    this.#dataSize += this.#family.pathLength + nameLength + dataBytes;
    return node;
  }

  /** With name and data in it; a new one, or the one of a path that is known without its record. */
  #rowFor(name: PackReader): number {
    const { store, payloads, digest, acls, freshCount } = this.#parts;
    const { parent } = this.#family;
    const isRoot = parent === NONE;
    must(isRoot ? name.start === name.end : isName(name), 'a record has a name that is none');
    const hash = isRoot ? 0 : hashName(this.#family.hash, name);
    const known = isRoot ? ROOT_NODE : this.#awaitedChild(parent, hash, name);
    const node = known === NONE ? this.#addRow(parent, hash) : known;
    must(store.int(node, INT.record) === 0, 'two records are of the same path');
    if (known !== NONE) {
      this.#awaitedCount--;
    }
    if (node < freshCount) {
      digest.countNode(store, acls, node, -1);
      acls.release(store.int(node, INT.aclId));
    }
    if (node === CONFIG_NODE) {
      must(name.dataBytes === NONE, 'the local znode has data in a checkpoint');
      return node;
    }
    if (known !== NONE) {
      payloads.free(node);
    }
    store.setInt(node, INT.dataBytes, name.dataBytes);
    const size = name.end + Math.max(0, name.dataBytes) - name.start;
    const part = { words: name.ints, bytes: name.bytes, at: name.start >>> 2 };
    payloads.copyFrom(node, size, part);
    return node;
  }

  /** Not of those with a record: a second one shows in the digest, and its parent's children. */
  #awaitedChild(parent: number, hash: number, name: NameBytes): number {
    if (this.#awaitedCount === 0 || !this.#awaited.has(hash)) {
      return NONE;
    }
    const { store, index, payloads } = this.#parts;
    let node = index.first(hash);
    while (node !== NONE) {
      if (
        store.int(node, INT.pathHash) === hash &&
        store.int(node, INT.parent) === parent &&
        payloads.hasName(node, name)
      ) {
        return node;
      }
      node = index.next(node);
    }
    return NONE;
  }

  #addRow(parent: number, hash: number): number {
    const { store, index } = this.#parts;
    const node = store.allocate();
    store.setInt(node, INT.firstChild, NONE);
    store.setInt(node, INT.pathHash, hash);
    index.insertAtLoad(node);
    linkChild(store, parent, node);
    return node;
  }

  #aclOf(reader: PackReader): number {
    const { acls } = this.#parts;
    if (this.#aclAt === reader.aclStart) {
      return acls.useAgain(this.#aclId);
    }
    this.#aclAt = reader.aclStart;
    this.#aclId = acls.useEncoded(reader.bytes, reader.aclStart, reader.aclEnd);
    return this.#aclId;
  }

  #checkNumbers(node: number, mode: number): void {
    const { store } = this.#parts;
    for (const field of COUNTS) {
      must(isCount(store.double(node, field)), 'a zxid or an owner is out of range');
    }
    const owned = mode === MODE.ephemeral || mode === MODE.ttl;
    must(owned === store.double(node, DOUBLE.owner) > 0, 'a mode does not go with its owner');
  }

  #list(node: number, mode: number): void {
    if (mode === MODE.ephemeral) {
      this.#parts.ephemerals.add(node, this.#parts.store.double(node, DOUBLE.owner));
    } else if (isTimed(mode)) {
      this.#parts.timed.add(node);
    }
  }

  /** `path` is that of the parent, '' for the root's own record. */
  #familyOf(path: string): Family {
    must(path === '' || validatePath(path) === null, 'a record has a parent that is no path');
    const prefix = path === '' || path === '/' ? '/' : `${path}/`;
    const parent = path === '' ? NONE : this.#findOrPlacehold(path);
    return { parent, hash: hashPrefix(prefix), pathLength: prefix.length };
  }

  /** Not recursive: a path may be deeper than the stack. */
  #findOrPlacehold(path: string): number {
    const { find, payloads } = this.#parts;
    const missing: string[] = [];
    let known = path;
    let node = find(known);
    for (; node === NONE; node = find(known)) {
      missing.push(known);
      known = parentOf(known);
    }
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      const hash = hashPath(next);
      node = this.#addRow(node, hash);
      payloads.write(node, next, null);
      this.#awaitedCount++;
      this.#awaited.add(hash);
    }
    return node;
  }
}

const COUNTS = [DOUBLE.czxid, DOUBLE.mzxid, DOUBLE.pzxid, DOUBLE.owner] as const;

function isName({ bytes, start, end, unitBytes }: NameBytes): boolean {
  if (unitBytes === 2) {
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(
      'utf16le',
    );
    const isWide = [...name].some((char) => char.charCodeAt(0) > 0x7f);
    return (end - start) % 2 === 0 && isWide && isSegment(name);
  }
  for (let i = start; i < end; i++) {
    const unit = bytes[i] ?? 0;
    if (unit < 0x20 || unit >= 0x7f || unit === 0x2f) {
      return false;
    }
  }
  const isDots =
    bytes[start] === 0x2e &&
    (end - start === 1 || (end - start === 2 && bytes[start + 1] === 0x2e));
  return end > start && !isDots;
}

function isSegment(name: string): boolean {
  return !name.includes('/') && validatePath(`/${name}`) === null;
}

function isBitmap(dead: Uint8Array, count: number): boolean {
  const last = dead[dead.length - 1] ?? 0;
  return dead.length === (count + 7) >>> 3 && last >>> (((count - 1) & 7) + 1) === 0;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
