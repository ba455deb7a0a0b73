/**
 * Waits until a member serves, which means until it grants a client a session; that takes a quorum.
 *
 * A member that only listens, or looks for a leader, grants none. The wait tries again every few
 * milliseconds, which is the precision of what is timed by it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../load/dial.js';
import { idleConnection } from '../load/idle-connection.js';

const RETRY_MS = 10;
const ATTEMPT_TIMEOUT_MS = 1000;

/** Resolves with false if `deadlineMs` (of performance.now) passes first. */
export async function untilServing(host: Host, deadlineMs: number): Promise<boolean> {
  while (performance.now() < deadlineMs) {
    if (await givesSession(host)) return true;
    await sleep(RETRY_MS);
  }
  return false;
}

async function givesSession(host: Host): Promise<boolean> {
  const connection = idleConnection(host);
  const timeout = setTimeout(() => connection.abandon(), ATTEMPT_TIMEOUT_MS);
  try {
    await connection.connected();
  } catch {
    return false;
  } finally {
    clearTimeout(timeout);
  }
  // Nobody waits for the end of the session; the member may be busy with other clients.
  void connection.close();
  return true;
}
