/**
 * Runs the tests that make random choices with choices that no run has made before.
 *
 * `npm test` makes the same choices each time; this searches on. It prints the seed before anything
 * else: with ROOKERY_TEST_SEED set to it, the same command makes the same choices again.
 *
 *   node scripts/fresh-tests.mjs [arguments of `vitest run`]
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KEEPS_SEED } from './fresh-choices.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES = ['protocol', 'server', 'client', 'console', 'cli', 'bench', 'test'];
/** What a test that takes its choices from the seed has in its text. */
const SEEDED = /from 'fast-check'|Random\.forTest\(|testSeed\(/;
const seed = process.env.ROOKERY_TEST_SEED || `${randomInt(2 ** 32)}`;
const files = PACKAGES.flatMap(testFiles).filter(isSeeded);
console.log(`fresh choices: ROOKERY_TEST_SEED=${seed} npm run test:fresh   repeats them`);
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...files];
const { status } = spawnSync(process.execPath, [...vitest, ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, ROOKERY_TEST_SEED: seed, ROOKERY_TESTS: 'all' },
  stdio: 'inherit',
});
console.log(`fresh choices: ROOKERY_TEST_SEED=${seed} npm run test:fresh   repeats them`);
process.exit(status ?? 1);

function testFiles(name) {
  const entries = readdirSync(join(root, name, 'src'), { recursive: true, encoding: 'utf8' });
  return entries
    .filter((entry) => entry.endsWith('.test.ts'))
    .map((entry) => `${name}/src/${entry}`)
    .sort();
}

function isSeeded(path) {
  return !KEEPS_SEED.test(path) && SEEDED.test(readFileSync(join(root, path), 'utf8'));
}
