/**
 * Two-phase commit: a coordinator and sites that all commit, or all abort.
 *
 *   node two-phase-commit.js 127.0.0.1:2181 site vienna commit               in one terminal
 *   node two-phase-commit.js 127.0.0.1:2181 site paris commit                in another
 *   node two-phase-commit.js 127.0.0.1:2181 coordinator vienna paris         in one more
 *
 * Each site prepares and votes as it is told; all print the same decision, and end. Let one vote
 * abort, or end one with Ctrl-C or kill -9 before it has voted: all abort, for this is the ephemeral
 * kind, in which a death before the decision aborts (after the session's 6 seconds).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeExistsError, TransactionSite, TwoPhaseCommit } from '@rookery/client';
import { run } from './frame.js';

const PATH = '/examples/transaction';

await run(async (zk, signal, [role, ...rest]) => {
  if (role === 'coordinator') await coordinate(zk, rest, signal);
  else await takePart(zk, rest[0] ?? '', rest[1] === 'abort' ? 'abort' : 'commit', signal);
});

/**
 * @param {import('@rookery/client').Client} zk
 * @param {string[]} sites
 * @param {AbortSignal} signal
 */
async function coordinate(zk, sites, signal) {
  /** @type {import('@rookery/client').TwoPhaseCommitOptions} */
  const about = { kind: 'ephemeral', payload: 'raise all prices', signal };
  const transaction = await TwoPhaseCommit.begin(zk, PATH, sites, about).catch((error) => {
    if (!(error instanceof NodeExistsError)) throw error;
    console.log('goes on with the one that an earlier coordinator has left');
    return TwoPhaseCommit.resume(zk, PATH, { signal });
  });
  console.log('asks', transaction.sites.join(' '));
  console.log('decision:', await transaction.decision({ signal }));
  await transaction.finish({ signal }); // once every site has carried it out
}

/**
 * @param {import('@rookery/client').Client} zk
 * @param {string} name
 * @param {import('@rookery/client').Decision} vote
 * @param {AbortSignal} signal
 */
async function takePart(zk, name, vote, signal) {
  const site = new TransactionSite(zk, PATH, name);
  const payload = await site.join({ signal });
  console.log('prepares to', payload.toString());
  await sleep(500, undefined, { signal });
  await site.vote(vote, { signal });
  console.log('has voted', vote);
  console.log('decision:', await site.outcome({ signal }));
  await site.finish({ signal });
}
