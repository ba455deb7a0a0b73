/**
 * Holds the state of a replica at one zxid: the tree and the sessions, with their digest.
 *
 * `apply` is the only way to change it after recovery, but for the data of /zookeeper/config, which
 * is local. It decides nothing and cannot fail: what prepare promised is asserted. The same
 * transactions give the same state on every member (invariant 8 of docs/architecture/core.md), and
 * a capture gives exactly the state at the zxid of its freeze. The driver's StateKeeper owns it,
 * the pipeline applies transactions to it, and storage calls the methods for capture and recovery.
 */
import { assert, formatZxid, unreachable, type Zxid } from '@rookery/protocol';
import { Capture } from './capture.js';
import { DamagedCheckpointError } from './damage.js';
import { Digest } from './digest.js';
import { LEVEL } from './level.js';
import { KNOWN_PATH_KEY, type PathKey } from './memory/path-hash.js';
import type { WithPath } from './memory/path-view.js';
import { BLOCK_KEY } from './node-record.js';
import { OpView } from './op-view.js';
import { Quotas } from './quotas.js';
import { type CheckpointRecord, DEAD_KEY } from './record-blocks.js';
import { decodeSession, SESSION_KEY } from './session-record.js';
import { SessionTable } from './session-table.js';
import { type ChangePoint, type Family, NO_NODE, type RestoredZnode, Tree } from './tree.js';
import { sessionBytes } from './tree-bytes.js';
import type {
  Acl,
  CreateOp,
  RaiseSequenceOp,
  Reused,
  SetAclOp,
  SetDataOp,
  Txn,
  TxnOp,
} from './txn.js';

export type { CheckpointRecord } from './record-blocks.js';

/** The result of a freeze: the state at `zxid`, which the capture then records. */
export interface FrozenSummary {
  readonly zxid: Zxid;
  readonly digest: string;
  readonly nodeCount: number;
  readonly sessionCount: number;
  /** The time of the last transaction, ms since 1970. */
  readonly lastTime: number;
  readonly level: number;
}

/**
 * The point at which a checkpoint was frozen. A checkpoint from before there were levels has the
 * first level.
 */
export interface LoadedAt {
  readonly zxid: Zxid;
  readonly lastTime: number;
  readonly level?: number | undefined;
}

export class ReplicatedState {
  readonly #digest = new Digest();
  readonly tree: Tree;
  readonly sessions = new SessionTable(this.#digest);
  readonly #capture: Capture;
  readonly quotas: Quotas;
  /** The point of the transaction that is being applied. */
  readonly #at: Reused<ChangePoint> = {
    zxid: 0,
    time: 0,
    session: 0,
  };
  #lastZxid: Zxid = 0;
  #lastTime = 0;
  #level: number = LEVEL.first;
  #loading = false;

