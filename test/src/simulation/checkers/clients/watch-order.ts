/**
 * Property: each watch reports its change, once, before anything else shows that change. Source:
 * docs/architecture/core.md, invariant 6; ZOOKEEPER-1412, 4466, 4471, 4475 (modes), 3144; etcd's
 * watches that went back in time.
 *
 * It models the server's side of every connection's watches from the replies that set them, fires
 * them by the replay of the committed transactions, and so knows which events are due on which
 * connection. An event that arrives must be due, no older one may be missing, and no reply may name
 * a zxid at which one is still due. After setWatches2 exactly the missed changes must be reported,
 * with zxid -1.
 */
import { ErrorCode, EventType, formatZxid } from '@rookery/protocol';
import { PropertyBroken } from '../../contract/checker.js';
import type { Reply, SessionSeen, WatchEventSeen } from '../../contract/history.js';
import type { CommittedTree } from './committed-tree.js';
import type { NodeState, PathHistory, Watcher } from './node-state.js';
import { asked, type NewPart, type Part } from './part.js';
import { BIT, bitSetBy, catchUpOf, firedBy } from './watch-rules.js';

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

  /** The watch was set at `zxid`: what has happened since then has already fired it. */
  #arm(open: Connection, history: PathHistory, bit: number, zxid: number): void {
    if (zxid < this.#tree.floorZxid) return;
    let watcher = open.watchers.get(history);
    if (watcher === undefined) {
      watcher = { armed: 0, due: open.due };
      open.watchers.set(history, watcher);
    }
    if ((watcher.armed & bit) !== 0) return;
    if (bit === BIT.data || bit === BIT.child) {
      const first = history.since(zxid).find(({ type }) => (firedBy(type) & bit) !== 0);
      if (first !== undefined) return addDue(open.due, first);
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
    const told = this.#told.get(client);
    const bits = history === undefined ? undefined : told?.get(history);
    if (history === undefined || told === undefined || bits === undefined) return;
    const left = bits & (BIT.persistent | BIT.recursive | ~firedBy(type));
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
    watcher.armed &= ~fired | BIT.persistent | BIT.recursive;
    if (watcher.armed === 0) watchers.splice(at, 1);
  }
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
