/**
 * A connection with a new session that sends nothing by itself; its owner sends one request at a
 * time.
 *
 * It is for callers that need a session and measure no load with it: nothing is recorded, and
 * nobody is notified when it is lost. The agent's writer and the wait for a serving member use it.
 */
import { LoadConnection } from './connection.js';
import type { Host } from './dial.js';
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
