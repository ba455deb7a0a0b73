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
import { ClientMetrics, every, ScheduledJob } from '@rookery/client';
import { run } from './frame.js';

await run(
  async (zk, signal, [name = '']) => {
    const metrics = new ClientMetrics();
    metrics.add(zk);
    const job = new ScheduledJob(zk, '/examples/job', {
      schedule: every(2_000),
      id: name,
      onInterrupted: 'again',
    });
    if (name === '') {
      for (const past of await job.history()) console.log(past.dueMs, past.outcome, 'by', past.by);
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
  },
  { logger: console },
);
