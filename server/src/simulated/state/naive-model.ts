/**
 * A naive model of the replicated state, made of plain maps and objects, for its property tests
 * only.
 *
 * It also takes the place of prepare: it turns wishes into transactions that are allowed. The dumps
 * of state and model must be equal. Nothing outside of tests imports it.
 */
import { assert } from '@rookery/protocol';
import type { ReplicatedState } from '../../state/replicated-state.js';
import type { Session } from '../../state/session-record.js';
import {
  type Acl,
  type NodeMode,
  type NodeOp,
  nextVersion,
  type TxnOp,
  visibleCversion,
} from '../../state/txn.js';

interface ModelNode {
  data: Uint8Array | null;
  acl: readonly Acl[];
  mode: NodeMode;
  ttlMs: number;
  owner: number;
  czxid: number;
  mzxid: number;
  pzxid: number;
  ctime: number;
  mtime: number;
  version: number;
  cversion: number;
  aversion: number;
}

/** `pick` selects one of the nodes that exist. */
export type Wish =
  | { kind: 'create'; path: string; mode: NodeMode; size: number | null; acl: readonly Acl[] }
  | { kind: 'delete' | 'check'; pick: number }
  | { kind: 'setData'; pick: number; size: number | null }
  | { kind: 'setAcl'; pick: number; acl: readonly Acl[] }
  | { kind: 'raiseSequence'; pick: number; atLeast: number }
  | { kind: 'multi'; wishes: readonly Wish[] }
  | { kind: 'openSession' | 'beginClose' | 'closeSession' };

type CreateWish = Extract<Wish, { kind: 'create' }>;
type ChangeWish = Exclude<Extract<Wish, { pick: number }>, { kind: 'raiseSequence' }>;

export const OPEN: readonly Acl[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];
export const READ: readonly Acl[] = [{ perms: 1, scheme: 'world', id: 'anyone' }];

export class Model {
  readonly nodes = new Map<string, ModelNode>();
  readonly sessions = new Map<number, Session>();
  zxid = 0;
  time = 1_000_000;

  constructor() {
    for (const path of ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']) {
      const acl = path.endsWith('config') ? READ : OPEN;
      const zero = { czxid: 0, mzxid: 0, pzxid: 0, ctime: 0, mtime: 0 };
      const versions = { version: 0, cversion: 0, aversion: 0 };
      const data = new Uint8Array(0);
      this.nodes.set(path, {
        data,
        acl,
        mode: 'persistent',
        ttlMs: 0,
        owner: 0,
        ...zero,
        ...versions,
      });
    }
  }

  childrenOf(path: string): string[] {
    const prefix = path === '/' ? '/' : `${path}/`;
    const below = [...this.nodes.keys()].filter((p) => p !== '/' && p.startsWith(prefix));
    return below.map((p) => p.slice(prefix.length)).filter((name) => !name.includes('/'));
  }

  /** Fulfils the wish and returns the operation, or an error that changed nothing. */
  fulfil(wish: Wish): { op: TxnOp; session: number } {
    this.zxid++;
    this.time += this.zxid % 3;
    const session = [...this.sessions.keys()][this.zxid % Math.max(1, this.sessions.size)] ?? 0;
    switch (wish.kind) {
      case 'openSession': {
        const opened = { timeoutMs: 4000 + this.zxid, password: bytes(16, this.zxid) };
        this.sessions.set(this.zxid, { ...opened, isClosing: false });
        return { op: { kind: 'createSession', ...opened }, session: 0 };
      }
      case 'beginClose': {
        const before = this.sessions.get(session);
        if (before === undefined || before.isClosing) {
          return this.#refuse();
        }
        this.sessions.set(session, { ...before, isClosing: true });
        return { op: { kind: 'beginClose' }, session };
      }
      case 'closeSession':
        if (session === 0) {
          return this.#refuse();
        }
        for (const [path, node] of [...this.nodes]) {
          if (node.owner === session) {
            this.#delete(path);
          }
        }
        this.sessions.delete(session);
        return { op: { kind: 'closeSession' }, session };
      case 'multi': {
        const ops: NodeOp[] = [];
        for (const part of wish.wishes) {
          const op = this.#fulfilNode(part, session);
          if (op !== null) {
            ops.push(op);
          }
        }
        return { op: { kind: 'multi', ops }, session };
      }
      case 'raiseSequence': {
        const [path, node] = [...this.nodes][wish.pick % this.nodes.size] ?? [];
        if (path === undefined || node === undefined || node.owner !== 0) {
          return this.#refuse();
        }
        const isBeyond = node.cversion < 0 || node.cversion > wish.atLeast;
        node.cversion = isBeyond ? node.cversion : wish.atLeast;
        return { op: { kind: 'raiseSequence', path, creates: node.cversion }, session };
      }
      default: {
        const op = this.#fulfilNode(wish, session);
        return op === null ? this.#refuse() : { op, session };
      }
    }
  }

