/**
 * A server for unit tests of code that uses the `Client` interface: a tree in memory, its sessions,
 * and listeners for its changes. It applies one operation after the other, synchronously and
 * deterministically.
 *
 * It behaves like a real server where recipes depend on it: sequence numbers, versions, the order
 * of the events of a change, atomic multis, error codes. ACLs are stored but not enforced; there
 * are no quotas, and containers and TTL znodes are not removed. Only for tests; its clients are in
 * fake-client.ts.
 */
import {
  BadArgumentsError,
  BadVersionError,
  EventType,
  InvalidAclError,
  type KeeperError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  nameOf,
  parentOf,
  SessionExpiredError,
  unreachable,
  validatePath,
} from '@rookery/protocol';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type { Acl, Created, CreateMode, Data, Node, Stat } from '../api/values.js';
import { OPEN_ACL } from '../client/multi.js';

export interface FakeChange {
  readonly type: EventType;
  readonly path: string;
  readonly zxid: bigint;
}

export type MultiOutcome =
  | { readonly kind: 'done'; readonly results: TransactionResult[] }
  | { readonly kind: 'failed'; readonly failedIndex: number; readonly error: KeeperError };

export interface FakeCreate {
  readonly path: string;
  readonly data: Data;
  readonly mode: CreateMode;
  readonly acl: readonly Acl[] | undefined;
  readonly session: bigint;
}

interface Znode {
  data: Buffer | null;
  readonly czxid: bigint;
  mzxid: bigint;
  pzxid: bigint;
  version: number;
  acl: readonly Acl[];
  aversion: number;
  readonly owner: bigint;
  /** How many children were ever created, which is the next sequence number. */
  creates: number;
  readonly children: Set<string>;
}

export class FakeServer {
  zxid = 0x1_0000_0000n;
  readonly #nodes = new Map<string, Znode>();
  readonly #sessions = new Set<bigint>();
  readonly #listeners = new Set<(change: FakeChange) => void>();
  #lastSession = 0x1_0000_0000_0000n;
  /** Functions that undo the changes of the current multi. */
  #undo: (() => void)[] = [];
  #changes: FakeChange[] = [];

  constructor() {
    this.#nodes.set('/', newZnode(0n, { data: null, acl: OPEN_ACL, owner: 0n }));
    this.create({ ...PLAIN, path: '/zookeeper' });
    this.create({ ...PLAIN, path: '/zookeeper/config', data: 'version=0' });
  }

  openSession(): bigint {
    this.#lastSession++;
    this.#sessions.add(this.#lastSession);
    return this.#lastSession;
  }

  hasSession(session: bigint): boolean {
    return this.#sessions.has(session);
  }

