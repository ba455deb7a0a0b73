/**
 * Property: each znode behaves like one register: writes, and reads after a sync of the same
 * connection, have one order that respects real time and explains all answers. Source:
 * docs/architecture/life-of-a-request.md on sync; Herlihy and Wing.
 *
 * It collects operations on each path, searches when there are enough, leaves out some and begins
 * again. What was in flight or in doubt when a part began stays in doubt there, until its session
 * has had a later write answered on a newer connection, or is closed: earlier requests are done by
 * then, or never will be (ZooKeeper's FIFO order of a session), so that no more is in doubt than
 * the living sessions have lost since. A read that follows, on its connection, a successfully
 * answered sync shows some state that was current between the call of the sync and the read's own
 * answer. (After a write it need not: the write's answer may be in flight for long. That it shows
 * the write is checked by session-fifo.) Left out are the paths of ephemeral and sequential znodes,
 * which appear and disappear without an operation that names them, and answers that depend on other
 * znodes or on permissions.
 */
import { ErrorCode, unreachable } from '@rookery/protocol';
import { evidenceOf } from '../../checking/by-key.js';
import { checkLinearizable } from '../../checking/linearizability.js';
import type { Operation } from '../../checking/model.js';
import { tells, type ZnodeOp, type ZnodeResult, znode } from '../../checking/models/znode.js';
import { type Checker, type NewChecker, PropertyBroken } from '../contract/checker.js';
import type { Invocation, MultiPart, Reply, Result, Unanswered } from '../contract/history.js';
import type { Applied } from '../contract/observation.js';
import { isWrite } from './clients/part.js';

export interface LinearizableHistoryOptions {
  /** The number of operations on one path that are searched together; 100 by default. */
  readonly operationsMax?: number;
  /** The number of operations on a path that are then left out; 0 by default. */
  readonly leftOut?: number;
  /** The number of paths; 100 by default. */
  readonly pathsMax?: number;
  /** The steps of one search, after which there is no verdict; 20,000 by default. */
  readonly stepsMax?: number;
}

type Entry = Operation<ZnodeOp, ZnodeResult> & { readonly client: number };

interface PathHistory {
  /** The order at which this part began; 0 for the beginning of the run. */
  beganAt: number;
  entries: Entry[];
  /** The number of operations still to be left out before it begins again. */
  toLeaveOut: number;
  /** Writes that were never answered and whose data nobody has seen: they may still take effect. */
  lost: Lost[];
}

interface Lost {
  readonly entry: Entry;
  readonly session: number;
  readonly connection: number;
}

/** The operations that a write performs on one path. */
interface Asked {
  readonly path: string;
  readonly op: ZnodeOp;
}

/** What a read shows of one path. */
interface Shown {
  readonly path: string;
  readonly result: ZnodeResult;
}

/** For a contradiction: the last of the operations that show it. */
const LINES_MAX = 16;
const SEQUENCE = /\d{10}$/;

export function newLinearizableHistory(options: LinearizableHistoryOptions = {}): NewChecker {
  return () => new LinearizableHistory(options);
}

class LinearizableHistory implements Checker {
  readonly property = 'each znode is linearizable, writes and sync + read';
  readonly #options: Required<LinearizableHistoryOptions>;
  readonly #paths = new Map<string, PathHistory>();
  /** Ephemeral paths, and the prefixes of sequential ones. */
  readonly #leftOut = new Set<string>();
  /** Writes in flight, by their order. */
  readonly #underWay = new Map<number, readonly Asked[]>();
  /** Paths on which a session has lost writes, by session. */
  readonly #losers = new Map<number, Set<string>>();
  /** Ended sessions: their requests are done, or never will be. */
  readonly #closed = new Set<number>();
  /** By connection, the call of the last sync that was answered successfully. */
  readonly #floors = new Map<number, number>();

  constructor(options: LinearizableHistoryOptions) {
    const defaults = { operationsMax: 100, leftOut: 0, pathsMax: 100, stepsMax: 20_000 };
    this.#options = { ...defaults, ...options };
  }

  onInvocation({ operation, order }: Invocation): void {
    switch (operation.kind) {
      case 'create':
      case 'set':
      case 'delete':
        this.#underWay.set(order, this.#askedOf([operation]));
        return;
      case 'multi':
        this.#underWay.set(order, this.#askedOf(operation.parts));
        return;
      default:
    }
  }