  #refuse(): { op: TxnOp; session: number } {
    return { op: { kind: 'error', code: -101, codes: null }, session: 0 };
  }

  #fulfilNode(wish: Wish, session: number): NodeOp | null {
    switch (wish.kind) {
      case 'multi':
      case 'raiseSequence':
      case 'openSession':
      case 'beginClose':
      case 'closeSession':
        return null;
      case 'create':
        return this.#create(wish, session);
      default: {
        const paths = [...this.nodes.keys()].filter((path) => !path.startsWith('/zookeeper'));
        return this.#change(wish, paths[wish.pick % paths.length] ?? '/');
      }
    }
  }

  #create(wish: CreateWish, session: number): NodeOp | null {
    const { path, mode, acl } = wish;
    const parent = this.nodes.get(parentOf(path));
    const isEphemeral = mode === 'ephemeral';
    if (this.nodes.has(path) || parent === undefined || parent.mode === 'ephemeral') {
      return null;
    }
    if (isEphemeral && this.sessions.get(session)?.isClosing !== false) {
      return null;
    }
    const { zxid, time } = this;
    const ttlMs = mode === 'ttl' ? 1000 + zxid : 0;
    const data = wish.size === null ? null : bytes(wish.size, zxid);
    parent.cversion = (parent.cversion + 1) | 0;
    parent.pzxid = zxid;
    this.nodes.set(path, {
      data,
      acl,
      mode,
      ttlMs,
      owner: isEphemeral ? session : 0,
      czxid: zxid,
      mzxid: zxid,
      pzxid: zxid,
      ctime: time,
      mtime: time,
      version: 0,
      cversion: 0,
      aversion: 0,
    });
    return { kind: 'create', path, data, acl, mode, ttlMs, opcode: 1 };
  }

  #change(wish: ChangeWish, path: string): NodeOp | null {
    const node = this.nodes.get(path);
    if (node === undefined) {
      return null;
    }
    switch (wish.kind) {
      case 'check':
        return { kind: 'check', path };
      case 'delete':
        if (this.childrenOf(path).length > 0 || path === '/') {
          return null;
        }
        this.#delete(path);
        return { kind: 'delete', path };
      case 'setData':
        node.data = wish.size === null ? null : bytes(wish.size, this.zxid);
        node.version = nextVersion(node.version);
        node.mzxid = this.zxid;
        node.mtime = this.time;
        return { kind: 'setData', path, data: node.data, version: node.version };
      case 'setAcl':
        node.acl = wish.acl;
        node.aversion = nextVersion(node.aversion);
        return { kind: 'setAcl', path, acl: wish.acl, version: node.aversion };
    }
  }

  #delete(path: string): void {
    this.nodes.delete(path);
    const parent = this.nodes.get(parentOf(path));
    if (parent !== undefined) {
      parent.pzxid = this.zxid;
    }
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function bytes(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 7) & 0xff);
}

export function dumpModel(model: Model): unknown {
  const nodes = [...model.nodes].map(([path, node]) => {
    const children = model.childrenOf(path).sort();
    const { data, acl, mode, ttlMs, owner, cversion, ...rest } = node;
    const stat = {
      ...rest,
      cversion: visibleCversion(cversion, children.length),
      ephemeralOwner: owner,
      dataLength: data?.length ?? 0,
      numChildren: children.length,
    };
    return { path, children, data: text(data), acl, mode, ttlMs, creates: cversion, stat };
  });
  return { nodes: nodes.sort(byPath), sessions: [...model.sessions].sort(([a], [b]) => a - b) };
}

export function dumpState(state: ReplicatedState): unknown {
  const { tree } = state;
  const nodes: { path: string }[] = [];
  const visit = (path: string): void => {
    const node = tree.find(path);
    const children = tree.children(node).sort();
    assert(tree.path(node) === path, 'a node tells the path it is found at');
    const dump = {
      path,
      children,
      data: text(tree.data(node)),
      acl: tree.acl(node),
      mode: tree.mode(node),
      ttlMs: tree.ttlMs(node),
      creates: tree.creates(node),
      stat: tree.stat(node),
    };
    nodes.push(dump);
    for (const name of children) {
      visit(path === '/' ? `/${name}` : `${path}/${name}`);
    }
  };
  visit('/');
  assert(tree.nodeCount === nodes.length, 'all nodes hang on the root');
  return { nodes: nodes.sort(byPath), sessions: state.sessions.sorted() };
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
function text(data: Uint8Array | null): string | null {
  return data === null ? null : Buffer.from(data).toString('latin1');
}

/** A state into which every record that was handed out so far is loaded, in the given order. */
