/**
 * A connection with a new session that sends nothing by itself, one request at a time.
 *
 * For callers that need a session and measure no load with it: nothing of it is recorded, and
 * nobody is notified when it is lost. Called by the agent's writer and by the wait for a member
 * that serves.
 */
import { type Host, LoadConnection } from './connection.js';
import { Recorder } from './recorder.js';

const READ_BYTES = 4096;
const SESSION_TIMEOUT_MS = 30_000;

/** Begins to connect; `connected()` of the result resolves when the session exists. */
export function idleConnection(host: Host): LoadConnection {
  return new LoadConnection({
    host,
    window: 1,
    session: null,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    recorder: new Recorder(),
    readMemory: Buffer.allocUnsafeSlow(READ_BYTES),
    onLost: () => undefined,
    onEvent: () => undefined,
  });
}
