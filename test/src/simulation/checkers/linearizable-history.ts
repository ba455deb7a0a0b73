/**
 * Property: each znode behaves as one place of memory: writes, and reads behind a sync of the same
 * connection, have one order that respects real time and explains all answers.
 * Source: ARCHITECTURE.md on sync; Herlihy and Wing. For small runs: the search is costly.
 *
 * Collects the first operations on each path and searches at the end of the run. A read that
 * follows, on its connection, a sync that was answered well shows some state that was current
 * between the call of the sync and its own answer. (Behind a write it need not: the write's answer
 * may be long under way. That it shows the write is session-fifo's to check.) Left out: paths of
 * ephemeral and sequential znodes, which come and go with no operation that names them; answers
 * that tell of other znodes.
 */
import { ErrorCode, unreachable } from '@rookery/protocol';
import { evidenceOf } from '../../checking/by-key.js';
import { checkLinearizable } from '../../checking/linearizability.js';
import type { Operation } from '../../checking/model.js';
import { tells, type ZnodeOp, type ZnodeResult, znode } from '../../checking/models/znode.js';
import { type Checker, type NewChecker, PropertyBroken } from '../contract/checker.js';
import type { Invocation, MultiPart, Reply, Result, Unanswered } from '../contract/history.js';

export interface LinearizableHistoryOptions {
  /** Of each path; what comes later is not looked at. Default 300. */
  readonly operationsMax?: number;
  /** Default 500. */
  readonly pathsMax?: number;
  /** Of the search of one path, after which nothing is said; default 100,000. */
  readonly stepsMax?: number;
}

type Entry = Operation<ZnodeOp, ZnodeResult> & { readonly client: number };

interface PathHistory {
  readonly entries: Entry[];
  /** No more is taken: answers that come now may show what is not in the history. */
  isFull: boolean;
}

/** What a write asks of one path. */
interface Asked {
  readonly path: string;
  readonly op: ZnodeOp;
}

/** Of a contradiction: the last of the operations that show it. */
const LINES_MAX = 16;
const SEQUENCE = /\d{10}$/;

export function newLinearizableHistory(options: LinearizableHistoryOptions = {}): NewChecker {
  return () => new LinearizableHistory(options);
}

class LinearizableHistory implements Checker {
  readonly property = 'each znode is linearizable, writes and sync + read';
  readonly #options: Required<LinearizableHistoryOptions>;
  readonly #paths = new Map<string, PathHistory>();
  /** Ephemeral paths, and what sequential ones begin with. */
  readonly #leftOut = new Set<string>();
  /** Writes under way, by their order. */
  readonly #underWay = new Map<number, readonly Asked[]>();
  /** By connection, the call of the last sync that was answered well. */
  readonly #floors = new Map<number, number>();

  constructor({
    operationsMax = 300,
    pathsMax = 500,
    stepsMax = 300_000,
  }: LinearizableHistoryOptions) {
    this.#options = { operationsMax, pathsMax, stepsMax };
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
    if (operation.kind === 'get' || operation.kind === 'exists') {
      const calledAt = this.#floors.get(connection);
      if (calledAt === undefined) return;
      const { error, stat } = result;
      const data = operation.kind === 'get' ? (result.data ?? undefined) : undefined;
      const seen = { error, data, version: stat?.version };
      const answer = { at: order, result: seen };
      this.#add(operation.path, {
        op: { kind: 'get' },
        calledAt,
        answer,
        client: invocation.client,
      });
      return;
    }
    this.#settle(invocation, { at: order, result });
    if (isWell && operation.kind === 'sync') this.#floors.set(connection, invocation.order);
  }

  onUnanswered({ invocation }: Unanswered): void {
    this.#settle(invocation, null);
  }

  onEnd(): void {
    for (const [order, asked] of this.#underWay) {
      for (const { path, op } of asked) {
        this.#add(path, { op, calledAt: order, answer: null, client: 0 });
      }
    }
    for (const [path, { entries }] of this.#paths) this.#search(path, entries);
  }

  /** The end of a write, on each of its paths. */
  #settle(
    { order, client }: Invocation,
    reply: { readonly at: number; readonly result: Result } | null,
  ): void {
    const asked = this.#underWay.get(order);
    if (asked === undefined) return;
    this.#underWay.delete(order);
    for (const { path, op } of asked) {
      if (reply === null) {
        this.#add(path, { op, calledAt: order, answer: null, client });
        continue;
      }
      const { error, stat } = reply.result;
      // A refused multi has no effect, and its answer tells of more than this znode.
      if (!tells(op, error)) continue;
      const version = op.kind === 'set' ? stat?.version : undefined;
      const answer = { at: reply.at, result: { error, version } };
      this.#add(path, { op, calledAt: order, answer, client });
    }
  }

  /**
   * By path. When a history is full, what is under way on its path is kept as unanswered: its
   * answer may show what comes later.
   */
  #add(path: string, entry: Entry): void {
    if (this.#isLeftOut(path)) return;
    let history = this.#paths.get(path);
    if (history === undefined) {
      if (this.#paths.size >= this.#options.pathsMax) return;
      history = { entries: [], isFull: false };
      this.#paths.set(path, history);
    }
    if (history.isFull) return;
    history.entries.push(entry);
    if (history.entries.length < this.#options.operationsMax) return;
    history.isFull = true;
    for (const [calledAt, asked] of this.#underWay) {
      for (const one of asked) {
        if (one.path !== path) continue;
        history.entries.push({ op: one.op, calledAt, answer: null, client: 0 });
      }
    }
  }

  /** What parts ask of each path; several of one path are one operation. */
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

  #search(path: string, entries: readonly Entry[]): void {
    if (this.#isLeftOut(path)) return;
    const bounds = { stepsMax: this.#options.stepsMax };
    const outcome = checkLinearizable(znode, entries, bounds);
    if (outcome.verdict !== 'contradiction') return;
    const evidence = evidenceOf(znode, entries, outcome.at, bounds);
    const states = outcome.states.join('" or "');
    const clients = new Map(entries.map(({ op, client }) => [op, client]));
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
