/**
 * The tree of znodes that results from the committed transactions, with its recent past: a second,
 * independent implementation of what ReplicatedState does, which is small and keeps old states.
 *
 * It receives each transaction once, from whichever member applies it first. It knows the state of
 * every path at every recent zxid, and what each transaction did; a transaction that does not fit
 * its predecessors breaks `REPLAYS`. Zxids below `floorZxid` are forgotten. The checkers that
 * compare what clients saw share it.
 */
import { bufferOf, EventType, epochOf, formatZxid, parentOf } from '@rookery/protocol';
import type { NodeOp, Txn, TxnOp } from '../../../simulated.js';
import { PropertyBroken } from '../../contract/checker.js';
import { type AclEntry, isSameAcl, OPEN_ACL } from '../../contract/grants.js';
import { NodeState, PathHistory } from './node-state.js';

export const REPLAYS = 'transactions are decided against the state they meet';

/** What a transaction was and did. */
export interface Commit {
  readonly zxid: number;
  readonly session: number;
  readonly txn: Txn;
  /**
   * For each that creates, sets (also an ACL) or raises: the node's state right after it; null for
   * others.
   */
  readonly results: readonly (NodeState | null)[];
}

/** At least this many transactions are remembered. */
const COMMITS_MIN = 1 << 16;
const NO_RESULTS: readonly (NodeState | null)[] = [];
const SYSTEM_PATHS = ['/zookeeper', '/zookeeper/quota', '/zookeeper/config'] as const;

export class CommittedTree {
  lastZxid = 0;
  floorZxid = 0;
  /** Notified of every change, in order, while the transaction that makes it is replayed. */
  onChange: ((state: NodeState) => void) | null = null;
  /** Sessions that are open. */
  readonly sessions = new Set<number>();
  /** The open sessions whose end is decided: they do nothing more. */
  readonly #closing = new Set<number>();
  readonly #paths = new Map<string, PathHistory>();
  readonly #ephemerals = new Map<number, Set<PathHistory>>();
  /** By session, all paths that it has ever owned. */
  readonly #owned = new Map<number, Set<PathHistory>>();
  /** In order of their zxids. */
  #commits: Commit[] = [];
  /** Every change of the remembered commits, in order. */
  #changes: NodeState[] = [];
  /** Deleted paths, in the order of their deletion. */
  #deleted: PathHistory[] = [];
  readonly #root = new PathHistory('/', null);

  constructor() {
    this.#paths.set('/', this.#root);
    this.#root.last.exists = true;
    for (const path of SYSTEM_PATHS) {
      const history = this.history(path);
      const { parent } = history;
      history.last.exists = true;
      if (parent === null) continue;
      parent.last.childCount += 1;
      parent.last.childHash = (parent.last.childHash + history.nameHash) >>> 0;
    }
  }

  /** Creates the entry if it does not exist yet. */
  history(path: string): PathHistory {
    const known = this.#paths.get(path);
    if (known !== undefined) return known;
    const parent = this.history(parentOf(path));
    parent.isParent = true;
    const history = new PathHistory(path, parent);
    this.#paths.set(path, history);
    return history;
  }

  /** Undefined for a path that never existed, or not recently. */
  known(path: string): PathHistory | undefined {
    return this.#paths.get(path);
  }

  paths(): Iterable<PathHistory> {
    return this.#paths.values();
  }

  commitAt(zxid: number): Commit | undefined {
    const commits = this.#commits;
    const last = commits[commits.length - 1];
    if (last === undefined) return undefined;
    // Within an epoch zxids are consecutive, and most queries are about the newest ones.
    const guess = commits[commits.length - 1 - (last.zxid - zxid)];
    if (guess?.zxid === zxid) return guess;
    const index = firstAbove(commits, zxid) - 1;
    return commits[index]?.zxid === zxid ? commits[index] : undefined;
  }

  /** Returns the last one before `zxid`, or 0 if none is remembered. */
  zxidBefore(zxid: number): number {
    const last = this.#commits[this.#commits.length - 1];
    if (last !== undefined && zxid > last.zxid) return last.zxid;
    return this.#commits[firstAbove(this.#commits, zxid - 1) - 1]?.zxid ?? 0;
  }

  /** Returns the changes after `zxid`, oldest first. */
  changesSince(zxid: number): readonly NodeState[] {
    return this.#changes.slice(firstAbove(this.#changes, zxid));
  }

