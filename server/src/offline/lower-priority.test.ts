/** The priority is that of a process, so it is lowered in one that is made for the test. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = new URL('../../dist/offline/lower-priority.js', import.meta.url).href;
/** Their numbers in the kernel. */
const SCHED_OTHER = '0';
const SCHED_IDLE = '5';

/** The priorities of all threads of a process that has called it in this way. */
function prioritiesAfter(call: string): readonly number[] {
  const script = `
    import { readdirSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { lowerPriority } from ${JSON.stringify(MODULE)};
    const threads = readdirSync('/proc/self/task').map(Number);
    ${call};
    process.stdout.write(JSON.stringify(threads.map((thread) => getPriority(thread))));
  `;
  const args = ['--input-type=module', '--eval', script];
  return JSON.parse(execFileSync(process.execPath, args).toString());
}

const onLinux = it.runIf(process.platform === 'linux');

onLinux('lowers every thread, those of the collector too', () => {
  const priorities = prioritiesAfter('lowerPriority()');
  expect(priorities.length).toBeGreaterThan(1);
  expect(new Set(priorities)).toEqual(new Set([19]));
});

onLinux('leaves the processors to all other processes, with threads that begin later', () => {
  const script = `
    import { readFileSync, readdirSync } from 'node:fs';
    import { Worker } from 'node:worker_threads';
    import { lowerPriority } from ${JSON.stringify(MODULE)};
    lowerPriority();
    const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
    worker.once('online', () => {
      const threads = readdirSync('/proc/self/task');
      // The 41st field of proc(5); the second one, a name in parentheses, may have spaces.
      const policyOf = (thread) =>
        readFileSync('/proc/self/task/' + thread + '/stat', 'utf8').split(') ')[1].split(' ')[38];
      process.stdout.write(JSON.stringify(threads.map(policyOf)));
      process.exit();
    });
  `;
  const args = ['--input-type=module', '--eval', script];
  const policies: readonly string[] = JSON.parse(execFileSync(process.execPath, args).toString());
  expect(policies.length).toBeGreaterThan(1);
  expect(new Set(policies)).toEqual(new Set([SCHED_IDLE]));
});

onLinux('leaves the idle class while a member waits for long, and enters it again', () => {
  const script = `
    import { readFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { lowerPriority, whileMemberWaits } from ${JSON.stringify(MODULE)};
    const policy = () => readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[38];
    lowerPriority();
    const seen = [policy()];
    await whileMemberWaits(async () => {
      while (policy() === seen[0]) await sleep(1);
      seen.push(policy());
    }, 1);
    seen.push(policy());
    process.stdout.write(JSON.stringify(seen));
  `;
  const args = ['--input-type=module', '--eval', script];
  const seen = JSON.parse(execFileSync(process.execPath, args).toString());
  expect(seen).toEqual([SCHED_IDLE, SCHED_OTHER, SCHED_IDLE]);
});

onLinux('lowers the others where a thread has ended since it was listed', () => {
  // No process has that number: it is above the bound of the kernel.
  const priorities = prioritiesAfter('lowerPriority(() => [2 ** 30, ...threads])');
  expect(priorities.length).toBeGreaterThan(1);
  expect(new Set(priorities)).toEqual(new Set([19]));
});
