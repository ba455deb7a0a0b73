/**
 * Property: each watch reports its change, once, before anything else shows that change. Source:
 * docs/architecture/core.md, invariant 6; ZOOKEEPER-1412, 4466, 4471, 4475 (modes), 3144; etcd's
 * watches that went back in time.
 *
 * It models the server's side of every connection's watches from the replies that set them, fires
 * them by the replay of the committed transactions, and so knows which events are due on which
 * connection. An event that arrives must be due, no older one may be missing, and no reply may name
 * a zxid at which one is still due. After setWatches2 exactly the missed changes must be reported,
 * with zxid -1. A removal is answered well if and only if there was such a watch, which then
 * reports nothing more.
 */
import { ErrorCode, EventType, formatZxid } from '@rookery/protocol';
import { PropertyBroken } from '../../contract/checker.js';
import type { Operation, Reply, SessionSeen, WatchEventSeen } from '../../contract/history.js';
import type { CommittedTree } from './committed-tree.js';
import type { NodeState, PathHistory, Watcher } from './node-state.js';
import { asked, type NewPart, type Part } from './part.js';
import { BIT, bitSetBy, catchUpOf, firedBy, REMOVED } from './watch-rules.js';

type Removal = Operation & { readonly kind: 'removeWatches' };

/** The watches that a client believes to be set; its next connection sets them again. */
type Told = Map<PathHistory, number>;

interface Connection {
  readonly number: number;
  readonly client: number;
  readonly watchers: Map<PathHistory, Watcher>;
  readonly due: NodeState[];
  /** The watches sent by setWatches2, whose answer is awaited. */
  sent: Told | null;
  /** The zxid in the request: everything up to here was seen. */
  readonly seenZxid: number;
  /** The events with zxid -1, as `type path`. */
  readonly caughtUp: string[];
}

class WatchOrder implements Part {
  readonly property = 'each watch reports its change, once, before anything shows it';
  readonly #tree: CommittedTree;
  readonly #connections = new Map<number, Connection>();
  readonly #told = new Map<number, Told>();
  #recursive = 0;

  constructor(tree: CommittedTree) {
    this.#tree = tree;
    tree.onChange = (state) => this.#onChange(state);
  }

  onSession(seen: SessionSeen): void {
    const { client, connection, change, zxid } = seen;
    const open = this.#connections.get(connection);
    switch (change) {
      case 'opened':
        this.#told.set(client, new Map());
        this.#connect(seen, null);
        return;
      case 'resumed': {
        const told = this.#told.get(client);
        this.#connect(seen, told === undefined || told.size === 0 ? null : new Map(told));
        return;
      }
      case 'reset':
        if (open !== undefined) this.#onReset(open, seen);
        return;
      case 'closed':
        this.#told.delete(client);
        if (open === undefined) return;
        this.#mustHaveTold(open, zxid, () => `its session was closed [${seen.order}]`);
        this.#disconnect(open);
        return;
      case 'expired':
        this.#told.delete(client);
        return;
      case 'disconnected':
        if (open !== undefined) this.#disconnect(open);
        return;
    }
  }

  onReply(reply: Reply): void {
    const { invocation, result } = reply;
    const open = this.#connections.get(invocation.connection);
    if (open === undefined) return;
    const { zxid } = result;
    if (open.due.length > 0) this.#mustHaveTold(open, zxid, () => replyText(reply));
    if (open.sent !== null) {
      this.#fail(open, `${replyText(reply)} before the watches were set again`);
    }
    const { operation } = invocation;
    if (operation.kind === 'removeWatches') return this.#onRemoval(open, reply, operation);
    const bit = bitSetBy(operation, result);
    if (bit === 0 || !('path' in operation)) return;
    const history = this.#tree.history(operation.path);
    const told = this.#told.get(open.client);
    const toldBit = bit === BIT.data && result.error !== ErrorCode.ok ? BIT.exist : bit;
    told?.set(history, (told.get(history) ?? 0) | toldBit);
    this.#arm(open, history, bit, zxid);
  }

  onWatchEvent(event: WatchEventSeen): void {
    const { connection, client, type, path, zxid } = event;
    const open = this.#connections.get(connection);
    if (open === undefined) return;
    this.#forgetTold(client, type, path);
    if (zxid === -1) {
      if (open.sent === null) this.#fail(open, `${eventText(event)} that no setWatches2 asked for`);
      open.caughtUp.push(`${type} ${path}`);
      return;
    }
    const { due } = open;
    const index = due.findIndex((state) => {
      return state.zxid === zxid && state.type === type && state.of.path === path;
    });
    if (index < 0) {
      const first = due[0] === undefined ? 'nothing is due' : `${dueText(due[0])} is due`;
      this.#fail(open, `${eventText(event)}, for which no watch stood; ${first}`);
    }
    const first = due[0];
    if (first !== undefined && first.zxid < zxid) {
      this.#fail(open, `${eventText(event)} before ${dueText(first)}`);
    }
    due.splice(index, 1);
  }

