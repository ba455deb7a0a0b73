/**
 * One znode as a register: its data and version, or that it does not exist, or that its state is
 * unknown, as where a history begins in the middle; the first answer that reveals the state then
 * decides.
 *
 * The model covers the answers that depend on this znode alone; it does not check what an answer
 * implies about the parent or children (no parent, not empty). A multi's operations on one znode
 * are one `all`.
 */
import { ErrorCode, unreachable } from '@rookery/protocol';
import type { Model } from '../model.js';

type Known = { readonly data: string; readonly version: number } | null;
export type ZnodeState = Known | 'any';

export type ZnodeOp =
  | { readonly kind: 'create'; readonly data: string }
  /** `version` -1 matches any version. */
  | { readonly kind: 'set'; readonly data: string; readonly version: number }
  | { readonly kind: 'delete'; readonly version: number }
  | { readonly kind: 'check'; readonly version: number }
  | { readonly kind: 'get' }
  /** All operations succeed, or the multi has no effect and is not in the history. */
  | { readonly kind: 'all'; readonly parts: readonly ZnodeOp[] };

/** Undefined where the value is unknown. */
export interface ZnodeResult {
  readonly error: number;
  /** The data for a get; undefined if only the version was requested. */
  readonly data?: string | undefined;
  /** The version for a get or set, from the answer's Stat. */
  readonly version?: number | undefined;
}

/** `initial` is null where the history begins with the run. */
export function znode(initial: null | 'any'): Model<ZnodeState, ZnodeOp, ZnodeResult> {
  return {
    initial,
    key: (state) => {
      if (state === 'any') return state;
      return state === null ? 'none' : `${state.version} ${state.data}`;
    },
    isObserver: ({ kind }, result) =>
      kind === 'get' || kind === 'check' || (result !== undefined && result.error !== ErrorCode.ok),
    overwrites: () => false,
    step: (state, op, result) => {
      if (state === 'any') return [toldBy(op, result)];
      const outcome = outcomeOf(state, op);
      return result === undefined || fits(outcome, result) ? [outcome.state] : [];
    },
  };
}

/** What an answer reveals about a znode of which nothing was known before. */
function toldBy(op: ZnodeOp, result: ZnodeResult | undefined): ZnodeState {
  if (result === undefined) return 'any';
  const { error, data, version } = result;
  if (error === ErrorCode.noNode) return null;
  if (error !== ErrorCode.ok) return 'any';
  switch (op.kind) {
    case 'create':
      return { data: op.data, version: 0 };
    case 'set':
      return version === undefined ? 'any' : { data: op.data, version };
    case 'get':
      return data === undefined || version === undefined ? 'any' : { data, version };
    case 'delete':
      return null;
    case 'check':
    case 'all':
      return 'any';
    default:
      return unreachable(op);
  }
}

/**
 * Whether the checker would detect a wrong answer of this kind; if not, it is left out of the
 * history.
 */
export function tells(op: ZnodeOp, error: number): boolean {
  switch (error) {
    case ErrorCode.ok:
      return true;
    case ErrorCode.nodeExists:
      return op.kind === 'create';
    case ErrorCode.noNode:
      return op.kind === 'get' || op.kind === 'set' || op.kind === 'delete';
    case ErrorCode.badVersion:
      return op.kind === 'set' || op.kind === 'delete';
    default:
      return false;
  }
}

interface Outcome extends ZnodeResult {
  readonly state: Known;
}

function outcomeOf(state: Known, op: ZnodeOp): Outcome {
  switch (op.kind) {
    case 'create': {
      if (state !== null) return { state, error: ErrorCode.nodeExists };
      return { state: { data: op.data, version: 0 }, error: ErrorCode.ok };
    }
    case 'get':
      return state === null ? missing : { state, error: ErrorCode.ok, ...state };
    case 'set': {
      const refusal = refusalOf(state, op.version);
      if (refusal !== null || state === null) return refusal ?? missing;
      const version = state.version + 1;
      return { state: { data: op.data, version }, error: ErrorCode.ok, version };
    }
    case 'delete':
      return refusalOf(state, op.version) ?? { state: null, error: ErrorCode.ok };
    case 'check':
      return refusalOf(state, op.version) ?? { state, error: ErrorCode.ok };
    case 'all':
      return allOf(state, op.parts);
    default:
      return unreachable(op);
  }
}

const missing: Outcome = { state: null, error: ErrorCode.noNode };

function refusalOf(state: Known, version: number): Outcome | null {
  if (state === null) return missing;
  const isRight = version === -1 || version === state.version;
  return isRight ? null : { state, error: ErrorCode.badVersion };
}

function allOf(state: Known, parts: readonly ZnodeOp[]): Outcome {
  let outcome: Outcome = { state, error: ErrorCode.ok };
  for (const part of parts) {
    outcome = outcomeOf(outcome.state, part);
    if (outcome.error !== ErrorCode.ok) return { state, error: outcome.error };
  }
  return outcome;
}

/** The `version` of an `all` is that of its last part. */
function fits(outcome: Outcome, { error, data, version }: ZnodeResult): boolean {
  if (error !== outcome.error) return false;
  if (data !== undefined && data !== outcome.data) return false;
  return version === undefined || version === outcome.version;
}
