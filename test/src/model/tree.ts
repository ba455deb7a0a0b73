/**
 * The model's znodes and every write to them: one function each, with checks in the order that
 * matters.
 *
 * It is a map of plain objects. Zxids and times are numbers of the sequence's own transactions, and
 * session ids its own numbers; the comparison maps them. A write returns its result or throws a
 * Refusal, and then changes nothing except inside a multi, which the model undoes with a copy.
 */
import { type Acl, CreateFlag, ErrorCode, Perms, TTL_MAX_MS } from '@rookery/protocol';
import { allows, type Identity, storedAcl } from './access.js';
import type { CreateOp, SetAclOp, SetDataOp, VersionOp } from './operations.js';
import {
  type Growth,
  isOverQuota,
  measuredBy,
  QUOTA_ROOT,
  readStats,
  statsOf,
  statsText,
} from './quotas.js';
import { IdOf, TimeOf, ZxidOf } from './symbols.js';
import { parentOf } from './watches.js';

export interface Znode {
  data: string | null;
  acl: readonly Acl[];
  readonly created: number;
  modified: number;
  childrenModified: number;
  version: number;
  aclVersion: number;
  /** The number of children ever created. */
  creates: number;
  /** A session's number; 0 for none. */
  readonly owner: number;
  children: number;
}

/** The requester: the transaction, the session, its ids. */
export interface Asker {
  readonly txn: number;
  readonly session: number;
  readonly ids: readonly Identity[];
  /** The answer to an ephemeral create; undefined if the session may own one. */
  readonly ephemeralRefusal: number | undefined;
  /** The tree against which quotas are measured: only what is applied. */
  readonly applied: ModelTree;
}

export class Refusal extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`refused with ${code}`);
    this.code = code;
  }
}

/** Compares by code units. */
const FORBIDDEN = [
  [0, 0x1f],
  [0x7f, 0x9f],
  [0xd800, 0xf8ff],
  [0xfff0, 0xffff],
] as const;
/** These exist from the start, and their content depends on more than one sequence. */
export const SHARED: readonly string[] = [
  '/',
  '/zookeeper',
  '/zookeeper/quota',
  '/zookeeper/config',
];

export class ModelTree {
  #nodes = new Map<string, Znode>();

  constructor() {
    const acl = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
    for (const path of ['/', '/zookeeper', QUOTA_ROOT]) {
      this.#nodes.set(path, newNode({ data: '', acl, txn: 0, owner: 0 }));
    }
    const readers = [{ perms: Perms.read, scheme: 'world', id: 'anyone' }];
    this.#nodes.set('/zookeeper/config', newNode({ data: '', acl: readers, txn: 0, owner: 0 }));
  }

  copy(): ModelTree {
    const copy = new ModelTree();
    copy.#nodes = new Map([...this.#nodes].map(([path, node]) => [path, { ...node }]));
    return copy;
  }

  find(path: string): Znode | undefined {
    return this.#nodes.get(path);
  }

