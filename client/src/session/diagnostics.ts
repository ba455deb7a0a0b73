/**
 * What observers may subscribe to by node:diagnostics_channel. Costs nothing when nobody does.
 *
 * - `rookery:client:operation`: OperationMessage, once for each settled operation.
 * - `rookery:client:attempt`: AttemptMessage, for each server that was asked in vain for a session.
 * - `rookery:client:lag`: LagMessage, when this process was busy for so long that the session may
 *   be lost.
 */
import { channel } from 'node:diagnostics_channel';
import { opcodeName } from '@rookery/protocol';
import type { Request } from './request.js';

export interface OperationMessage {
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

export interface AttemptMessage {
  /** "host:port", as in the connect string. */
  readonly server: string;
  readonly error: Error;
}

export interface LagMessage {
  /** For how long the event loop did not run, milliseconds. */
  readonly lagMs: number;
  readonly sessionTimeoutMs: number;
}

const operations = channel('rookery:client:operation');
const attempts = channel('rookery:client:attempt');
const lags = channel('rookery:client:lag');

export function areOperationsObserved(): boolean {
  return operations.hasSubscribers;
}

export function publishOperation(
  request: Request,
  settled: { readonly nowMs: number; readonly server: string | null; readonly error: Error | null },
): void {
  const message: OperationMessage = {
    path: request.path,
    op: opcodeName(request.opcode) ?? String(request.opcode),
    server: settled.server,
    latencyMs: settled.nowMs - request.calledAtMs,
    zxid: BigInt(request.zxid),
    error: settled.error,
  };
  operations.publish(message);
}

export function publishAttempt(message: AttemptMessage): void {
  attempts.publish(message);
}

export function publishLag(message: LagMessage): void {
  lags.publish(message);
}
