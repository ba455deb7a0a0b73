/**
 * Which project a test belongs to is seen from its folder, or from its name.
 *
 * | project | what it runs | how |
 * |---|---|---|
 * | `unit` | `*.test.ts` beside the sources, and in those folders of `test/src` that start no process | from the sources, without a build, in parallel; files share processes, so that each module is read once |
 * | `unit-mocked` | `*.mocked.test.ts`: tests that replace modules | as `unit`, each file in a process of its own |
 * | `one-at-a-time` | `test/src/one-at-a-time`: what a starved process would fail, such as sessions that must not expire | one file at a time, next to nothing else |
 * | `e2e` | `test/src/e2e`: whole ensembles under faults and load | together with the next four |
 * | `answers` | `test/src/answers`: what a member answers, whenever it does | together |
 * | `client` | `test/src/client`: the client and its recipes | together |
 * | `zookeeper` | the same without `rookery-only/`, against Apache ZooKeeper where Debian's package is installed | together |
 * | `simulator-runs` | `test/src/simulator-runs`: the simulator, also against mutants | together |
 *
 * All but the first two start processes from `dist`, and import the packages from there. The last
 * five share their workers: most files wait for sessions that end and members that start, while
 * few, such as the simulator, need a processor all the time. What takes longest begins first
 * (scripts/slowest-first.mjs). A short run (`npm test`) takes of them only what stands in folders
 * named `short`.
 *
 *   npm test                            what fits into five minutes (ROOKERY_TESTS=short)
 *   npm test -- --all                   all
 *   npx vitest run --project 'unit*'    the fast part
 *   npx vitest run server/src/zab       one folder
 *
 * What runs depends on the commit alone: every random choice is made from a fixed seed, which
 * ROOKERY_TEST_SEED replaces. ROOKERY_FRESH_SEED replaces it only where that takes no longer.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { KEEPS_SEED } from './scripts/fresh-choices.mjs';
import SlowestFirst from './scripts/slowest-first.mjs';

const source = (path: string) => fileURLToPath(new URL(`./${path}/index.ts`, import.meta.url));
// An alias covers what begins with it, so a subpath comes before its package.
const alias = {
  '../../server/dist/simulated/index.js': source('server/src/simulated'),
  '@rookery/server/http': source('server/src/http'),
  '@rookery/server/testing': source('server/src/testing'),
  '@rookery/protocol/peer': source('protocol/src/peer'),
  '@rookery/protocol': source('protocol/src'),
  '@rookery/server': source('server/src'),
  '@rookery/client/testing': source('client/src/testing'),
  '@rookery/client': source('client/src'),
};
/** The folders of tests that start processes. */
const OF_PROCESSES = ['one-at-a-time', 'e2e', 'answers', 'client', 'simulator-runs'] as const;
const mocked = '{protocol,server,client,console,cli,test,bench}/src/**/*.mocked.test.ts';

const isShort = process.env['ROOKERY_TESTS'] === 'short';

/** The tests of a folder of `test/src` that this run takes. */
function testsIn(folder: (typeof OF_PROCESSES)[number]): string[] {
  return [`test/src/${folder}/${isShort ? 'short/' : ''}**/*.test.ts`];
}

const hasZooKeeper = existsSync('/usr/share/java/zookeeper.jar');
const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';

/** Tests provoke these on purpose, and look at the event and not at what is printed. */
const expectedWarnings = ['ROOKERY_RECIPE_FAILED', 'ROOKERY_NO_SERVER'];
const seeded = {
  execArgv: expectedWarnings.map((code) => `--disable-warning=${code}`),
  env: { ROOKERY_KEEPS_SEED: KEEPS_SEED.source },
  setupFiles: [fileURLToPath(new URL('./test/src/harness/seeded-properties.ts', import.meta.url))],
};
const unit = {
  ...seeded,
  // Against a hang; a busy machine may take ten times as long as a quiet one.
  testTimeout: 120_000,
  // By itself vitest leaves one processor free: one of two.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  sequence: { groupOrder: 0 },
};
const processes = {
  ...seeded,
  // They import the built packages that their members run. Node loads these, so that hundreds of
  // modules need not be transformed for each project.
  server: { deps: { external: [/\/(?:protocol|server|client)\/dist\//] } },
  testTimeout: 180_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
};
/**
 * Three files for each of two processors, because most of them wait most of the time: the lock's
 * use a processor for 15 s of their 85 s. The few that never wait begin first.
 */
const together = {
  ...processes,
  maxWorkers: Math.max(6, availableParallelism()),
  sequence: { groupOrder: 2 },
};

export default defineConfig({
  test: {
    reporters: ['default', './scripts/test-reporter.mjs'],
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        resolve: { alias },
        test: {
          ...unit,
          name: 'unit',
          include: ['{protocol,server,client,console,cli,test,bench}/src/**/*.test.ts'],
          exclude: [...OF_PROCESSES.map((folder) => `test/src/${folder}/**`), mocked],
          isolate: false,
        },
      },
      {
        resolve: { alias },
        test: { ...unit, name: 'unit-mocked', include: [mocked] },
      },
      {
        test: {
          ...processes,
          name: 'one-at-a-time',
          include: testsIn('one-at-a-time'),
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: { ...together, name: 'e2e', include: testsIn('e2e') },
      },
      {
        test: { ...together, name: 'answers', include: testsIn('answers') },
      },
      {
        test: { ...together, name: 'client', include: testsIn('client') },
      },
      {
        test: {
          ...together,
          name: 'zookeeper',
          include: !isShort && (hasZooKeeper || isRequired) ? testsIn('client') : [],
          exclude: ['test/src/client/rookery-only/**'],
          env: { ...together.env, ROOKERY_E2E_PRODUCT: 'apache' },
        },
      },
      {
        test: { ...together, name: 'simulator-runs', include: testsIn('simulator-runs') },
      },
    ],
  },
});