  /**
   * `encodedBytesMax` bounds the lists of children that are kept as they are sent. `pathKey` is
   * random and secret, except in tests; nothing that is replicated depends on it.
   */
  constructor(encodedBytesMax?: number, pathKey: PathKey = KNOWN_PATH_KEY) {
    this.tree = new Tree(this.#digest, pathKey, encodedBytesMax);
    this.#capture = new Capture(this.tree, this.sessions);
    this.quotas = new Quotas(this.tree, this.#capture);
  }

  get lastZxid(): Zxid {
    return this.#lastZxid;
  }
  /** The time of the last applied transaction, ms since 1970; 0 for a fresh state. */
  get lastTime(): number {
    return this.#lastTime;
  }
  /** The level that limits what may be written after this state; see `level.ts`. */
  get level(): number {
    return this.#level;
  }
  /** 16 hex digits, equal on every replica with the same content. */
  digest(): string {
    return this.#digest.toString();
  }

  /** Cannot fail, only assert. `zxid` becomes lastZxid before the sink is called. */
  apply(zxid: Zxid, txn: Txn, sink: ChangeSink): void {
    assert(!this.#loading, 'recovery is finished before anything is applied');
    assert(
      zxid > this.#lastZxid,
      () => `zxid ${formatZxid(zxid)} is above ${formatZxid(this.#lastZxid)}`,
    );
    this.#lastZxid = zxid;
    this.#lastTime = txn.time;
    const at = this.#at;
    at.zxid = zxid;
    at.time = txn.time;
    at.session = txn.session;
    this.#applyOp(txn.op, at, sink);
    this.tree.compactSome();
  }

  /** Sets the data of /zookeeper/config, which is local and in no digest or checkpoint. */
  setConfigNode(text: string): void {
    this.tree.setConfigData(Buffer.from(text));
  }

  /** The memory of the state, by the estimate that all members share (tree-bytes.ts). */
  get bytes(): number {
    return this.tree.bytes + sessionBytes(this.sessions.count);
  }

  /** The number of entries that changed since the last freeze, an upper bound. */
  get dirtyCount(): number {
    return this.#capture.dirtyCount;
  }
  /** The approximate bytes of their records. */
  get dirtyBytes(): number {
    return this.#capture.dirtyBytes;
  }
  /**
   * Starts a capture, at lastZxid, of the changes since the last one, into record blocks of about
   * `blockBytes`. No capture may be under way.
   */
  freeze(blockBytes: number): FrozenSummary {
    assert(!this.#loading, 'recovery is finished before anything is captured');
    this.#capture.freeze(blockBytes);
    return this.#frozenSummary();
  }
  /**
   * Like `freeze`, but captures everything, for a new generation of the checkpoint. A capture under
   * way is given up: no checkpoint of the former generation may follow.
   */
  freezeAll(blockBytes: number): FrozenSummary {
    assert(!this.#loading, 'recovery is finished before anything is captured');
    this.#capture.freezeAll(blockBytes);
    return this.#frozenSummary();
  }
  #frozenSummary(): FrozenSummary {
    return {
      zxid: this.#lastZxid,
      digest: this.digest(),
      nodeCount: this.tree.nodeCount,
      sessionCount: this.sessions.count,
      lastTime: this.#lastTime,
      level: this.#level,
    };
  }
  /** True when no capture is under way: everything of the last freeze has been handed out. */
  get captureDone(): boolean {
    return this.#capture.done;
  }
  /**
   * Continues the capture by about `max` znodes. What it returns belongs to the caller, and may be
   * nothing. All records of a capture must become durable together, in their order.
   */
  captureSome(max: number, bytesMax: number): readonly CheckpointRecord[] {
    return this.#capture.captureSome(max, bytesMax);
  }

  /**
   * Recovery: loads one record into a state to which nothing was applied. The records are those of
   * all captures together, with later ones replacing earlier ones, in the order of their keys.
   * Copies what it keeps. Throws DamagedCheckpointError.
   */
  load(key: Uint8Array, value: Uint8Array): void {
    assert(this.#lastZxid === 0, 'records are loaded before anything is applied');
    this.#loading = true;
    if (key[0] === BLOCK_KEY) {
      this.#capture.loadBlock(key, value);
    } else if (key[0] === DEAD_KEY) {
      this.#capture.loadDead(key, value);
    } else if (key[0] === SESSION_KEY) {
      const { id, session } = decodeSession(key, value);
      this.sessions.load(id, session);
    } else {
      throw new DamagedCheckpointError(`a record has a key of kind ${key[0]}`);
    }
  }

  /**
   * Ends recovery at the zxid, time and level of the checkpoint's freeze; verifies links and
   * counts. The caller compares `digest` with the one that the freeze gave. Throws
   * DamagedCheckpointError.
   */
  finishLoad(at: LoadedAt): void {
    assert(this.#lastZxid === 0, 'recovery is finished once');
    for (const session of this.tree.sessionsWithEphemerals()) {
      if (!this.sessions.has(session)) {
        throw new DamagedCheckpointError(`the ephemerals of session ${session} have no session`);
      }
    }
    if (this.tree.finishLoad()) {
      this.#capture.loaded();
    }
    this.quotas.rebuild();
    this.#loading = false;
    this.#lastZxid = at.zxid;
    this.#lastTime = at.lastTime;
    this.#raiseLevel(at.level ?? LEVEL.first);
  }

  /**
   * Fills a fresh state from a backup, parents before children; then `finishRestore`. Captured as a
   * change like any other. The caller has judged the znode: what does not fit is asserted.
   */
  restore(znode: RestoredZnode): void {
    assert(this.#lastZxid === 0, 'a state is restored before anything is applied');
    const found = this.tree.find(znode.path);
    if (found !== NO_NODE) this.#capture.beforeChange(found);
    const node = this.tree.restore(znode);
    if (found === NO_NODE) this.#capture.created(node);
  }

  /** The state is that of this zxid, time and level from now on. */
  finishRestore(at: LoadedAt): void {
    this.quotas.rebuild();
    this.quotas.measureAll();
    this.#lastZxid = at.zxid;
    this.#lastTime = at.lastTime;
    this.#raiseLevel(at.level ?? LEVEL.first);
  }

  #applyOp(op: TxnOp, at: ChangePoint, sink: ChangeSink): void {
    switch (op.kind) {
      case 'create':
        this.#create(op, at, sink);
        break;
      case 'delete':
        this.#delete(op.path, at, sink);
        break;
      case 'setData':
        this.#setData(op, at, sink);
        break;
      case 'setAcl':
        this.#setAcl(op);
        break;
      case 'multi':
        for (const part of op.ops) {
          this.#applyOp(part, at, sink);
        }
        break;
      case 'createSession':
        this.sessions.open(at.zxid, op);
        break;
      case 'beginClose':
        this.sessions.beginClose(at.session);
        break;
      case 'closeSession':
        this.#closeSession(at, sink);
        break;
      case 'raiseSequence':
        this.#raiseSequence(op);
        break;
      case 'raiseLevel':
        assert(op.level > this.#level, () => `level ${op.level} is above ${this.#level}`);
        this.#raiseLevel(op.level);
        break;
      case 'check':
      case 'error':
        break;
      default:
        unreachable(op);
    }
  }

  #raiseLevel(level: number): void {
    this.#digest.countLevel(this.#level, -1);
    this.#level = level;
    this.#digest.countLevel(level, 1);
  }

  #create(op: CreateOp, at: ChangePoint, sink: ChangeSink): void {
    const parent = this.tree.findParentOf(op);
    assert(parent !== NO_NODE, 'the parent of a created path exists');
    assert(op.mode !== 'ephemeral' || this.sessions.isOpen(at.session), 'an owner is open');
    this.#capture.beforeChange(parent);
    const node = this.tree.create(op, parent, at);
    this.#capture.created(node);
    if (op instanceof OpView) op.node = node;
    this.quotas.created(op, node);
    sink.created(op, node);
  }

  #delete(path: string, at: ChangePoint, sink: ChangeSink): void {
    const node = this.#existing(path);
    const family = { parent: this.tree.parent(node), children: [node] };
    this.quotas.deleting([family]);
    this.#deleteFamily(family, at, sink);
  }

  #deleteFamily({ parent, children }: Family, at: ChangePoint, sink: ChangeSink): void {
    const tree = this.tree;
    const capture = this.#capture;
    capture.beforeChange(parent);
    tree.losesChildren(parent, at);
    const prefix = tree.pathPrefix(parent);
    for (const node of children) {
      const path = prefix + tree.name(node);
      const acl = tree.acl(node);
      capture.beforeDelete(node);
      tree.delete(node, path);
      sink.deleted(path, acl);
    }
  }

  #setData(op: SetDataOp, at: ChangePoint, sink: ChangeSink): void {
    const node = this.#placeOf(op);
    const before = this.tree.dataLength(node);
    this.#capture.beforeChange(node);
    this.tree.setData(node, op, at);
    const bytes = this.tree.dataLength(node) - before;
    this.#capture.grew(bytes);
    this.quotas.dataGrew(op, bytes);
    sink.dataChanged(op, node);
  }

  #setAcl(op: SetAclOp): void {
    const node = this.#existing(op.path);
    this.#capture.beforeChange(node);
    this.tree.setAcl(node, op.acl, op.version);
  }

  #raiseSequence({ path, creates }: RaiseSequenceOp): void {
    const node = this.#existing(path);
    this.#capture.beforeChange(node);
    this.tree.raiseSequence(node, creates);
  }

  #closeSession(at: ChangePoint, sink: ChangeSink): void {
    const families = this.tree.ephemeralFamilies(at.session);
    this.quotas.deleting(families);
    for (const family of families) {
      this.#deleteFamily(family, at, sink);
    }
    this.sessions.close(at.session);
  }

  #placeOf(op: SetDataOp): number {
    if (!(op instanceof OpView)) return this.#existing(op.path);
    op.node = this.tree.findBytes(op.view, op.pathStart, op.pathEnd);
    assert(op.node !== NO_NODE, 'the path of a transaction exists');
    return op.node;
  }

  #existing(path: string): number {
    const node = this.tree.find(path);
    assert(node !== NO_NODE, 'the path of a transaction exists');
    return node;
  }
}

export interface ChangeSink {
  /** The operation is only lent for the duration of the call. */
  created(op: WithPath, node: number): void;
  /** `acl` is the list that the node had, because the node is gone. */
  deleted(path: string, acl: readonly Acl[]): void;
  dataChanged(op: WithPath, node: number): void;
}

/** For recovery, when there are no watches. */
export const IGNORE_CHANGES: ChangeSink = {
  created: () => undefined,
  deleted: () => undefined,
  dataChanged: () => undefined,
};
