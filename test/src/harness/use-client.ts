/**
 * A client of one member for the running test alone: it is closed at the end of the test, whatever
 * the outcome.
 *
 * A member that is between two roles closes connections, as it may at any time, so connecting is
 * tried again until the deadline. An answer that says "expired" is final and not retried.
 */
import { onTestFinished } from 'vitest';
import type { Member } from './member.js';
import { until } from './wait.js';
import { ConnectionLost, type ConnectOptions, WireClient } from './wire-client.js';

const CONNECT_DEADLINE_MS = 20_000;

export async function useClient(
  member: Member,
  options: Omit<ConnectOptions, 'port'> = {},
): Promise<WireClient> {
  const client = await connectTo(member, options);
  onTestFinished(() => client.drop());
  return client;
}

/** Resolves with a connection that the caller must close. */
export async function connectTo(
  member: Member,
  options: Omit<ConnectOptions, 'port'> = {},
): Promise<WireClient> {
  const attempt = () => {
    return WireClient.connect({ ...options, port: member.clientPort }).catch((error: unknown) => {
      if (error instanceof ConnectionLost) throw error;
      return error instanceof Error ? error : new Error(String(error));
    });
  };
  const what = `member ${member.id} accepts a connection`;
  const outcome = await until(what, CONNECT_DEADLINE_MS, attempt);
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

/** Resumes the same session at another member, as a real client moves. */
export function resumeAt(member: Member, client: WireClient): Promise<WireClient> {
  return useClient(member, { session: client.session, lastZxidSeen: client.lastZxid });
}
