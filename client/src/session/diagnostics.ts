/**
 * The channels of node:diagnostics_channel to which observers may subscribe. Without a subscriber
 * they cost nothing.
 *
 * - `tracing:rookery:client:operation:*`: the TracingChannel `rookery:client:operation` with an
 *   OperationTrace, from the call of each operation (start) to its settlement (asyncEnd).
 * - `rookery:client:operation`: an OperationMessage for each operation when it settles.
 * - `rookery:client:state`: a StateMessage for each change of the client's state.
 * - `rookery:client:attempt`: an AttemptMessage for each server from which no session could be got.
 * - `rookery:client:lag`: a LagMessage when this process was busy for so long that the session may
 *   be lost.
 *
 * Subscribers are called synchronously. Node reports what they throw as uncaught.
 */
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { type Int64, opcodeName } from '@rookery/protocol';
import type { StateChange } from '../api/values.js';

export interface OperationMessage {
  /** The `name` option of the client. */
  readonly client: string;
  /** The path as the server sees it, chroot included. */
  readonly path: string | undefined;
  /** The operation's name in OpCode of @rookery/protocol. */
  readonly op: string;
  /**
   * The member to which the client was connected when the operation settled, as "host:port", or
   * null.
   */
  readonly server: string | null;
  /** The time from the call to the settlement, in milliseconds. */
  readonly latencyMs: number;
  /** The zxid of the reply, 0n if there was none. */
  readonly zxid: bigint;
  readonly error: Error | null;
}

/**
 * Each operation has one such object, which all of its messages share, so a WeakMap can associate
 * data with it, such as a span. A store that is bound to `start` is active while the operation is
 * called.
 */
export interface OperationTrace {
  /** The `name` option of the client. */
  readonly client: string;
  /** The operation's name in OpCode of @rookery/protocol. */
  readonly op: string;
  /** The path as the server sees it, chroot included. */
  readonly path: string | undefined;
  /**
   * The member to which the client was connected when the operation settled, as "host:port", or
   * null.
   */
  server: string | null;
  /** The zxid of the reply, 0n if there was none. */
  zxid: bigint;
  /** The error of a failed operation. Set before `error` and `asyncEnd` are published. */
  error?: Error;
}

export interface StateMessage extends StateChange {
  /** The `name` option of the client. */
  readonly client: string;
  /** The previous state. */
  readonly from: StateChange['state'];
  /** How long the client was in the previous state `from`, in milliseconds. */
  readonly fromMs: number;
  /** The member that the client is connected to, as "host:port", or null. */
  readonly server: string | null;
}

export interface AttemptMessage {
  /** The `name` option of the client. */
  readonly client: string;
  /** The server as "host:port", as in the connect string. */
  readonly server: string;
  readonly error: Error;
}

export interface LagMessage {
  /** The `name` option of the client. */
  readonly client: string;
  /** How long the event loop did not run, in milliseconds. */
  readonly lagMs: number;
  readonly sessionTimeoutMs: number;
}

/** An operation that has observers. */
export interface Observation {
  readonly calledAtMs: number;
  /** Null if the tracing channel had no subscriber at the time of the call. */
  readonly trace: OperationTrace | null;
}

export interface Settled {
  readonly client: string;
  readonly server: string | null;
  readonly nowMs: number;
  readonly error: Error | null;
}

interface ObservedOperation {
  readonly opcode: number;
  readonly path: string | undefined;
}

const operations = channel('rookery:client:operation');
const traces = tracingChannel<OperationTrace, OperationTrace>('rookery:client:operation');
const states = channel('rookery:client:state');
const attempts = channel('rookery:client:attempt');
const lags = channel('rookery:client:lag');

export function areOperationsObserved(): boolean {
  return operations.hasSubscribers || traces.hasSubscribers;
}

/**
 * Publishes the start, then calls `place`, which sends or queues the operation, with the stores
 * that are bound to the start.
 */
export function observeOperation(
  operation: ObservedOperation,
  called: { readonly client: string; readonly nowMs: number },
  place: (observation: Observation) => void,
): void {
  const calledAtMs = called.nowMs;
  if (!traces.hasSubscribers) {
    place({ calledAtMs, trace: null });
    return;
  }
  const { client } = called;
  const { path } = operation;
  const trace: OperationTrace = { client, op: opOf(operation), path, server: null, zxid: 0n };
  traces.start.runStores(trace, () => place({ calledAtMs, trace }));
  traces.end.publish(trace);
}

export function publishSettled(
  request: ObservedOperation & { readonly zxid: Int64 },
  observation: Observation,
  settled: Settled,
): void {
  const { client, server, error } = settled;
  const { path } = request;
  const zxid = BigInt(request.zxid);
  const { trace } = observation;
  if (trace !== null) {
    trace.server = server;
    trace.zxid = zxid;
    if (error !== null) {
      trace.error = error;
      traces.error.publish(trace);
    }
    traces.asyncStart.publish(trace);
    traces.asyncEnd.publish(trace);
  }
  if (!operations.hasSubscribers) return;
  const latencyMs = settled.nowMs - observation.calledAtMs;
  const message: OperationMessage = {
    client,
    path,
    op: opOf(request),
    server,
    latencyMs,
    zxid,
    error,
  };
  operations.publish(message);
}

export function publishState(message: StateMessage): void {
  states.publish(message);
}

export function publishAttempt(message: AttemptMessage): void {
  attempts.publish(message);
}

export function publishLag(message: LagMessage): void {
  lags.publish(message);
}

function opOf({ opcode }: ObservedOperation): string {
  return opcodeName(opcode) ?? String(opcode);
}
