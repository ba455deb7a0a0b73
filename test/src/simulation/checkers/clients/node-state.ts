/**
 * What one path showed from one change to the next: the entries of a path's history.
 *
 * Immutable once made, so replies, watches and commits share them. A path has a state for every
 * change that a watch could tell of: itself created, deleted or set, or a child of it come or gone.
 */

/** EventType of the protocol, and 0 for what a tree begins with. */
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
  /** Children ever created below it: the next sequence number. */
  creates = 0;
  /** Its session, 0 for what is not ephemeral. */
  owner = 0;
  childCount = 0;
  /** Of the children's names, in any order. */
  childHash = 0;
  data: string | null = null;

  constructor(of: PathHistory, zxid: number, type: ChangeType) {
    this.of = of;
    this.zxid = zxid;
    this.type = type;
  }

  /** The next state of the same path, alike but for what the caller changes now. */
  next(zxid: number, type: ChangeType): NodeState {
    const state = new NodeState(this.of, zxid, type);
    state.exists = this.exists;
    state.czxid = this.czxid;
    state.mzxid = this.mzxid;
    state.pzxid = this.pzxid;
    state.version = this.version;
    state.creates = this.creates;
    state.owner = this.owner;
    state.childCount = this.childCount;
    state.childHash = this.childHash;
    state.data = this.data;
    return state;
  }
}

/** The watches of one connection on one path. */
export interface Watcher {
  /** Bits of the modes that stand. */
  armed: number;
  /** Changes that the connection must be told of, in order. */
  readonly due: NodeState[];
}

/** Older states are forgotten, many at once, when there are more than this. */
const STATES_MAX = 128;

export class PathHistory {
  readonly path: string;
  /** Null for the root. */
  readonly parent: PathHistory | null;
  readonly nameHash: number;
  /** There is, or was, something below it: such a history is never dropped. */
  isParent = false;
  /** Watches of clients on it; the watch checker's. */
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

  /** Of what is older than `floorZxid`, only the newest need be kept. */
  push(state: NodeState, floorZxid: number): void {
    const states = this.#states;
    states.push(state);
    const half = states[STATES_MAX / 2];
    if (states.length > STATES_MAX && half !== undefined && half.zxid < floorZxid) {
      states.splice(0, STATES_MAX / 2);
    }
  }

  /** What the path showed right after `zxid`. */
  at(zxid: number): NodeState {
    const states = this.#states;
    for (let index = states.length - 1; index > 0; index--) {
      const state = states[index];
      if (state !== undefined && state.zxid <= zxid) return state;
    }
    return states[0] ?? this.last;
  }

  /** The states that came after `zxid`, the oldest first. */
  since(zxid: number): readonly NodeState[] {
    const states = this.#states;
    let index = states.length;
    while (index > 1 && (states[index - 1]?.zxid ?? 0) > zxid) index -= 1;
    return states.slice(index);
  }
}

/** FNV-1a over the text from `start` on. */
export function hashOf(text: string, start = 0): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Sums of what is left would cancel out: names differ in their last digits only.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}
