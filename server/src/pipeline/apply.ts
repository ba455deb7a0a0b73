/**
 * Applies a delivered transaction to the state, and writes to clients what it did: watch events to
 * those who watch, and the answer to its author.
 *
 * Events are written while the transaction is applied, so that they precede, in each watcher's
 * output, the answer and any later read. A watcher is told what it may read (CVE-2024-23944) by the
 * ACL of the node that the event names, as it was before a delete; of anything else neither its
 * watch nor a figure shows that there was a change. The Stat of each create and
 * setData of a multi is kept for the answer, because a later operation of the same multi may change
 * it. Connections that hear of too many changes in one turn lose their watches: see EventBudget.
 * Called by Pipeline, and for the answer by Requests.
 */
import {
  assert,
  EventType,
  InvariantViolation,
  JuteWriter,
  MultiResponse,
  type MultiResult,
  OpCode,
  Perms,
  type Stat,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import type { WithPath } from '../state/memory/path-view.js';
import { OpView } from '../state/op-view.js';
import type { ChangeSink, ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE, type Tree } from '../state/tree.js';
import type { Acl, NodeOp, Txn } from '../state/txn.js';
import type {
  EmitWatchEvent,
  WatchChange,
  WatcherId,
  WatchGroupsOf,
  WatchTable,
} from '../state/watches.js';
import { mayDo } from './access.js';
import type { Connections } from './connection.js';
import { beginReply, writeError, writeEvent } from './reply.js';

const NO_ACL: readonly Acl[] = [];
const EVENTS_EXCEEDED =
  'one turn had too many watch events, most of them for connections like this one';

export class Applier implements ChangeSink {
  readonly #state: ReplicatedState;
  readonly #watches: WatchTable;
  readonly #connections: Connections;
  readonly #budget: EventBudget;
  /** The frame of the last event, copied to each further watcher of the same change. */
  readonly #frame = new JuteWriter();
  #frameType: EventType = EventType.none;
  #framePath: string | null = null;
  /** The transaction that is being applied, or was applied last. */
  #zxid: Zxid = 0;
  /** For each create and setData of a multi, in order: its Stat before the next operation. */
  #stats: Stat[] | null = null;
  /** The ACL of the node whose change is being reported. */
  #acl: readonly Acl[] = NO_ACL;

  constructor(
    state: ReplicatedState,
    watches: WatchTable,
    connections: Connections,
    budget: EventBudget,
  ) {
    this.#state = state;
    this.#watches = watches;
    this.#connections = connections;
    this.#budget = budget;
  }

  /** If `isOwn`, a client of this member may wait for the answer, which `writeReply` writes. */
  apply(zxid: Zxid, txn: Txn, isOwn: boolean): void {
    this.#zxid = zxid;
    this.#framePath = null;
    this.#stats = isOwn && txn.op.kind === 'multi' ? [] : null;
    this.#state.apply(zxid, txn, this);
    // All events are written by now: this ends the count of watchers that heard of a change.
    this.#watches.fanOut.end();
  }

  /** The transaction is the one that was applied last. */
  writeReply(writer: JuteWriter, xid: number, { op }: Txn): void {
    const zxid = this.#zxid;
    const { tree } = this.#state;
    if (op.kind === 'error' && op.codes === null) {
      return writeError(writer, { xid, zxid, code: op.code });
    }
    beginReply(writer, xid, zxid);
    switch (op.kind) {
      case 'create':
        writePath(writer, op);
        if (op.opcode !== OpCode.create) writeStat(writer, tree, op);
        break;
      case 'setData':
      case 'setAcl':
        writeStat(writer, tree, op);
        break;
      case 'multi':
        MultiResponse.write(writer, { results: resultsOf(op.ops, this.#stats ?? []) });
        break;
      case 'raiseSequence':
        writer.int(op.creates);
        break;
      case 'error':
        MultiResponse.write(writer, { results: (op.codes ?? []).map(errorResult) });
        break;
      case 'delete':
      case 'check':
      case 'createSession':
      case 'beginClose':
      case 'closeSession':
      case 'raiseLevel':
        break;
      default:
        return unreachable(op);
    }
    writer.endFrame();
  }

  created(op: WithPath, node: number): void {
    this.#stats?.push(this.#state.tree.stat(node));
    if (this.#watches.isEmpty) return;
    this.#acl = this.#state.tree.acl(node);
    this.#trigger({ kind: 'created', path: op.path });
  }

  deleted(path: string, acl: readonly Acl[]): void {
    this.#acl = acl;
    this.#trigger({ kind: 'deleted', path });
  }

  dataChanged(op: WithPath, node: number): void {
    this.#stats?.push(this.#state.tree.stat(node));
    if (this.#watches.isEmpty) return;
    this.#acl = this.#state.tree.acl(node);
    this.#trigger({ kind: 'dataChanged', path: op.path });
  }

  #trigger(change: WatchChange): void {
    for (const watcher of this.#budget.takeExcess()) {
      this.#watches.giveWay(watcher, EVENTS_EXCEEDED);
    }
    this.#watches.trigger(change, this.#emit);
  }

  readonly #emit: EmitWatchEvent = (watcher, type, path) => {
    const connection = this.#connections.get(watcher);
    assert(connection !== undefined, () => `watcher ${watcher} is a connection`);
    const { requester, channel } = connection;
    this.#budget.add(watcher);
    if (!mayDo(requester, this.#aclOf(type, path), Perms.read)) return false;
    this.#watches.fanOut.told(type, path);
    channel.stats.sentEvent(this.#write(channel.writer, type, path));
    return true;
  };

  /** Returns the size of the frame, which is encoded once for all watchers of a change. */
  #write(writer: JuteWriter, type: EventType, path: string): number {
    const frame = this.#frame;
    if (type !== this.#frameType || path !== this.#framePath) {
      this.#frameType = type;
      this.#framePath = path;
      frame.reset();
      writeEvent(frame, { zxid: this.#zxid, type, path });
    }
    writer.rawWithin(frame.view, 0, frame.length);
    return frame.length;
  }

  #aclOf(type: EventType, path: string): readonly Acl[] {
    if (type !== EventType.childrenChanged) return this.#acl;
    const node = this.#state.tree.find(path);
    assert(node !== NO_NODE, () => `${path} is there when its children have changed`);
    return this.#state.tree.acl(node);
  }
}

function writePath(writer: JuteWriter, op: WithPath): void {
  if (!(op instanceof OpView)) return writer.string(op.path);
  const { view, pathStart, pathEnd } = op;
  writer.int(pathEnd - pathStart);
  writer.rawWithin(view, pathStart, pathEnd - pathStart);
}

function writeStat(writer: JuteWriter, tree: Tree, op: WithPath): void {
  const node = op instanceof OpView ? op.node : tree.find(op.path);
  assert(node !== NO_NODE, () => `${op.path} is there after its own change`);
  tree.writeStat(node, writer);
}

function errorResult(error: number): MultiResult {
  return { opcode: OpCode.error, error };
}

function resultsOf(ops: readonly NodeOp[], stats: readonly Stat[]): readonly MultiResult[] {
  let used = 0;
  const nextStat = (): Stat => {
    const stat = stats[used++];
    assert(stat !== undefined, 'each create and setData of a multi left its Stat');
    return stat;
  };
  return ops.map((op): MultiResult => {
    switch (op.kind) {
      case 'create': {
        const stat = nextStat();
        // As in 3.8, a create2 of a multi has become a create and has no Stat: see prepare-op.ts.
        if (op.opcode === OpCode.create) return { opcode: OpCode.create, path: op.path };
        return { opcode: OpCode.create2, path: op.path, stat };
      }
      case 'setData':
        return { opcode: OpCode.setData, stat: nextStat() };
      case 'delete':
        return { opcode: OpCode.delete };
      case 'check':
        return { opcode: OpCode.check };
      case 'setAcl':
        throw new InvariantViolation('a multi has no setAcl');
      default:
        return unreachable(op);
    }
  });
}

/** Some 50 ms of processor time: a thousand changes that 131 connections watch. */
const EVENTS_PER_TURN = 1 << 17;
/** Events are counted by watcher only past this part of the bound; most turns have far fewer. */
const COUNTED_FROM = 1 / 2;
/** An address or user that hears more than this part of the events gives way at the bound. */
const LARGE_PART = 1 / 8;
/** At this many times the bound the largest give way, however small they are. */
const SPREAD_FACTOR = 4;
/**
 * After a look that found large hearers, this part of the bound may follow before the next look.
 * After one that found none, as many events as there were: a look costs time, too.
 */
const MORE = 1 / 16;
const NOBODY: readonly WatcherId[] = [];

interface Heard {
  readonly watcher: WatcherId;
  readonly events: number;
  /** The events of its largest group. */
  readonly group: number;
}

/**
 * Bounds the watch events of one turn, and chooses whose connections are closed beyond that. An
 * event that is held back, because its watcher may not read the znode, counts as well: to judge it
 * takes as long as to write it.
 *
 * One multi may change thousands of znodes below a path that hundreds of connections watch, and all
 * of its events are written before anything else is answered. When the bound is reached, addresses
 * and users that hear a large part of all events give way, the largest first, until half of what is
 * heard is gone. Where none hears a large part, as with a cache at each of a hundred hosts, four
 * times as many events pass before the largest give way. Owned by Pipeline.
 */
export class EventBudget {
  readonly #groupsOf: WatchGroupsOf;
  readonly #eventsMax: number;
  readonly #heard = new Map<WatcherId, number>();
  #events = 0;
  #examinedAt: number;

  constructor(groupsOf: WatchGroupsOf, eventsMax = EVENTS_PER_TURN) {
    this.#groupsOf = groupsOf;
    this.#eventsMax = eventsMax;
    this.#examinedAt = eventsMax;
  }

  /** One event is about to be judged, and written if the watcher may read the znode. */
  add(watcher: WatcherId): void {
    this.#events += 1;
    if (this.#events <= this.#eventsMax * COUNTED_FROM) return;
    this.#heard.set(watcher, (this.#heard.get(watcher) ?? 0) + 1);
  }

  /** Returns the watchers that must get no further events; almost always none. */
  takeExcess(): readonly WatcherId[] {
    if (this.#events < this.#examinedAt) return NOBODY;
    const leaving = this.#largest();
    const more = leaving.length === 0 ? this.#events : this.#eventsMax * MORE;
    this.#examinedAt = this.#events + more;
    for (const watcher of leaving) this.#heard.delete(watcher);
    return leaving;
  }

  /** The turn is over. */
  renew(): void {
    this.#events = 0;
    this.#examinedAt = this.#eventsMax;
    if (this.#heard.size > 0) this.#heard.clear();
  }

  /** Returns watchers of the largest groups, until they account for half of all events. */
  #largest(): readonly WatcherId[] {
    const sums = new Map<string, number>();
    let total = 0;
    for (const [watcher, events] of this.#heard) {
      total += events;
      for (const group of this.#groupsOf(watcher)) {
        sums.set(group, (sums.get(group) ?? 0) + events);
      }
    }
    const all = [...this.#heard].map(([watcher, events]): Heard => {
      const group = Math.max(...this.#groupsOf(watcher).map((name) => sums.get(name) ?? 0));
      return { watcher, events, group };
    });
    all.sort((one, other) => other.group - one.group || other.events - one.events);
    const isSpreadTooFar = this.#events >= this.#eventsMax * SPREAD_FACTOR;
    const leaving: WatcherId[] = [];
    let wanted = total / 2;
    for (const { watcher, events, group } of all) {
      if (wanted <= 0 || !(isSpreadTooFar || group > total * LARGE_PART)) break;
      wanted -= events;
      leaving.push(watcher);
    }
    return leaving;
  }
}
