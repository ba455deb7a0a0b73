/**
 * What observers may subscribe to by node:diagnostics_channel. Costs nothing when nobody does.
 *
 * - `tracing:rookery:client:operation:*`: the TracingChannel `rookery:client:operation` with an
 *   OperationTrace, from the call of each operation (start) to its settlement (asyncEnd).
 * - `rookery:client:operation`: OperationMessage, once for each settled operation.
 * - `rookery:client:state`: StateMessage, for each change of the client's state.
 * - `rookery:client:attempt`: AttemptMessage, for each server that was asked in vain for a session.
 * - `rookery:client:lag`: LagMessage, when this process was busy for so long that the session may
 *   be lost.
 *
 * Subscribers are called synchronously; what they throw, Node reports as uncaught.
 */
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { type Int64, opcodeName } from '@rookery/protocol';
import type { StateChange } from '../api/values.js';

export interface OperationMessage {
  /** The client's `name`. */
  readonly client: string;
  /** The server's path, chroot included. */
  readonly path: string | undefined;
  /** As in @rookery/protocol's OpCode. */
  readonly op: string;
  /** "host:port" of the member connected to when it settled, or null. */
  readonly server: string | null;
  /** From the call to the settlement, milliseconds. */
  readonly latencyMs: number;
  /** Of the reply, 0n without one. */
  readonly zxid: bigint;
  readonly error: Error | null;
}

/**
 * One object for each operation, the same in all of its messages: a WeakMap may hold what belongs
 * to it, such as a span. Stores that are bound to `start` hold while the operation is called.
 */
export interface OperationTrace {
  /** The client's `name`. */
  readonly client: string;
  /** As in @rookery/protocol's OpCode. */
  readonly op: string;
  /** The server's path, chroot included. */
  readonly path: string | undefined;
  /** "host:port" of the member connected to when it settled, or null. */
  server: string | null;
  /** Of the reply, 0n without one. */
  zxid: bigint;
  /** Set before `error` and `asyncEnd` are published, for an operation that has failed. */
  error?: Error;
}

export interface StateMessage extends StateChange {
  /** The client's `name`. */
  readonly client: string;
  /** The state before. */
  readonly from: StateChange['state'];
  /** How long the client was in it, milliseconds. */
  readonly fromMs: number;
  /** "host:port" of the member connected to, or null. */
  readonly server: string | null;
}

export interface AttemptMessage {
  /** The client's `name`. */
  readonly client: string;
  /** "host:port", as in the connect string. */
  readonly server: string;
  readonly error: Error;
}

export interface LagMessage {
  /** The client's `name`. */
  readonly client: string;
  /** For how long the event loop did not run, milliseconds. */
  readonly lagMs: number;
  readonly sessionTimeoutMs: number;
}

/** An operation that somebody observes. */
export interface Observation {
  readonly calledAtMs: number;
  /** Null when the tracing channel had no subscriber at the call. */
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
 * Tells of the start and calls `place`, which sends or queues the operation, within the stores that
 * are bound to the start.
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
    ...{ client, path, op: opOf(request), server, latencyMs, zxid, error },
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
