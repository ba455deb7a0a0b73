/**
 * Distributed lock: does one job at a time, among any number of processes.
 *
 *   node lock.js 127.0.0.1:2181      in two or more terminals
 *
 * Each prints "job 17: begun, token 4294967338" when it holds the lock and "job 17: done" before it
 * releases it. Jobs are numbered by a znode that only the holder may raise: no number comes twice,
 * and the token grows from holder to holder. Kill one with -9 in the middle of a job: another has
 * the lock when the session of the dead one has timed out, after 6 seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLossError, ensurePath, LeaseLostError, Lock } from '@rookery/client';
import { run } from './frame.js';

const COUNTER = '/examples/jobs';

await run(async (zk, signal) => {
  const lock = new Lock(zk, '/examples/lock', { onSessionLost: 'rejoin' });
  await ensurePath(zk, COUNTER);
  while (!signal.aborted) {
    await lock
      .run((lease) => doJob(zk, lease), { signal })
      .catch((error) => {
        if (!(error instanceof LeaseLostError || error instanceof ConnectionLossError)) throw error;
        console.log('given up:', error.message);
      });
  }
});

/**
 * @param {import('@rookery/client').Client} zk
 * @param {import('@rookery/client').Lease} lease
 */
async function doJob(zk, lease) {
  const { data } = await zk.getData(COUNTER);
  const job = Number(data ?? 0) + 1;
  console.log(`job ${job}: begun, token ${lease.fencingToken}`);
  await work(lease.signal);
  // Commits only if the lock is still ours, should this process have been stopped meanwhile.
  await zk.fenced(lease, [{ kind: 'setData', path: COUNTER, data: String(job) }]);
  console.log(`job ${job}: done`);
}

/** @param {AbortSignal} signal that of the lease: no more work once the lock may be lost */
async function work(signal) {
  await sleep(500, undefined, { signal }).catch(() => signal.throwIfAborted());
}