  /** The paths that the session owned right after `zxid`, which is not below `floorZxid`. */
  ephemeralsAt(session: number, zxid: number): readonly string[] {
    return [...(this.#owned.get(session) ?? [])]
      .filter((history) => {
        const state = history.at(zxid);
        return state.exists && state.owner === session;
      })
      .map(({ path }) => path);
  }

  /** Replays the next transaction. */
  apply(zxid: number, txn: Txn): Commit {
    const last = this.lastZxid;
    if (zxid <= last) this.#misfit(zxid, `comes after ${formatZxid(last)}`);
    if (epochOf(zxid) === epochOf(last) && zxid !== last + 1) {
      this.#misfit(zxid, `follows ${formatZxid(last)}`);
    }
    this.lastZxid = zxid;
    const commit = { zxid, session: txn.session, txn, results: this.#replay(zxid, txn) };
    this.#commits.push(commit);
    if (this.#commits.length > 2 * COMMITS_MIN) this.#forget();
    return commit;
  }

  #replay(zxid: number, txn: Txn): readonly (NodeState | null)[] {
    const { op, session } = txn;
    switch (op.kind) {
      case 'error':
      case 'raiseLevel':
        return NO_RESULTS;
      case 'createSession':
        this.sessions.add(zxid);
        return NO_RESULTS;
      case 'beginClose':
        this.#mustMayWrite(zxid, session);
        this.#closing.add(session);
        return NO_RESULTS;
      case 'closeSession':
        this.#closeSession(zxid, session);
        return NO_RESULTS;
      case 'multi':
        this.#mustMayWrite(zxid, session);
        if (session === 0) for (const part of op.ops) this.#mustBeOfAnEnd(zxid, part);
        return op.ops.map((part) => this.#change(zxid, session, part));
      case 'raiseSequence':
        this.#mustMayWrite(zxid, session);
        return [this.#raise(zxid, op)];
      default:
        this.#mustMayWrite(zxid, session);
        return [this.#change(zxid, session, op)];
    }
  }

  #change(zxid: number, session: number, op: NodeOp): NodeState | null {
    switch (op.kind) {
      case 'create':
        return this.#create(zxid, op, op.mode === 'ephemeral' ? session : 0);
      case 'delete':
        this.#delete(zxid, this.#existing(zxid, op.path));
        return null;
      case 'setData': {
        const state = this.#existing(zxid, op.path).next(zxid, EventType.dataChanged);
        state.version += 1;
        state.mzxid = zxid;
        state.data = textOf(op.data);
        if (op.version !== state.version) {
          this.#misfit(zxid, `makes version ${op.version} of ${op.path}, not ${state.version}`);
        }
        this.#push(state);
        return state;
      }
      case 'setAcl': {
        const state = this.#existing(zxid, op.path).next(zxid, 0);
        state.aversion += 1;
        if (op.version !== state.aversion) {
          this.#misfit(zxid, `makes ACL ${op.version} of ${op.path}, not ${state.aversion}`);
        }
        state.acl = aclOf(op);
        // No watch hears of it.
        state.of.push(state, this.floorZxid);
        return state;
      }
      default:
        this.#existing(zxid, op.path);
        return null;
    }
  }

  #raise(zxid: number, { path, creates }: TxnOp & { readonly kind: 'raiseSequence' }): NodeState {
    const state = this.#existing(zxid, path).next(zxid, 0);
    if (creates < state.creates) {
      this.#misfit(zxid, `makes number ${creates} of ${path} from ${state.creates}`);
    }
    state.creates = creates;
    // No watch hears of it.
    state.of.push(state, this.floorZxid);
    return state;
  }

  #create(zxid: number, op: NodeOp & { readonly kind: 'create' }, owner: number): NodeState {
    const { path } = op;
    const history = this.history(path);
    if (history.last.exists) this.#misfit(zxid, `creates ${path}, which exists`);
    const parent = this.#existing(zxid, history.parent?.path ?? '/');
    if (parent.owner !== 0) this.#misfit(zxid, `creates ${path} below an ephemeral`);
    const state = new NodeState(history, zxid, EventType.created);
    state.exists = true;
    state.czxid = zxid;
    state.mzxid = zxid;
    state.pzxid = zxid;
    state.owner = owner;
    state.data = textOf(op.data);
    state.acl = aclOf(op);
    this.#push(state);
    if (owner !== 0) {
      setOf(this.#ephemerals, owner).add(history);
      setOf(this.#owned, owner).add(history);
    }
    this.#childChanged(parent, history, 1, zxid);
    return state;
  }

  #delete(zxid: number, before: NodeState): void {
    const history = before.of;
    if (before.childCount > 0) this.#misfit(zxid, `deletes ${history.path}, which has children`);
    if (history.parent === null) return this.#misfit(zxid, 'deletes the root');
    if (before.owner !== 0) setOf(this.#ephemerals, before.owner).delete(history);
    this.#push(new NodeState(history, zxid, EventType.deleted));
    this.#deleted.push(history);
    this.#childChanged(this.#existing(zxid, history.parent.path), history, -1, zxid);
  }

  #childChanged(parent: NodeState, child: PathHistory, by: 1 | -1, zxid: number): void {
    const state = parent.next(zxid, EventType.childrenChanged);
    state.pzxid = zxid;
    state.childCount += by;
    state.childHash = (state.childHash + by * child.nameHash) >>> 0;
    if (by === 1) state.creates += 1;
    this.#push(state);
  }

  #closeSession(zxid: number, session: number): void {
    this.#mustBeOpen(zxid, session);
    for (const history of this.#ephemerals.get(session) ?? []) this.#delete(zxid, history.last);
    this.#ephemerals.delete(session);
    this.sessions.delete(session);
    this.#closing.delete(session);
  }

  #push(state: NodeState): void {
    state.of.push(state, this.floorZxid);
    this.#changes.push(state);
    this.onChange?.(state);
  }

  #existing(zxid: number, path: string): NodeState {
    const state = this.#paths.get(path)?.last;
    if (state?.exists === true) return state;
    return this.#misfit(zxid, `is about ${path}, which does not exist`);
  }

  /** The removal of containers, and the end of sessions, work without a session. */
  #mustMayWrite(zxid: number, session: number): void {
    if (session === 0) return;
    this.#mustBeOpen(zxid, session);
    if (!this.#closing.has(session)) return;
    this.#misfit(zxid, `is done for session ${formatZxid(session)}, which is closing`);
  }

  /**
   * Several znodes are deleted at once without a session only while the session that owns them is
   * closing.
   */
  #mustBeOfAnEnd(zxid: number, { kind, path }: NodeOp): void {
    const { owner } = this.#existing(zxid, path);
    if (kind === 'delete' && this.#closing.has(owner)) return;
    this.#misfit(zxid, `does a ${kind} of ${path} for nobody, and its owner is not closing`);
  }

  #mustBeOpen(zxid: number, session: number): void {
    if (this.sessions.has(session)) return;
    this.#misfit(zxid, `is done for session ${formatZxid(session)}, which is not open`);
  }

  /** Forgets the older half, and the paths that have not existed since. */
  #forget(): void {
    this.#commits = this.#commits.slice(-COMMITS_MIN);
    this.floorZxid = this.#commits[0]?.zxid ?? 0;
    this.#changes = this.changesSince(this.floorZxid - 1).slice();
    const stillKnown: PathHistory[] = [];
    for (const history of this.#deleted) {
      const { last, isParent, watchers, path } = history;
      if (last.exists || this.#paths.get(path) !== history) continue;
      if (last.zxid >= this.floorZxid || watchers.length > 0) stillKnown.push(history);
      else if (!isParent) this.#paths.delete(path);
    }
    this.#deleted = stillKnown;
    for (const session of this.#owned.keys()) {
      if (!this.sessions.has(session)) this.#owned.delete(session);
    }
  }

  #misfit(zxid: number, what: string): never {
    throw new PropertyBroken(REPLAYS, `transaction ${formatZxid(zxid)} ${what}`);
  }
}

function setOf(sets: Map<number, Set<PathHistory>>, session: number): Set<PathHistory> {
  let paths = sets.get(session);
  if (paths === undefined) {
    paths = new Set();
    sets.set(session, paths);
  }
  return paths;
}

/** Returns the index of the first entry above `zxid`. */
function firstAbove(entries: readonly { readonly zxid: number }[], zxid: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.zxid ?? Infinity) <= zxid) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A copy; one that permits everything is shared. */
function aclOf({ acl }: { readonly acl: readonly AclEntry[] }): readonly AclEntry[] {
  if (isSameAcl(acl, OPEN_ACL)) return OPEN_ACL;
  return acl.map(({ perms, scheme, id }) => ({ perms, scheme, id }));
}

export function textOf(data: Uint8Array | null): string | null {
  if (data === null) return null;
  return bufferOf(data).toString('utf8');
}
