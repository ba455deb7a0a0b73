/**
 * Group membership: joins a group and lists it for ever.
 *
 *   node group-membership.js 127.0.0.1:2181 ann      in one terminal
 *   node group-membership.js 127.0.0.1:2181 bob      in another, and so on
 *
 * Each prints the members now, and again whenever one comes or goes. Ctrl-C leaves at once. A
 * member that is killed with -9 is gone when its session has timed out, after 6 seconds.
 */
import { connect, GroupMember } from '@rookery/client';

const [servers = '127.0.0.1:2181', name = `member-${process.pid}`] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

await main(stop.signal).catch((error) => {
  if (!stop.signal.aborted) throw error;
});

/** @param {AbortSignal} signal */
async function main(signal) {
  const zk = await connect(servers, { sessionTimeoutMs: 6_000, signal });
  const member = new GroupMember(zk, '/examples/group', name);
  try {
    await member.join({ signal });
    for await (const members of member.follow({ signal })) {
      console.log('members:', [...members.keys()].sort().join(' '));
    }
  } finally {
    await member.close();
    await zk.close();
  }
}
