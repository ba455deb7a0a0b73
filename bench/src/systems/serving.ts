/**
 * Waits until a member serves: until it gives a client a session, which takes a quorum.
 *
 * A member that only listens, or looks for a leader, gives none. Asks anew every few milliseconds,
 * so what is timed by it is exact to that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../load/connection.js';
import { idleConnection } from '../load/idle-connection.js';

const RETRY_MS = 10;
const ATTEMPT_TIMEOUT_MS = 1000;

/** False when `deadlineMs` (of performance.now) passes first. */
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
  // Nobody waits for the end of the session; a member may be busy with more than us.
  void connection.close();
  return true;
}