  paths(): string[] {
    return [...this.#nodes.keys()];
  }

  childrenOf(path: string): string[] {
    const start = path === '/' ? '/' : `${path}/`;
    const below = this.paths().filter((other) => other.startsWith(start) && other !== path);
    return below.map((other) => other.slice(start.length)).filter((name) => !name.includes('/'));
  }

  descendantsOf(path: string): string[] {
    return this.paths().filter((other) => other.startsWith(`${path}/`));
  }

  ephemeralsOf(session: number): string[] {
    return this.paths().filter((path) => this.#nodes.get(path)?.owner === session);
  }

  statOf(node: Znode) {
    return {
      czxid: new ZxidOf(node.created),
      mzxid: new ZxidOf(node.modified),
      ctime: new TimeOf(node.created),
      mtime: new TimeOf(node.modified),
      version: node.version,
      cversion: 2 * node.creates - node.children,
      aversion: node.aclVersion,
      ephemeralOwner: new IdOf(node.owner),
      dataLength: bytesIn(node.data),
      numChildren: node.children,
      pzxid: new ZxidOf(node.childrenModified),
    };
  }

  /** Returns the path that was created. */
  create(op: CreateOp, path: string, asker: Asker): string {
    const { flags } = op;
    check(flags >= 0 && flags <= 6, ErrorCode.badArguments);
    const hasTtl = flags === CreateFlag.persistentWithTtl;
    const isTtl = hasTtl || flags === CreateFlag.persistentSequentialWithTtl;
    check(isTtl === (op.op === 'createTtl'), ErrorCode.badArguments);
    if (isTtl) check(op.ttlMs >= 1 && op.ttlMs <= TTL_MAX_MS, ErrorCode.badArguments);
    const isEphemeral = flags === CreateFlag.ephemeral || flags === CreateFlag.ephemeralSequential;
    const { ephemeralRefusal } = asker;
    if (isEphemeral && ephemeralRefusal !== undefined) throw new Refusal(ephemeralRefusal);
    check(path.includes('/') && !path.includes('\0'), ErrorCode.badArguments);
    const acl = storedAcl(op.acl, asker.ids);
    if (typeof acl === 'number') throw new Refusal(acl);
    const parentPath = parentOf(path);
    const parent = this.#need(parentPath);
    check(allows(parent.acl, asker.ids, Perms.create), ErrorCode.noAuth);
    const sequential = flags === 2 || flags === 3 || flags === 6;
    const suffix = sequential ? String(parent.creates).padStart(10, '0') : '';
    const full = path + suffix;
    check(isLegal(full), ErrorCode.badArguments);
    check(!this.#nodes.has(full), ErrorCode.nodeExists);
    check(parent.owner === 0, ErrorCode.noChildrenForEphemerals);
    const bytes = bytesIn(op.data);
    check(!asker.applied.isOverQuota(full, { count: 1, bytes }), ErrorCode.quotaExceeded);
    const owner = isEphemeral ? asker.session : 0;
    this.#nodes.set(full, newNode({ data: op.data, acl, txn: asker.txn, owner }));
    parent.children += 1;
    parent.creates += 1;
    parent.childrenModified = asker.txn;
    this.#measure(full);
    this.#count(full, { count: 1, bytes });
    return full;
  }

  delete(op: VersionOp, path: string, asker: Asker): void {
    check(path.includes('/') && !path.includes('\0'), ErrorCode.badArguments);
    check(!SHARED.includes(path), ErrorCode.badArguments);
    const parent = this.#need(parentOf(path));
    check(allows(parent.acl, asker.ids, Perms.delete), ErrorCode.noAuth);
    const node = this.#need(path);
    checkVersion(op.version, node.version);
    check(node.children === 0, ErrorCode.notEmpty);
    this.remove(path, asker.txn);
  }

  setData(op: SetDataOp, path: string, asker: Asker): Znode {
    check(isLegal(path), ErrorCode.badArguments);
    const node = this.#need(path);
    check(allows(node.acl, asker.ids, Perms.write), ErrorCode.noAuth);
    const growth = { count: 0, bytes: bytesIn(op.data) - bytesIn(node.data) };
    check(!asker.applied.isOverQuota(path, growth), ErrorCode.quotaExceeded);
    checkVersion(op.version, node.version);
    node.data = op.data;
    node.version += 1;
    node.modified = asker.txn;
    this.#count(path, growth);
    return node;
  }

  setAcl(op: SetAclOp, path: string, asker: Asker): Znode {
    check(isLegal(path), ErrorCode.badArguments);
    const acl = storedAcl(op.acl, asker.ids);
    if (typeof acl === 'number') throw new Refusal(acl);
    const node = this.#need(path);
    check(allows(node.acl, asker.ids, Perms.admin), ErrorCode.noAuth);
    checkVersion(op.version, node.aclVersion);
    node.acl = acl;
    node.aclVersion += 1;
    return node;
  }

  check(op: VersionOp, path: string, asker: Asker): void {
    check(isLegal(path), ErrorCode.badArguments);
    const node = this.#need(path);
    check(allows(node.acl, asker.ids, Perms.read), ErrorCode.noAuth);
    checkVersion(op.version, node.version);
  }

  /** Deletes without any check, as the end of a session also does. */
  remove(path: string, txn: number): void {
    const { data } = this.#need(path);
    this.#nodes.delete(path);
    const parent = this.#need(parentOf(path));
    parent.children -= 1;
    parent.childrenModified = txn;
    this.#count(path, { count: -1, bytes: -bytesIn(data) });
  }

  isOverQuota(path: string, growth: Growth): boolean {
    return isOverQuota(path, growth, (at) => this.find(at)?.data);
  }

  /** Updating statistics is not a write: only the data changes. */
  #count(path: string, by: Growth): void {
    const stats = this.find(statsOf(path, (at) => this.find(at)?.data) ?? '');
    if (stats === undefined) return;
    const { count, bytes } = readStats(stats.data ?? '');
    stats.data = statsText({ count: count + by.count, bytes: bytes + by.bytes });
  }

  /** A new stats node immediately contains the present values, including the path itself. */
  #measure(stats: string): void {
    const top = measuredBy(stats);
    if (top === undefined) return;
    const own = this.#nodes.has(top) ? [top] : [];
    const all = [...own, ...this.descendantsOf(top)].map((path) => this.#need(path));
    const bytes = all.reduce((sum, { data }) => sum + bytesIn(data), 0);
    this.#need(stats).data = statsText({ count: all.length, bytes });
  }

  #need(path: string): Znode {
    const node = this.#nodes.get(path);
    if (node === undefined) throw new Refusal(ErrorCode.noNode);
    return node;
  }
}

function bytesIn(data: string | null): number {
  return Buffer.byteLength(data ?? '');
}

function isLegal(path: string): boolean {
  if (path === '/') return true;
  if (path === '') return false;
  const [beforeSlash, ...names] = path.split('/');
  return beforeSlash === '' && names.every(isLegalName);
}

function isLegalName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false;
  return [...name.split('')].every((char) => {
    const code = char.charCodeAt(0);
    return !FORBIDDEN.some(([from, to]) => code >= from && code <= to);
  });
}

function newNode(from: {
  readonly data: string | null;
  readonly acl: readonly Acl[];
  readonly txn: number;
  readonly owner: number;
}): Znode {
  const { data, acl, txn, owner } = from;
  const zxids = { created: txn, modified: txn, childrenModified: txn };
  return { data, acl, ...zxids, version: 0, aclVersion: 0, creates: 0, owner, children: 0 };
}

function check(holds: boolean, otherwise: number): void {
  if (!holds) throw new Refusal(otherwise);
}

function checkVersion(expected: number, actual: number): void {
  check(expected === -1 || expected === actual, ErrorCode.badVersion);
}