  /**
   * Ends a session by expiry or by a close: its ephemeral znodes are deleted, all with one zxid.
   */
  endSession(session: bigint): void {
    if (!this.#sessions.delete(session)) return;
    this.#commit(() => {
      for (const path of this.ephemeralsOf(session)) this.#remove(path, -1);
    });
  }

  /**
   * Calls the listener with each change when it is committed. Returns a function that removes it.
   */
  onChange(listener: (change: FakeChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(request: FakeCreate): Created {
    return this.#commit(() => this.#insert(request));
  }

  delete(path: string, version = -1): void {
    this.#commit(() => this.#remove(path, version));
  }

  setData(path: string, data: Data, version = -1): Stat {
    return this.#commit(() => this.#update(path, data, version));
  }

  setAcl(path: string, acl: readonly Acl[], version = -1): Stat {
    return this.#commit(() => {
      const node = this.#find(path);
      if (acl.length === 0) throw new InvalidAclError(path);
      if (version !== -1 && version !== node.aversion) throw new BadVersionError(path);
      Object.assign(node, { acl, aversion: node.aversion + 1 });
      return statOf(node);
    });
  }

  acl(path: string): readonly Acl[] {
    return this.#find(path).acl;
  }

  multi(ops: readonly TransactionOp[], session: bigint): MultiOutcome {
    let failedIndex = 0;
    try {
      const results = this.#commit(() =>
        ops.map((op, index) => {
          failedIndex = index;
          return this.#applyOne(op, session);
        }),
      );
      return { kind: 'done', results };
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return { kind: 'failed', failedIndex, error };
    }
  }

  stat(path: string): Stat | null {
    const node = this.#nodes.get(path);
    return node === undefined ? null : statOf(node);
  }

  read(path: string): Node {
    const node = this.#find(path);
    return { data: node.data === null ? null : Buffer.from(node.data), stat: statOf(node) };
  }

  /** Sorted, so that tests do not depend on the order of creation. */
  children(path: string): string[] {
    return [...this.#find(path).children].sort();
  }

  ephemeralsOf(session: bigint): string[] {
    return [...this.#nodes].filter(([, node]) => node.owner === session).map(([path]) => path);
  }

  /** All paths except those of the system, sorted, to check what has been left behind. */
  paths(): string[] {
    const all = [...this.#nodes.keys()].sort();
    return all.filter((path) => path !== '/' && !`${path}/`.startsWith('/zookeeper/'));
  }

  #applyOne(op: TransactionOp, session: bigint): TransactionResult {
    switch (op.kind) {
      case 'create': {
        const { path, data = null, mode = 'persistent', acl } = op;
        return { kind: 'create', ...this.#insert({ path, data, mode, acl, session }) };
      }
      case 'delete':
        this.#remove(op.path, op.version ?? -1);
        return { kind: 'delete' };
      case 'setData':
        return { kind: 'setData', stat: this.#update(op.path, op.data, op.version ?? -1) };
      case 'check':
        checkVersion(this.#find(op.path), op.path, op.version ?? -1);
        return { kind: 'check' };
      default:
        return unreachable(op);
    }
  }

  #insert({ path, data, mode, acl, session }: FakeCreate): Created {
    const sequential = mode.toLowerCase().includes('sequential');
    if (validatePath(path, { sequential }) !== null) throw new BadArgumentsError(path);
    if (acl !== undefined && acl.length === 0) throw new InvalidAclError(path);
    const parentPath = parentOf(path);
    const parent = this.#nodes.get(parentPath);
    if (parent === undefined) throw new NoNodeError(path);
    const full = sequential ? `${path}${String(parent.creates).padStart(10, '0')}` : path;
    if (this.#nodes.has(full)) throw new NodeExistsError(path);
    if (parent.owner !== 0n) throw new NoChildrenForEphemeralsError(path);
    const isEphemeral = mode === 'ephemeral' || mode === 'ephemeralSequential';
    if (isEphemeral && !this.#sessions.has(session)) throw new SessionExpiredError(path);
    const owner = isEphemeral ? session : 0n;
    const node = newZnode(this.zxid, { data, acl: acl ?? OPEN_ACL, owner });
    const { creates, pzxid } = parent;
    this.#nodes.set(full, node);
    parent.children.add(nameOf(full));
    parent.creates++;
    parent.pzxid = this.zxid;
    this.#undo.push(() => {
      this.#nodes.delete(full);
      parent.children.delete(nameOf(full));
      Object.assign(parent, { creates, pzxid });
    });
    this.#changed(EventType.created, full);
    this.#changed(EventType.childrenChanged, parentPath);
    return { path: full, stat: statOf(node) };
  }

  #remove(path: string, version: number): void {
    if (path === '/' || path === '/zookeeper') throw new BadArgumentsError(path);
    const node = this.#find(path);
    checkVersion(node, path, version);
    if (node.children.size > 0) throw new NotEmptyError(path);
    const parent = this.#find(parentOf(path));
    const { pzxid } = parent;
    this.#nodes.delete(path);
    parent.children.delete(nameOf(path));
    parent.pzxid = this.zxid;
    this.#undo.push(() => {
      this.#nodes.set(path, node);
      parent.children.add(nameOf(path));
      parent.pzxid = pzxid;
    });
    this.#changed(EventType.deleted, path);
    this.#changed(EventType.childrenChanged, parentOf(path));
  }

  #update(path: string, data: Data, version: number): Stat {
    const node = this.#find(path);
    checkVersion(node, path, version);
    const before = { data: node.data, version: node.version, mzxid: node.mzxid };
    Object.assign(node, { data: toBuffer(data), version: node.version + 1, mzxid: this.zxid });
    this.#undo.push(() => Object.assign(node, before));
    this.#changed(EventType.dataChanged, path);
    return statOf(node);
  }

  #find(path: string): Znode {
    const node = this.#nodes.get(path);
    if (node === undefined) throw new NoNodeError(path);
    return node;
  }

  #changed(type: EventType, path: string): void {
    this.#changes.push({ type, path, zxid: this.zxid });
  }

  /** A write that fails also uses up a zxid, but changes nothing. */
  #commit<T>(write: () => T): T {
    this.zxid++;
    this.#undo = [];
    this.#changes = [];
    let result: T;
    try {
      result = write();
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo();
      throw error;
    }
    const changes = this.#changes;
    for (const change of changes) {
      for (const listener of [...this.#listeners]) listener(change);
    }
    return result;
  }
}

const PLAIN: FakeCreate = {
  path: '',
  data: null,
  mode: 'persistent',
  acl: undefined,
  session: 0n,
};

function newZnode(
  zxid: bigint,
  { data, acl, owner }: { readonly data: Data } & Pick<Znode, 'acl' | 'owner'>,
): Znode {
  const times = { czxid: zxid, mzxid: zxid, pzxid: zxid };
  const children = new Set<string>();
  const versions = { version: 0, aversion: 0, creates: 0 };
  return { data: toBuffer(data), acl, owner, ...times, ...versions, children };
}

function statOf(node: Znode): Stat {
  return {
    czxid: node.czxid,
    mzxid: node.mzxid,
    pzxid: node.pzxid,
    ctime: Number(node.czxid),
    mtime: Number(node.mzxid),
    version: node.version,
    cversion: 2 * node.creates - node.children.size,
    aversion: node.aversion,
    ephemeralOwner: node.owner,
    dataLength: node.data?.length ?? 0,
    numChildren: node.children.size,
  };
}

function checkVersion(node: Znode, path: string, version: number): void {
  if (version !== -1 && version !== node.version) throw new BadVersionError(path);
}

function toBuffer(data: Data): Buffer | null {
  return data === null ? null : Buffer.from(data);
}

function isAnswer(error: unknown): error is KeeperError {
  return error instanceof Error && 'code' in error && 'retryable' in error;
}
