/**
 * Rendezvous: a scheduler starts a master and workers that do not know each other's addresses. It
 * opens a meeting place; the master tells its address there; the workers wait for it.
 *
 *   node rendezvous.js 127.0.0.1:2181 scheduler                   in one terminal
 *   node rendezvous.js 127.0.0.1:2181 worker                      in any number of others
 *   node rendezvous.js 127.0.0.1:2181 master 10.0.0.7:8080        in one more
 *
 * In any order (the master needs an open place). The workers print the address once it is there,
 * and end when the scheduler does: with Ctrl-C, or killed and its session timed out, after 6 s.
 */
import { once } from 'node:events';
import { Rendezvous } from '@rookery/client';
import { run } from './frame.js';

await run(async (zk, signal, [role = 'worker', address = '']) => {
  const place = new Rendezvous(zk, '/examples/meeting-place', { parse: String, format: String });
  if (role === 'scheduler') {
    const lease = await place.open({ signal });
    console.log('open');
    await aborted(lease.signal, signal);
  } else if (role === 'master') {
    await place.fill(address, { signal });
    console.log('filled in:', address);
  } else {
    const meeting = await place.meet({ signal });
    console.log('the master is at', meeting.value);
    await aborted(meeting.signal, signal);
    console.log('over');
  }
});

/** @param {AbortSignal[]} signals */
async function aborted(...signals) {
  const any = AbortSignal.any(signals);
  if (!any.aborted) await once(any, 'abort');
}
