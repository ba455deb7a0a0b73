/**
 * Semaphore: five tasks, of which two work at a time, here and in every other process that runs it.
 *
 *   node semaphore.ts 127.0.0.1:2181      in one or more terminals
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, Semaphore } from '@rookery/client';

const [servers = '127.0.0.1:2181'] = process.argv.slice(2);
await using zk = await connect(servers);
const semaphore = new Semaphore(zk, '/examples/licences', { maxLeases: 2 });
let atOnce = 0;
let most = 0;

async function work(): Promise<void> {
  await semaphore.run(async (lease) => {
    most = Math.max(most, ++atOnce);
    await sleep(100, undefined, { signal: lease.signal });
    atOnce -= 1;
  });
}

await Promise.all([work(), work(), work(), work(), work()]);
console.log('at most', most, 'at once');
