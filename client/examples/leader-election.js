/**
 * Leader election: candidates lead one after the other, and followers follow only who has said that
 * its preparations are done.
 *
 *   node leader-election.js 127.0.0.1:2181 ann      in two or more terminals
 *   node leader-election.js 127.0.0.1:2181          asks who leads, and waits until somebody does
 *
 * One candidate prints that it is elected, prepares itself, and acknowledges with its address,
 * which those who ask are told. Ctrl-C gives the term up, and the next one leads at once; after
 * kill -9 it does when the session of the dead one has timed out, after 6 seconds.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Election } from '@rookery/client';
import { run } from './frame.js';

await run(async (zk, signal, [name = '']) => {
  const election = new Election(zk, '/examples/election', { id: name });
  if (name === '') {
    const leader = await election.waitForLeader({ signal });
    console.log('the leader is', leader.id, 'at', String(leader.acknowledgement?.data));
    return;
  }
  console.log('stands for election');
  for await (const term of election.terms({ signal })) await lead(term, name);
});

/**
 * @param {import('@rookery/client').Term} term
 * @param {string} name
 */
async function lead(term, name) {
  try {
    console.log(`elected, token ${term.token}`);
    await sleep(200, undefined, { signal: term.signal }); // the leader's procedure
    await term.acknowledge(`http://${name}.example/`);
    console.log('leads');
    if (!term.signal.aborted) await once(term.signal, 'abort');
  } catch (error) {
    if (!term.signal.aborted) throw error;
  }
  console.log('leads no more');
}
