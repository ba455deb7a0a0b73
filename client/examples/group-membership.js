/**
 * Group membership: joins a group and lists it for ever.
 *
 *   node group-membership.js 127.0.0.1:2181 ann      in one terminal
 *   node group-membership.js 127.0.0.1:2181 bob      in another, and so on
 *
 * Each prints the members now, and again whenever one comes or goes. Ctrl-C leaves at once. A
 * member that is killed with -9 is gone when its session has timed out, after 6 seconds.
 */
import { GroupMember } from '@rookery/client';
import { run } from './frame.js';

await run(async (zk, signal, [name = `member-${process.pid}`]) => {
  const member = new GroupMember(zk, '/examples/group', name);
  try {
    await member.join({ signal });
    for await (const members of member.follow({ signal })) {
      console.log('members:', [...members.keys()].sort().join(' '));
    }
  } finally {
    await member.close();
  }
});
