/** The priority is that of a process, so it is lowered in one that is made for the test. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = new URL('../../dist/offline/lower-priority.js', import.meta.url).href;
const SCRIPT = `
  import { readdirSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { lowerPriority } from ${JSON.stringify(MODULE)};
  lowerPriority();
  const threads = readdirSync('/proc/self/task').map(Number);
  process.stdout.write(JSON.stringify(threads.map((thread) => getPriority(thread))));
`;

it.runIf(process.platform === 'linux')('lowers every thread, those of the collector too', () => {
  const args = ['--input-type=module', '--eval', SCRIPT];
  const priorities: readonly number[] = JSON.parse(execFileSync(process.execPath, args).toString());
  expect(priorities.length).toBeGreaterThan(1);
  expect(new Set(priorities)).toEqual(new Set([19]));
});
