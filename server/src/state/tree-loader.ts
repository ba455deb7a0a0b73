/**
 * Recovers the tree: loads znodes from the record blocks of a checkpoint directly into rows.
 *
 * Blocks come in any order. A checksum guarded their content; even so, nothing in them makes a tree
 * that applying transactions could not have made. There is no object and no string for each znode:
 * names are hashed, compared and copied as bytes. Made by Tree; useless after `finish`.
 */
import { parentOf, validatePath } from '@rookery/protocol';
import { DamagedCheckpointError, must } from './damage.js';
import type { Digest, Hash64 } from './digest.js';
import type { Ephemerals } from './ephemerals.js';
import { hashName, hashPrefix, type NameBytes } from './memory/hash.js';
import { DOUBLE, INT, linkChild, modeOf, NONE, type TimedNodes } from './memory/node-store.js';
import type { PathFinder } from './memory/path-finder.js';
import type { PathPrefix } from './memory/path-hash.js';
import type { SubtreeCounts } from './memory/subtree-counts.js';
import { type BlockContent, CONFIG_NODE, RECORD_BITS, type RecordSource } from './node-record.js';
import { BlockReader, isDead } from './record-blocks.js';
import { znodeBytes } from './tree-bytes.js';
import { isTimed, MODE } from './txn.js';

/** The tree that is being loaded. */
export interface LoadedTree extends RecordSource {
  readonly paths: PathFinder;
  readonly ephemerals: Ephemerals;
  readonly timed: TimedNodes;
  readonly subtrees: SubtreeCounts;
  readonly digest: Digest;
  /** Nodes below this one exist from the beginning and are in the digest. */
  readonly freshCount: number;
}

export interface BlockToLoad {
  readonly number: number;
  readonly value: Uint8Array;
  readonly dead: Uint8Array | null;
}

/** The parent whose children are loaded at the moment. */
interface Family {
  /** NONE for the root's. */
  readonly parent: number;
  /** The prefix that all their paths share, and its hash as the digest uses it. */
  readonly prefix: PathPrefix;
  readonly hash: number;
}

const ROOT_NODE = 0;
const NO_FAMILY = -1;
const FAMILIES_MAX = 1 << 14;
/** The length of a path that is remembered; there are at most 4 million of them. */
const FAMILY_CHARS_MAX = 256;
const AWAITED_SHIFT = 16;

export class TreeLoader {
  readonly #tree: LoadedTree;
  #dataSize = 0;
  #znodesBytes = 0;
  /**
   * The family of the record that was loaded last, and where its path is in that record's block.
   */
  #family: Family;
  #familyAt = NO_FAMILY;
  /**
   * The records of that family, and the bytes of their data, that are not counted at its ancestors
   * yet.
   */
  #familyCount = 0;
  #familyBytes = 0;
  #aclId = NONE;
  #aclAt = 0;
  /** Some of the families that were requested so far, by path. */
  readonly #families = new Map<string, Family>();
  /** The nodes whose records announce children. */
  readonly #parents: number[] = [];
  /** The number of rows without a record. */
  #awaitedCount: number;
  /** Indexed by the first bits of a path's hash: 1 if an awaited path has, or had, those bits. */
  readonly #awaited = new Uint8Array(1 << (32 - AWAITED_SHIFT));

  constructor(tree: LoadedTree) {
    this.#tree = tree;
    this.#family = this.#familyOf('/');
    tree.subtrees.clear();
    this.#awaitedCount = tree.freshCount;
    for (let node = 0; node < tree.freshCount; node++) {
      this.#await(tree.store.int(node, INT.indexHash));
    }
  }

  /** The path characters plus data bytes of everything that was loaded. */
  get dataSize(): number {
    return this.#dataSize;
  }

  /** The estimate of Tree for everything that was loaded. */
  get znodesBytes(): number {
    return this.#znodesBytes;
  }

  /** A dead record has NONE for a node. Throws DamagedCheckpointError. */
  load({ number, value, dead }: BlockToLoad): BlockContent {
    const reader = new BlockReader(value);
    must(dead === null || isBitmap(dead, reader.count), 'a bitmap does not fit its block');
    const nodes = new Int32Array(reader.count).fill(NONE);
    const sizes = new Int32Array(reader.count);
    this.#familyAt = NO_FAMILY;
    this.#aclAt = 0;
    while (reader.next()) {
      const { index } = reader;
      sizes[index] = reader.sizeBytes;
      if (dead === null || !isDead(dead, index)) {
        nodes[index] = this.#loadRecord(reader, (number << RECORD_BITS) | index);
      }
    }
    return { nodes, sizes };
  }