  onReply({ invocation, result, order }: Reply): void {
    const { operation, connection } = invocation;
    const isWell = result.error === ErrorCode.ok;
    const shown = shownIn(operation, result);
    if (shown !== null) {
      for (const one of shown) this.#onShown(invocation, one, order);
      return;
    }
    this.#settle(invocation, order, result);
    if (!isWell) return;
    if (operation.kind === 'sync') this.#floors.set(connection, invocation.order);
    else if (isWrite(operation)) this.#outOfDoubt(invocation.session, connection);
  }

  #onShown({ connection, client }: Invocation, { path, result }: Shown, at: number): void {
    if (result.data !== undefined) this.#found(path, result.data);
    const calledAt = this.#floors.get(connection);
    if (calledAt === undefined) return;
    this.#add(path, { op: { kind: 'get' }, calledAt, answer: { at, result }, client }, at);
  }

  onApplied({ txn }: Applied): void {
    if (txn.op.kind !== 'closeSession') return;
    this.#closed.add(txn.session);
    this.#outOfDoubt(txn.session, Number.POSITIVE_INFINITY);
  }

  onUnanswered({ invocation, order }: Unanswered): void {
    this.#settle(invocation, order, null);
  }

  onEnd(): void {
    for (const [path, history] of this.#paths) this.#search(path, history);
  }

  /**
   * Records the end of a write, on each of its paths; `result` null means that it was not answered.
   */
  #settle(invocation: Invocation, at: number, result: Result | null): void {
    const { order: calledAt, client, session, connection } = invocation;
    const asked = this.#underWay.get(calledAt);
    if (asked === undefined) return;
    this.#underWay.delete(calledAt);
    for (const { path, op } of asked) {
      if (result === null) {
        const entry: Entry = { op, calledAt, answer: null, client };
        this.#add(path, entry, at);
        const history = this.#paths.get(path);
        if (history === undefined || this.#closed.has(session)) continue;
        history.lost.push({ entry, session, connection });
        const paths = this.#losers.get(session);
        if (paths === undefined) this.#losers.set(session, new Set([path]));
        else paths.add(path);
        if (history.beganAt === at) history.entries.push(entry);
      } else if (tells(op, result.error)) {
        const { error, stat } = result;
        const version = op.kind === 'set' ? stat?.version : undefined;
        this.#add(path, { op, calledAt, answer: { at, result: { error, version } }, client }, at);
      }
      // A refused multi has no effect, and its answer depends on more than this znode.
    }
  }

  /** It took effect, and will not do so again. */
  #found(path: string, data: string): void {
    const history = this.#paths.get(path);
    if (history === undefined || history.lost.length === 0) return;
    history.lost = history.lost.filter(
      ({ entry: { op } }) => (op.kind !== 'set' && op.kind !== 'create') || op.data !== data,
    );
  }

  /** What the session has lost on older connections is done, or never will be. */
  #outOfDoubt(session: number, connection: number): void {
    const paths = this.#losers.get(session);
    if (paths === undefined) return;
    for (const path of paths) {
      const history = this.#paths.get(path);
      const isInDoubt = (lost: Lost) => lost.session === session && lost.connection >= connection;
      if (history?.lost.some(isInDoubt) === true) continue;
      paths.delete(path);
      if (history !== undefined) {
        history.lost = history.lost.filter((lost) => lost.session !== session);
      }
    }
    if (paths.size === 0) this.#losers.delete(session);
  }

  /** `at` is the present order. */
  #add(path: string, entry: Entry, at: number): void {
    if (this.#isLeftOut(path)) return;
    let history = this.#paths.get(path);
    if (history === undefined) {
      if (this.#paths.size >= this.#options.pathsMax) {
        // This is permanent: what it missed would be unknown if another path freed capacity later.
        this.#leftOut.add(path);
        return;
      }
      history = { beganAt: 0, entries: [], toLeaveOut: 0, lost: [] };
      this.#paths.set(path, history);
    }
    if (history.toLeaveOut > 0) {
      history.toLeaveOut -= 1;
      if (history.toLeaveOut > 0) return;
      // A write in flight may have taken effect before, and may later.
      history.beganAt = at;
      history.entries = [...history.lost.map(({ entry }) => entry), ...this.#underWayOn(path)];
      return;
    }
    // A write is in the history already, as one in doubt; a read may show what was before.
    if (entry.calledAt < history.beganAt) return;
    history.entries.push(entry);
    if (history.entries.length < this.#options.operationsMax) return;
    this.#search(path, history);
    history.entries = [];
    history.toLeaveOut = this.#options.leftOut + 1;
  }

  #underWayOn(path: string): Entry[] {
    const entries: Entry[] = [];
    for (const [calledAt, asked] of this.#underWay) {
      for (const one of asked) {
        if (one.path === path) entries.push({ op: one.op, calledAt, answer: null, client: 0 });
      }
    }
    return entries;
  }

  /** Returns the operations of the parts on each path; several on one path are one operation. */
  #askedOf(parts: readonly MultiPart[]): readonly Asked[] {
    const byPath = new Map<string, ZnodeOp[]>();
    for (const part of parts) {
      const { path } = part;
      if (part.kind === 'create' && part.mode !== 'persistent') {
        this.#leftOut.add(path);
        this.#paths.delete(path);
        continue;
      }
      const ops = byPath.get(path);
      if (ops === undefined) byPath.set(path, [opOf(part)]);
      else ops.push(opOf(part));
    }
    return [...byPath].map(([path, ops]) => {
      const [op] = ops;
      const isOne = parts.length === 1 && op !== undefined;
      return { path, op: isOne ? op : { kind: 'all', parts: ops } };
    });
  }

  #isLeftOut(path: string): boolean {
    return this.#leftOut.has(path) || this.#leftOut.has(path.replace(SEQUENCE, ''));
  }

  /** A write in flight may have taken effect: its answer may show what comes later. */
  #search(path: string, { beganAt, entries }: PathHistory): void {
    if (this.#isLeftOut(path)) return;
    const there = new Set(entries.map(({ calledAt }) => calledAt));
    const underWay = this.#underWayOn(path).filter(({ calledAt }) => !there.has(calledAt));
    const history = [...entries, ...underWay];
    const bounds = { stepsMax: this.#options.stepsMax };
    const model = znode(beganAt === 0 ? null : 'any');
    const outcome = checkLinearizable(model, history, bounds);
    if (outcome.verdict !== 'contradiction') return;
    const evidence = evidenceOf(model, history, outcome.at, bounds);
    const states = outcome.states.join('" or "');
    const clients = new Map(history.map(({ op, client }) => [op, client]));
    const lines = evidence.map((one) => `client ${clients.get(one.op)} ${textOf(one)}`);
    const earlier = lines.splice(0, Math.max(lines.length - LINES_MAX, 0)).length;
    if (earlier > 0) lines.unshift(`(${earlier} earlier ones)`);
    throw new PropertyBroken(
      this.property,
      `${path}: no order explains ${textOf(outcome.at)}; the version and data before it may have ` +
        `been "${states}". It takes no more than these:\n  ${lines.join('\n  ')}`,
    );
  }
}

