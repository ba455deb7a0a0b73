/**
 * `npm run sim -- --minutes 2`: the fixed seeds, then fresh ones, each a whole ensemble under
 * faults.
 *
 * What it prints at the end (seeds, requests, faults by kind; of a failure the seed, the options
 * and the command that replays it) is in the test's output. `ROOKERY_SIM_MINUTES` makes it longer.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../harness/product.js';

const MAIN = join(REPOSITORY, 'test/dist/simulation/main.js');
const MINUTES = Number(process.env['ROOKERY_SIM_MINUTES'] ?? 2);
/** For the last seed, and for a failure to be made small. */
const GRACE_MS = 10 * 60_000;

it('everything held in all seeds of a campaign', {
  timeout: MINUTES * 60_000 + GRACE_MS,
}, async () => {
  const { code, said } = await campaign('--minutes', String(MINUTES));
  console.log(said.split('\n').slice(-60).join('\n'));
  expect(code, said).toBe(0);
  expect(said).toContain('everything held');
});

function campaign(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}