  #connect(seen: SessionSeen, sent: Told | null): void {
    const { connection: number, client, zxid: seenZxid } = seen;
    const watchers = new Map<PathHistory, Watcher>();
    const open = { number, client, watchers, due: [], sent, seenZxid, caughtUp: [] };
    this.#connections.set(number, open);
  }

  #disconnect(open: Connection): void {
    this.#connections.delete(open.number);
    for (const [history, watcher] of open.watchers) {
      if ((watcher.armed & BIT.recursive) !== 0) this.#recursive -= 1;
      const index = history.watchers.indexOf(watcher);
      if (index >= 0) history.watchers.splice(index, 1);
    }
  }

  #onReset(open: Connection, { zxid, order }: SessionSeen): void {
    const { sent, seenZxid, caughtUp } = open;
    open.sent = null;
    if (sent === null || zxid < this.#tree.floorZxid) return;
    const expected: string[] = [];
    for (const [history, bits] of sent) {
      const state = history.at(zxid);
      for (const bit of [BIT.data, BIT.exist, BIT.child, BIT.persistent, BIT.recursive]) {
        if ((bits & bit) === 0) continue;
        const type = catchUpOf(bit, state, seenZxid);
        if (type !== 0) expected.push(`${type} ${history.path}`);
        else this.#arm(open, history, bit === BIT.exist ? BIT.data : bit, zxid);
      }
    }
    const [told, missed] = [caughtUp.sort().join(', '), expected.sort().join(', ')];
    if (told === missed) return;
    const when = `between ${formatZxid(seenZxid)} and ${formatZxid(zxid)} [${order}]`;
    this.#fail(open, `was told [${told}] of what it missed ${when}, not [${missed}]`);
  }

  #onRemoval(open: Connection, reply: Reply, { path, type }: Removal): void {
    const { zxid, error } = reply.result;
    const history = this.#tree.history(path);
    const watcher = open.watchers.get(history);
    const removed = REMOVED[type];
    const had = watcher === undefined ? 0 : standingAt(watcher, zxid) & removed;
    const expected = had === 0 ? ErrorCode.noWatcher : ErrorCode.ok;
    if (error !== expected && zxid >= this.#tree.floorZxid) {
      this.#fail(open, `${replyText(reply)} with ${error}, not ${expected}`);
    }
    if (error !== ErrorCode.ok || watcher === undefined) return;
    this.#untell(open.client, history, removed);
    if ((watcher.armed & removed & BIT.recursive) !== 0) this.#recursive -= 1;
    watcher.armed &= ~removed;
    if ((removed & BIT.data) !== 0) watcher.dataFired = null;
    if ((removed & BIT.child) !== 0) watcher.childFired = null;
    const index = watcher.armed === 0 ? history.watchers.indexOf(watcher) : -1;
    if (index >= 0) history.watchers.splice(index, 1);
    // The replay may be ahead of the reply: what only these watches would have reported is not due.
    const still = open.due.filter((state) => isConcerned(open, state));
    open.due.splice(0, open.due.length, ...still);
  }

  /** The watch was set at `zxid`: what has happened since then has already fired it. */
  #arm(open: Connection, history: PathHistory, bit: number, zxid: number): void {
    if (zxid < this.#tree.floorZxid) return;
    let watcher = open.watchers.get(history);
    if (watcher === undefined) {
      watcher = { armed: 0, dataFired: null, childFired: null, due: open.due };
      open.watchers.set(history, watcher);
    }
    if ((watcher.armed & bit) !== 0) return;
    if (bit === BIT.data || bit === BIT.child) {
      const first = history.since(zxid).find(({ type }) => (firedBy(type) & bit) !== 0);
      if (first !== undefined) {
        if (bit === BIT.data) watcher.dataFired = first;
        else watcher.childFired = first;
        return addDue(open.due, first);
      }
    } else if (bit === BIT.persistent) {
      for (const state of history.since(zxid)) addDue(open.due, state);
    } else {
      const below = history.path === '/' ? '/' : `${history.path}/`;
      for (const state of this.#tree.changesSince(zxid)) {
        const isBelow = state.of === history || state.of.path.startsWith(below);
        if (isBelow && (firedBy(state.type) & BIT.recursive) !== 0) addDue(open.due, state);
      }
      this.#recursive += 1;
    }
    if (watcher.armed === 0) history.watchers.push(watcher);
    watcher.armed |= bit;
  }

  #onChange(state: NodeState): void {
    const fired = firedBy(state.type);
    if (state.of.watchers.length > 0) fire(state.of.watchers, state, fired);
    if (this.#recursive === 0 || (fired & BIT.recursive) === 0) return;
    for (let at = state.of.parent; at !== null; at = at.parent) {
      for (const watcher of at.watchers) {
        if ((watcher.armed & BIT.recursive) !== 0) expect(watcher.due, state);
      }
    }
  }

  #mustHaveTold(open: Connection, zxid: number, what: () => string): void {
    const first = open.due[0];
    if (first === undefined || first.zxid > zxid) return;
    this.#fail(open, `${what()} before ${dueText(first)}`);
  }

  #forgetTold(client: number, type: number, path: string): void {
    const history = this.#tree.known(path);
    if (history === undefined) return;
    this.#untell(client, history, firedBy(type) & ~(BIT.persistent | BIT.recursive));
  }

  #untell(client: number, history: PathHistory, removed: number): void {
    const told = this.#told.get(client);
    const bits = told?.get(history);
    if (told === undefined || bits === undefined) return;
    const left = bits & ~removed;
    if (left === 0) told.delete(history);
    else told.set(history, left);
  }

  #fail({ client, number }: Connection, what: string): never {
    throw new PropertyBroken(this.property, `client ${client}, connection ${number}: ${what}`);
  }
}

