/**
 * A campaign of the simulator: each seed is a whole ensemble under faults.
 *
 * The test's output contains what the campaign prints at the end (seeds, requests, faults by kind;
 * for a failure the seed, the options and the command that replays it). The seeds are always the
 * same, so that a change is judged by itself. With ROOKERY_TEST_SEED they begin at a number that
 * depends on it, and the campaign takes ROOKERY_SIM_MINUTES; with ROOKERY_FRESH_SEED both are run.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../harness/product.js';
import { testSeed } from '../../harness/test-seed.js';

const MAIN = join(REPOSITORY, 'test/dist/simulation/main.js');
const isFresh = (process.env['ROOKERY_TEST_SEED'] ?? '') !== '';
const isFixed = !isFresh || process.env['ROOKERY_FRESH_SEED'] !== undefined;
const MINUTES = Number(process.env['ROOKERY_SIM_MINUTES'] ?? '2');
/** Generous: this guards against a hang of the last seed, or of the minimization of a failure. */
const GRACE_MS = 15 * 60_000;
/** A campaign runs far fewer than a thousand seeds in its minutes. */
const firstFresh = testSeed() * 1000;
const fresh = ['--from', `${firstFresh}`, '--minutes', `${MINUTES}`];
const campaigns: readonly (readonly [seeds: string, args: readonly string[]])[] = [
  ...(isFixed ? [['all seeds of a campaign', []] as const] : []),
  ...(isFresh ? [['fresh seeds', fresh] as const] : []),
];

it.each(campaigns)(
  'all properties hold in %s',
  {
    timeout: MINUTES * 60_000 + GRACE_MS,
  },
  async (_, args) => {
    const { code, said } = await campaign(...args);
    console.log(said.split('\n').slice(-60).join('\n'));
    expect(code, said).toBe(0);
    expect(said).toContain('all properties hold');
  },
);

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