  /** Throws DamagedCheckpointError if records are missing. */
  finish(): void {
    const { store, paths } = this.#tree;
    paths.addUpTo(store.limit);
    this.#countFamily();
    must(this.#awaitedCount === 0, `records are missing: ${this.#awaitedCount}`);
    let told = 0;
    for (const node of this.#parents) {
      const announced = store.int(node, INT.mark);
      const childCount = store.int(node, INT.childCount);
      if (childCount !== announced) {
        const counts = `${childCount} instead of ${announced}`;
        throw new DamagedCheckpointError(`${this.#tree.path(node)} has children: ${counts}`);
      }
      told += announced;
      store.setInt(node, INT.mark, 0);
    }
    // Every row but the root's is a child: if none of these belongs to another parent, there are no
    // others.
    must(told === store.count - 1, `${store.count - 1} znodes are children, ${told} are told of`);
  }

  #loadRecord(reader: BlockReader, record: number): number {
    const { store, digest, acls } = this.#tree;
    const { ints, at } = reader;
    if (this.#familyAt !== reader.parentStart) {
      const { bytes, parentStart, parentEnd } = reader;
      this.#countFamily();
      this.#family = this.#familyAgain(bytes.toString('utf8', parentStart, parentEnd));
      this.#familyAt = parentStart;
    }
    const node = this.#rowFor(reader);
    const content = this.#loadPayload(node, reader);
    must(
      ints[at + INT.contentLow] === content.low && ints[at + INT.contentHigh] === content.high,
      'a record has another hash than its content',
    );
    const row = store.intPage(node);
    const base = store.intBase(node);
    row[base + INT.mark] = reader.childCount;
    row[base + INT.aclId] = this.#aclOf(reader);
    row[base + INT.record] = record;
    digest.loadNode(store, acls, node, ints, at);
    const mode = modeOf(reader.shape);
    this.#checkNumbers(node, mode);
    this.#list(node, mode);
    if (reader.childCount > 0) {
      must(mode !== MODE.ephemeral, 'an ephemeral has children');
      this.#parents.push(node);
    }
    const nameLength = (reader.end - reader.start) / reader.unitBytes;
    const dataBytes = Math.max(0, row[base + INT.dataBytes] ?? 0);
    this.#dataSize += this.#family.prefix.text.length + nameLength + dataBytes;
    this.#znodesBytes += znodeBytes(reader.end - reader.start, Math.max(0, reader.dataBytes));
    this.#familyCount++;
    this.#familyBytes += dataBytes;
    return node;
  }

