/**
 * What `npm start` and `npm test` run: makes a fresh clone ready, then starts the real thing.
 *
 * Installs the locked dependencies when they are missing or older than the lock file, builds, the
 * console too if it is older than its sources, and hands over to the ensemble or to the checks.
 * Uses nothing but Node, because nothing is installed yet. Signals reach the last child, and its
 * exit code becomes ours.
 *
 *   node scripts/bootstrap.mjs start [arguments of `rookery ensemble`]
 *   node scripts/bootstrap.mjs test  [--all] [arguments of `vitest run`]
 *
 * Tests: without arguments, what fits into five minutes; everything with --all or with CI=true.
 * Arguments that name files or projects select among all tests.
 */
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

// npm's warnings about settings of its own are nothing that a reader of our output can act on.
const installArguments = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
const compiler = ['node_modules/typescript/bin/tsc', '-b'];
const bundle = ['scripts/bundle.mjs'];
const webConsole = ['../node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'];
const lint = ['node_modules/@biomejs/biome/bin/biome', 'check', '.'];
const tests = ['node_modules/vitest/vitest.mjs', 'run'];
const ensemble = ['cli/dist/main.js', 'ensemble'];

const [task, ...given] = process.argv.slice(2);
const rest = given.filter((argument) => argument !== '--all');
const isShort = task === 'test' && given.length === 0 && process.env.CI !== 'true';
if (task !== 'start' && task !== 'test') {
  console.error('usage: node scripts/bootstrap.mjs start|test [arguments]');
  process.exit(2);
}

if (installIsStale()) {
  console.error('rookery: installing dependencies (npm ci)');
  await step(npm(), installArguments);
}
if (task === 'test') await step(process.execPath, lint);
// To start, the command and what it imports are enough: the tests are half of all sources.
await step(process.execPath, task === 'start' ? [...compiler, 'cli'] : compiler);
await step(process.execPath, bundle);
if (consoleIsStale()) await step(process.execPath, webConsole, join(root, 'console'));
if (isShort) process.env.ROOKERY_TESTS = 'short';
const last = task === 'test' ? tests : ensemble;
const exitCode = await run(process.execPath, [...last, ...rest]);
if (isShort) {
  console.error(
    'Left out: most tests of whole processes, other clients, Apache ZooKeeper, chaos, mutants; ' +
      '`npm test -- --all` runs everything.',
  );
}
process.exit(exitCode);

/** npm writes node_modules/.package-lock.json last, so an interrupted install counts as missing. */
function installIsStale() {
  const installed = modifiedMs('node_modules/.package-lock.json');
  return installed === undefined || installed < modifiedMs('package-lock.json');
}

/** The built console is older than something that it is made of, or missing. */
function consoleIsStale() {
  const builtMs = modifiedMs('console/dist/web/index.html');
  if (builtMs === undefined) return true;
  const sources = readdirSync(join(root, 'console/src'), { recursive: true });
  const all = [
    ...sources.map((name) => join('console/src', name)),
    ...['console/index.html', 'console/package.json', 'console/vite.config.ts'],
    'node_modules/.package-lock.json',
  ];
  return all.some((path) => (modifiedMs(path) ?? 0) > builtMs);
}

function modifiedMs(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs;
}

/** The npm that runs us, so that a machine with several uses the one the user chose. */
function npm() {
  return process.env.npm_execpath ?? 'npm';
}

async function step(command, args, directory = root) {
  const code = await run(command, args, directory);
  if (code !== 0) process.exit(code);
}

/** Resolves with the exit code; a child that a signal ended counts as 128 + its number. */
function run(command, args, directory = root) {
  const isScript = /\.[cm]?js$/.test(command);
  const child = spawn(isScript ? process.execPath : command, isScript ? [command, ...args] : args, {
    cwd: directory,
    stdio: 'inherit',
    shell: process.platform === 'win32' && !isScript && command === 'npm',
  });
  const forward = (signal) => child.kill(signal);
  process.on('SIGINT', forward);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  return new Promise((resolve) => {
    const finish = (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, forward);
      resolve(code);
    };
    child.once('error', (error) => {
      console.error(`rookery: cannot run ${command}: ${error.message}`);
      finish(1);
    });
    child.once('exit', (code, signal) => finish(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}
