/**
 * The address at which clients reach the leader. Whatever stalls the leader stalls everybody, so
 * most attacks are directed at it.
 */
import type { Host } from '../load/dial.js';
import type { Context } from '../run/context.js';

export async function leaderHost({ ensemble }: Context): Promise<Host> {
  const host = ensemble.hosts[await ensemble.leader()];
  if (host === undefined) throw new Error('the leader is none of the members');
  return host;
}
