/**
 * The state of one path from one change to the next: the entries of a path's history.
 *
 * A state is immutable once made, so replies, watches and commits share it. A path has a state for
 * every change that a watch could report, itself created, deleted or set, or a child of it added or
 * removed, and for a change of its ACL or of the number of its next sequential child.
 */
import { type AclEntry, OPEN_ACL } from '../../contract/grants.js';

/** EventType of the protocol; 0 for the initial state of a tree, and for what no watch reports. */
export type ChangeType = 0 | 1 | 2 | 3 | 4;

export class NodeState {
  readonly of: PathHistory;
  readonly zxid: number;
  readonly type: ChangeType;
  exists = false;
  czxid = 0;
  mzxid = 0;
  pzxid = 0;
  version = 0;
  aversion = 0;
  /** The next sequence number: that of children ever created below it, unless it was raised. */
  creates = 0;
  /** Its session; 0 if it is not ephemeral. */
  owner = 0;
  childCount = 0;
  /** A hash of the children's names, independent of their order. */
  childHash = 0;
  data: string | null = null;
  acl: readonly AclEntry[] = OPEN_ACL;

  constructor(of: PathHistory, zxid: number, type: ChangeType) {
    this.of = of;
    this.zxid = zxid;
    this.type = type;
  }

  /**
   * Returns the next state of the same path, which is alike except for what the caller changes now.
   */
  next(zxid: number, type: ChangeType): NodeState {
    const state = new NodeState(this.of, zxid, type);
    state.exists = this.exists;
    state.czxid = this.czxid;
    state.mzxid = this.mzxid;
    state.pzxid = this.pzxid;
    state.version = this.version;
    state.aversion = this.aversion;
    state.creates = this.creates;
    state.owner = this.owner;
    state.childCount = this.childCount;
    state.childHash = this.childHash;
    state.data = this.data;
    state.acl = this.acl;
    return state;
  }
}

/** The watches of one connection on one path. */
export interface Watcher {
  /** Bits of the modes that are set. */
  armed: number;
  /** The changes that fired its last watch of the data and of the children. */
  dataFired: NodeState | null;
  childFired: NodeState | null;
  /** Changes of which the connection must be notified, in order. */
  readonly due: NodeState[];
}

/** When there are more states than this, many older ones are forgotten at once. */
const STATES_MAX = 128;

export class PathHistory {
  readonly path: string;
  /** Null for the root. */
  readonly parent: PathHistory | null;
  readonly nameHash: number;
  /** Something exists, or existed, below it: such a history is never dropped. */
  isParent = false;
  /** Watches of clients on it; they belong to the watch checker. */
  readonly watchers: Watcher[] = [];
  readonly #states: NodeState[] = [];

  constructor(path: string, parent: PathHistory | null) {
    this.path = path;
    this.parent = parent;
    this.nameHash = hashOf(path, path.lastIndexOf('/') + 1);
    this.#states.push(new NodeState(this, 0, 0));
  }

  get last(): NodeState {
    const state = this.#states[this.#states.length - 1];
    if (state === undefined) throw new Error('a history is never empty');
    return state;
  }

  /** Of the states older than `floorZxid`, only the newest need be kept. */
  push(state: NodeState, floorZxid: number): void {
    const states = this.#states;
    states.push(state);
    const half = states[STATES_MAX / 2];
    if (states.length > STATES_MAX && half !== undefined && half.zxid < floorZxid) {
      states.splice(0, STATES_MAX / 2);
    }
  }

  /** Returns the state of the path right after `zxid`. */
  at(zxid: number): NodeState {
    const states = this.#states;
    for (let index = states.length - 1; index > 0; index--) {
      const state = states[index];
      if (state !== undefined && state.zxid <= zxid) return state;
    }
    return states[0] ?? this.last;
  }

  /** Returns the states after `zxid` of which watches may hear, oldest first. */
  since(zxid: number): readonly NodeState[] {
    const states = this.#states;
    let index = states.length;
    while (index > 1 && (states[index - 1]?.zxid ?? 0) > zxid) index -= 1;
    return states.slice(index).filter(({ type }) => type !== 0);
  }
}

/** FNV-1a over the text from `start` on. */
export function hashOf(text: string, start = 0): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Plain sums would cancel out: names differ only in their last digits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}