function opOf(part: MultiPart): ZnodeOp {
  switch (part.kind) {
    case 'create':
      return { kind: 'create', data: part.data };
    case 'set':
      return { kind: 'set', data: part.data, version: part.version };
    case 'delete':
      return { kind: 'delete', version: part.version };
    case 'check':
      return { kind: 'check', version: part.version };
    default:
      return unreachable(part);
  }
}

function textOf({ op, calledAt, answer }: Operation<ZnodeOp, ZnodeResult>): string {
  const { kind, ...of } = op;
  const came = answer === null ? 'unanswered' : JSON.stringify(answer.result);
  return `${kind} ${JSON.stringify(of)} -> ${came} [${calledAt}-${answer?.at ?? ''}]`;
}

/** Null for what is no read of single znodes. */
function shownIn(asked: Invocation['operation'], result: Result): readonly Shown[] | null {
  if (asked.kind === 'multiRead') {
    return asked.reads.flatMap(({ kind, path }, at) => {
      const read = result.reads?.[at];
      return kind !== 'get' || read === undefined ? [] : shownOf(path, read);
    });
  }
  if (asked.kind !== 'get' && asked.kind !== 'exists') return null;
  return shownOf(asked.path, result);
}

/** What may not be read is not shown. */
function shownOf(path: string, read: Parameters<typeof resultOf>[0]): readonly Shown[] {
  return read.error === ErrorCode.noAuth ? [] : [{ path, result: resultOf(read) }];
}

function resultOf({ error, data, stat }: Pick<Result, 'error' | 'data' | 'stat'>): ZnodeResult {
  return { error, data: data ?? undefined, version: stat?.version };
}
