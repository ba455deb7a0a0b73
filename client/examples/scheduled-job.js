/**
 * A job that one of many processes does every two seconds, with its history and its metrics.
 *
 *   node scheduled-job.js 127.0.0.1:2181 ann        in two or more terminals
 *   node scheduled-job.js 127.0.0.1:2181            prints the last runs
 *
 * Each due time is done once, by whoever leads. Ctrl-C ends the run under way, then another process
 * leads; kill -9 interrupts it, and the next leader does that run again. What the client has to say
 * goes to the console, and at the end its metrics do, as Prometheus would read them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientMetrics, connect, every, ScheduledJob } from '@rookery/client';

const [servers = '127.0.0.1:2181', name = ''] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

await main(stop.signal).catch((error) => {
  if (!stop.signal.aborted) throw error;
});

/** @param {AbortSignal} signal */
async function main(signal) {
  const metrics = new ClientMetrics();
  const logger = name === '' ? undefined : console;
  const zk = await connect(servers, { sessionTimeoutMs: 6_000, signal, logger });
  metrics.add(zk);
  const job = new ScheduledJob(zk, '/examples/job', {
    schedule: every(2_000),
    id: name,
    onInterrupted: 'again',
  });
  try {
    if (name === '') {
      for (const run of await job.history()) console.log(run.dueMs, run.outcome, 'by', run.by);
      return;
    }
    await job.run(
      async ({ dueMs, attempt, signal: over }) => {
        console.log('doing', dueMs, 'for the', attempt, 'time');
        await sleep(500, null, { signal: over }).catch(() => {});
      },
      { signal },
    );
    console.log(metrics.text());
  } finally {
    await zk.close();
  }
}