/** Removes one-shot watches; an entry without watches leaves the list. */
function fire(watchers: Watcher[], state: NodeState, fired: number): void {
  for (let at = watchers.length - 1; at >= 0; at--) {
    const watcher = watchers[at];
    if (watcher === undefined || (watcher.armed & fired) === 0) continue;
    expect(watcher.due, state);
    if ((watcher.armed & fired & BIT.data) !== 0) watcher.dataFired = state;
    if ((watcher.armed & fired & BIT.child) !== 0) watcher.childFired = state;
    watcher.armed &= ~fired | BIT.persistent | BIT.recursive;
    if (watcher.armed === 0) watchers.splice(at, 1);
  }
}

/** The watches that stood right after `zxid`, which is not older than the last reply. */
function standingAt({ armed, dataFired, childFired }: Watcher, zxid: number): number {
  const data = dataFired !== null && dataFired.zxid > zxid ? BIT.data : 0;
  const child = childFired !== null && childFired.zxid > zxid ? BIT.child : 0;
  return armed | data | child;
}

/** Whether a watch of the connection reports this change, after all removals so far. */
function isConcerned({ watchers }: Connection, state: NodeState): boolean {
  const fired = firedBy(state.type);
  const own = watchers.get(state.of);
  if (own !== undefined) {
    if (own.dataFired === state || own.childFired === state) return true;
    if ((own.armed & fired & (BIT.persistent | BIT.recursive)) !== 0) return true;
  }
  if ((fired & BIT.recursive) === 0) return false;
  for (let at = state.of.parent; at !== null; at = at.parent) {
    if (((watchers.get(at)?.armed ?? 0) & BIT.recursive) !== 0) return true;
  }
  return false;
}

/** One change is reported to one connection once. */
function expect(due: NodeState[], state: NodeState): void {
  if (due[due.length - 1] !== state) due.push(state);
}

/** A change of the past is inserted at its position. */
function addDue(due: NodeState[], state: NodeState): void {
  if (due.includes(state)) return;
  const index = due.findIndex(({ zxid }) => zxid > state.zxid);
  due.splice(index < 0 ? due.length : index, 0, state);
}

const NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(EventType).map(([name, type]) => [type, name]),
);

function dueText({ type, of, zxid }: NodeState): string {
  return `the event ${NAMES[type]} ${of.path} of ${formatZxid(zxid)}`;
}

function eventText({ type, path, zxid, order }: WatchEventSeen): string {
  const of = zxid < 0 ? String(zxid) : formatZxid(zxid);
  return `was told ${NAMES[type]} ${path} of ${of} [${order}]`;
}

function replyText({ invocation, result, order }: Reply): string {
  return `${asked(invocation)}, was answered at ${formatZxid(result.zxid)} [${order}]`;
}

export const newWatchOrder: NewPart = (tree) => new WatchOrder(tree);
