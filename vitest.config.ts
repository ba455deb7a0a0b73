/**
 * Seven kinds of tests. `unit` runs the sources as they are, in parallel, and needs no build:
 * imports of our packages resolve to their src; its files share processes, so that each module is
 * read once, but for those of `unit-mocked`, which replace modules. The others start real processes
 * from dist, after everything before them: `e2e` one test file at a time, because what it observes
 * depends on timing; `answers` two at a time: what a server answers, whenever it does; `client`
 * three at a time, as they mostly wait for each other's sessions; and `zookeeper` the same files of
 * the client once more, against Apache ZooKeeper, where Debian's package is installed. `proof` runs
 * the simulator, and the simulator against mutants, side by side: neither measures time.
 *
 *   npm test                            what fits into five minutes (ROOKERY_TESTS=short)
 *   npm test -- --all                   all
 *   npx vitest run --project 'unit*'    the fast part
 *   npx vitest run server/src/zab       one folder
 *
 * What runs depends on the commit alone: every random choice is made from a fixed seed, which
 * ROOKERY_TEST_SEED replaces.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./${path}/index.ts`, import.meta.url));
// An alias covers what begins with it, so a subpath comes before its package.
const alias = {
  '../../server/dist/simulated/index.js': source('server/src/simulated'),
  '@rookery/server/testing': source('server/src/testing'),
  '@rookery/protocol/peer': source('protocol/src/peer'),
  '@rookery/protocol': source('protocol/src'),
  '@rookery/server': source('server/src'),
  '@rookery/client': source('client/src'),
};
const members = 'test/src/e2e/**/*.test.ts';
/** Those among them that ask for answers, and measure no time and no memory. */
const answers = [
  'catch-up,disk-bound,fuzz',
  'bad-input,five-members,foreign-*,four-letter,hanging-resolver,large-directory,limits,local-sessions,model',
  'operated-*,operator-errors,pipelined-order,quota,reaper,read-only,rollover,super-user,wiped,wire-vectors',
].map((names) => `test/src/e2e/{${names}}.test.ts`);
const client = 'test/src/client/**/*.test.ts';
const proof = 'test/src/proof/**/*.test.ts';
/** They need no server, one of their own, or Rookery's. */
const rookeryOnly =
  '{api-docs,client-process,examples,hostile-server,mixed-*,packed,readme,tls}.test.ts';
const mocked = [
  'server/src/pipeline/access.test.ts',
  'server/src/storage/log-disk.test.ts',
  'server/src/storage/trash.test.ts',
];
const hasZooKeeper = existsSync('/usr/share/java/zookeeper.jar');
const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';

/** In a short run: one ensemble of processes whose members are killed, and the simulator. */
const isShort = process.env['ROOKERY_TESTS'] === 'short';
const killed = 'test/src/e2e/kill9.test.ts';
const simulator = 'test/src/proof/simulation.test.ts';
/** In a short run: the client and each of its recipes, on Rookery. */
const recipes =
  'test/src/client/{barrier,caches,configuration,discovery,group-membership,leader-latch,lock,' +
  'locking-queue,operations,persistent-node,queues,read-write-lock,semaphore,sessions,' +
  'two-phase-commit,values,watches}.test.ts';

/** Tests provoke these on purpose, and look at the event and not at what is printed. */
const expectedWarnings = ['ROOKERY_RECIPE_FAILED', 'ROOKERY_NO_SERVER'];
const seeded = {
  execArgv: expectedWarnings.map((code) => `--disable-warning=${code}`),
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
  testTimeout: 180_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
};

export default defineConfig({
  test: {
    reporters: ['default', './scripts/test-reporter.mjs'],
    projects: [
      {
        resolve: { alias },
        test: {
          ...unit,
          name: 'unit',
          include: ['{protocol,server,client,cli,test,bench}/src/**/*.test.ts'],
          exclude: [members, client, proof, ...mocked],
          isolate: false,
        },
      },
      {
        resolve: { alias },
        test: { ...unit, name: 'unit-mocked', include: mocked },
      },
      {
        resolve: { alias },
        test: {
          ...processes,
          name: 'e2e',
          include: [isShort ? killed : members],
          exclude: answers,
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...processes,
          name: 'answers',
          include: isShort ? [] : answers,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...processes,
          name: 'client',
          include: [isShort ? recipes : client],
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...processes,
          name: 'zookeeper',
          include: !isShort && (hasZooKeeper || isRequired) ? [client] : [],
          exclude: [`test/src/client/${rookeryOnly}`],
          env: { ROOKERY_E2E_PRODUCT: 'apache' },
          maxWorkers: 3,
          sequence: { groupOrder: 4 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...processes,
          name: 'proof',
          include: [isShort ? simulator : proof],
          maxWorkers: 2,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