  /** Counts once for all of it that came consecutively. */
  #countFamily(): void {
    this.#tree.subtrees.count(this.#family.parent, this.#familyCount, this.#familyBytes);
    this.#familyCount = 0;
    this.#familyBytes = 0;
  }

  /** Returns a new row, or the one of a path that is known without its record. */
  #rowFor(name: BlockReader): number {
    const { store, paths, payloads, digest, acls, freshCount } = this.#tree;
    const { parent, prefix } = this.#family;
    const isRoot = parent === NONE;
    must(isRoot ? name.start === name.end : isName(name), 'a record has a name that is none');
    const hash = isRoot ? 0 : paths.hashOfName(prefix, name);
    const known = isRoot ? ROOT_NODE : this.#awaitedChild(parent, hash, name);
    if (known === NONE) {
      return this.#addRow(parent, hash);
    }
    must(store.int(known, INT.record) === 0, 'two records are of the same path');
    this.#awaitedCount--;
    if (known < freshCount) {
      digest.countNode(store, acls, known, -1);
      acls.release(store.int(known, INT.aclId));
    }
    if (known !== CONFIG_NODE) {
      payloads.free(known);
    }
    return known;
  }

  /** Loads name and data; returns their hash. */
  #loadPayload(node: number, reader: BlockReader): Hash64 {
    const { store, payloads, digest } = this.#tree;
    const { ints, bytes, start, end, dataBytes } = reader;
    const pathHash = node === ROOT_NODE ? 0 : hashName(this.#family.hash, reader);
    if (node === CONFIG_NODE) {
      must(dataBytes === NONE, 'the local znode has data in a checkpoint');
      return digest.contentOf(store, payloads, node, pathHash);
    }
    store.setInt(node, INT.dataBytes, dataBytes);
    const size = end + Math.max(0, dataBytes) - start;
    const part = { words: ints, bytes, at: start >>> 2 };
    return digest.loadContent(store, payloads, node, { pathHash, size, part });
  }

  /**
   * Finds only nodes without a record: a second record shows in the digest and in its parent's
   * children.
   */
  #awaitedChild(parent: number, hash: number, name: NameBytes): number {
    if (this.#awaitedCount === 0 || this.#awaited[hash >>> AWAITED_SHIFT] === 0) {
      return NONE;
    }
    const { store, paths } = this.#tree;
    paths.addUpTo(store.limit);
    return paths.findChild(parent, hash, name);
  }

  #addRow(parent: number, hash: number): number {
    const { store } = this.#tree;
    const node = store.allocate();
    const row = store.intPage(node);
    const base = store.intBase(node);
    row[base + INT.firstChild] = NONE;
    row[base + INT.indexHash] = hash;
    linkChild(store, parent, node);
    return node;
  }

  #aclOf(reader: BlockReader): number {
    const { acls } = this.#tree;
    if (this.#aclAt === reader.aclStart) {
      return acls.useAgain(this.#aclId);
    }
    this.#aclAt = reader.aclStart;
    this.#aclId = acls.useEncoded(reader.bytes, reader.aclStart, reader.aclEnd);
    return this.#aclId;
  }

  #checkNumbers(node: number, mode: number): void {
    const { store } = this.#tree;
    const row = store.doublePage(node);
    const base = store.doubleBase(node);
    const owner = row[base + DOUBLE.owner] ?? 0;
    const areCounts =
      isCount(row[base + DOUBLE.czxid] ?? 0) &&
      isCount(row[base + DOUBLE.mzxid] ?? 0) &&
      isCount(row[base + DOUBLE.pzxid] ?? 0) &&
      isCount(owner);
    must(areCounts, 'a zxid or an owner is out of range');
    const owned = mode === MODE.ephemeral || mode === MODE.ttl;
    must(owned === owner > 0, 'a mode does not go with its owner');
  }

  #list(node: number, mode: number): void {
    if (mode === MODE.ephemeral) {
      this.#tree.ephemerals.add(node, this.#tree.store.double(node, DOUBLE.owner));
    } else if (isTimed(mode)) {
      this.#tree.timed.add(node);
    }
  }

  /** Records of changed znodes come in any order, and most of them belong to few directories. */
  #familyAgain(path: string): Family {
    if (path.length > FAMILY_CHARS_MAX) {
      return this.#familyOf(path);
    }
    const known = this.#families.get(path);
    if (known !== undefined) {
      return known;
    }
    if (this.#families.size === FAMILIES_MAX) {
      this.#families.clear();
    }
    const family = this.#familyOf(path);
    this.#families.set(path, family);
    return family;
  }

  /** `path` is that of the parent, '' for the root's own record. */
  #familyOf(path: string): Family {
    must(path === '' || validatePath(path) === null, 'a record has a parent that is no path');
    const prefix = path === '' || path === '/' ? '/' : `${path}/`;
    const parent = path === '' ? NONE : this.#findOrPlacehold(path);
    const { paths } = this.#tree;
    return { parent, prefix: paths.prefixOf(prefix), hash: hashPrefix(prefix) };
  }

  #await(hash: number): void {
    this.#awaited[hash >>> AWAITED_SHIFT] = 1;
  }

  /** Not recursive, because a path may be deeper than the stack. */
  #findOrPlacehold(path: string): number {
    const { store, paths, payloads } = this.#tree;
    paths.addUpTo(store.limit);
    const missing: string[] = [];
    let known = path;
    let node = paths.find(known);
    for (; node === NONE; node = paths.find(known)) {
      missing.push(known);
      known = parentOf(known);
    }
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      const hash = paths.hashOf(next);
      node = this.#addRow(node, hash);
      payloads.write(node, next, null);
      this.#awaitedCount++;
      this.#await(hash);
    }
    return node;
  }
}

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
