/**
 * For tests of checkers: histories written by hand, with one line for each event.
 *
 * It assigns order and time as the recorder does and notifies one checker. Whatever is not given
 * has a simple default: member 1, client 1 in session 1 on connection 1, one millisecond between
 * events.
 */
import type { Txn, TxnOp } from '../../../simulated.js';
import { ReplicatedState } from '../../../simulated.js';
import type { Checker, NewChecker, RunFacts } from '../../contract/checker.js';
import { OPEN_ACL } from '../../contract/grants.js';
import type {
  Invocation,
  Operation,
  Overheard,
  ReadOnlySeen,
  Result,
  SessionSeen,
  StatSeen,
  WatchEventSeen,
} from '../../contract/history.js';
import type { LateArrival } from '../../contract/observation.js';

export const FACTS: RunFacts = {
  members: 3,
  peerTimeoutMs: 1_000,
  heartbeatMs: 100,
  clockDrift: 0.01,
  clockToleranceMs: 10_000,
  reapEveryMs: 60_000,
  latencyMaxMs: 5,
};

export const STAT: StatSeen = {
  czxid: 0,
  mzxid: 0,
  pzxid: 0,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0,
  numChildren: 0,
};

const PLAIN: Result = {
  error: 0,
  zxid: 0,
  path: null,
  data: null,
  stat: null,
  children: null,
  parts: null,
};
const NO_STATE = new ReplicatedState();

export class SmallHistory {
  nowMs = 0;
  readonly #checker: Checker;
  #order = 0;
  #requests = 0;

  constructor(newChecker: NewChecker, facts: RunFacts = FACTS) {
    this.#checker = newChecker(facts);
  }

  get checker(): Checker {
    return this.#checker;
  }

  ask(operation: Operation, by: Partial<Invocation> = {}): Invocation {
    const invocation = { ...this.#stamp(), client: 1, session: 1, connection: 1, operation, ...by };
    this.#checker.onInvocation?.(invocation);
    return invocation;
  }

  answer(invocation: Invocation, result: Partial<Result>): void {
    this.#checker.onReply?.({ ...this.#stamp(), invocation, result: { ...PLAIN, ...result } });
  }

  /** A request that is answered at once. */
  done(operation: Operation, result: Partial<Result>, by: Partial<Invocation> = {}): void {
    this.answer(this.ask(operation, by), result);
  }

  lose(invocation: Invocation): void {
    this.#checker.onUnanswered?.({ ...this.#stamp(), invocation });
  }

  event(type: number, path: string, zxid: number, by: Partial<WatchEventSeen> = {}): void {
    const plain = { client: 1, session: 1, connection: 1 };
    this.#checker.onWatchEvent?.({ ...this.#stamp(), ...plain, type, path, zxid, ...by });
  }

  overheard(zxid: number, by: Partial<Overheard> = {}): void {
    const plain = { client: 1, session: 1, connection: 1 };
    this.#checker.onOverheard?.({ ...this.#stamp(), ...plain, zxid, ...by });
  }

  readOnly(operation: Operation, result: Partial<Result>, by: Partial<ReadOnlySeen> = {}): void {
    const plain = {
      client: 9,
      connection: 9,
      member: 1,
      operation,
      result: { ...PLAIN, ...result },
    };
    this.#checker.onReadOnly?.({ ...this.#stamp(), ...plain, ...by });
  }

  session(change: SessionSeen['change'], how: Partial<SessionSeen> = {}): void {
    const where = { client: 1, session: 1, connection: 1, member: 1 };
    const stamp = this.#stamp();
    const what = { change, askedAtMs: stamp.atMs, timeoutMs: 4_000, zxid: 0 };
    this.#checker.onSession?.({ ...stamp, ...where, ...what, ...how });
  }

  /** By session 1 at member 1, unless stated otherwise. */
  applied(zxid: number, op: TxnOp, how: Partial<Txn> & AppliedHow = {}): void {
    const { member = 1, state = NO_STATE, ...ofTxn } = how;
    const request = ++this.#requests;
    const txn = { origin: 1, request, session: 1, time: this.nowMs, op, ...ofTxn };
    const of = { member, incarnation: 1, ownMs: this.nowMs };
    this.#checker.onApplied?.({ ...this.#stamp(), ...of, zxid, txn, state });
  }

  reach(member: number, reaches: readonly number[], late?: LateArrival): void {
    this.#checker.onReach?.({ ...this.#stamp(), member, reaches, late });
  }

  end(applied: number, state: ReplicatedState): void {
    this.#checker.onEnd?.({ ...this.#stamp(), members: [{ member: 1, state, applied }] });
  }

  #stamp(): { readonly order: number; readonly atMs: number } {
    this.nowMs += 1;
    this.#order += 1;
    return { order: this.#order, atMs: this.nowMs };
  }
}

interface AppliedHow {
  readonly member?: number;
  readonly state?: ReplicatedState;
}

export const SET = (path: string, data = 'x', version = -1): Operation => {
  return { kind: 'set', path, data, version };
};
export const GET = (path: string, watch = false): Operation => ({ kind: 'get', path, watch });

export function setOp(path: string, version: number, data = 'x'): TxnOp {
  return { kind: 'setData', path, data: Buffer.from(data), version };
}

export function createOp(
  path: string,
  data = 'x',
  mode: 'persistent' | 'ephemeral' = 'persistent',
  acl = OPEN_ACL,
) {
  return { kind: 'create', path, data: Buffer.from(data), acl, mode, ttlMs: 0, opcode: 1 } as const;
}

export const OPEN: TxnOp = {
  kind: 'createSession',
  timeoutMs: 4_000,
  password: new Uint8Array(16),
};
export const BEGIN_CLOSE: TxnOp = { kind: 'beginClose' };
export const CLOSE: TxnOp = { kind: 'closeSession' };

export function refusal(code: number, codes: readonly number[] | null = null): TxnOp {
  return { kind: 'error', code, codes };
}
