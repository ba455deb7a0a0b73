/**
 * A campaign of the simulator: each seed a whole ensemble under faults.
 *
 * What it prints at the end (seeds, requests, faults by kind; of a failure the seed, the options
 * and the command that replays it) is in the test's output. The fixed seeds come first, so that a
 * change is judged by itself, and fresh ones fill the minutes that are left.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../harness/product.js';

const MAIN = join(REPOSITORY, 'test/dist/simulation/main.js');
const MINUTES = process.env['ROOKERY_SIM_MINUTES'] ?? '2';
/** For the last seed, and for a failure to be made small. */
const GRACE_MS = 10 * 60_000;

it('everything held in all seeds of a campaign', {
  timeout: Number(MINUTES) * 60_000 + GRACE_MS,
}, async () => {
  const { code, said } = await campaign('--minutes', MINUTES);
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
