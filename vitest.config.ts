/**
 * Seven kinds of tests. `unit` runs the sources as they are, in parallel, and needs no build:
 * imports of our packages resolve to their src; its files share processes, so that each module is
 * read once, but for those of `unit-mocked`, which replace modules. The others start real processes
 * from dist, after everything before them: `e2e` one test file at a time, because what it measures
 * is timing; `answers` two at a time: what a server answers, whenever it does; `client` three at a
 * time, as they mostly wait for each other's sessions; and `zookeeper` the same files of the client
 * once more, against Apache ZooKeeper, where Debian's package is installed: half of them, the other
 * half on the next day, or all with ROOKERY_ZOOKEEPER_ALL=1. `proof` runs the simulator, and the
 * simulator against mutants, side by side: neither measures time.
 *
 *   npm test                            all
 *   npx vitest run --project 'unit*'    the fast part
 *   npx vitest run server/src/zab       one folder
 */
import { existsSync, readdirSync } from 'node:fs';
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
  'bad-input,five-members,foreign-*,four-letter,large-directory,limits,local-sessions,model',
  'operator-errors,pipelined-order,quota,reaper,read-only,rollover,super-user,wiped,wire-vectors',
].map((names) => `test/src/e2e/{${names}}.test.ts`);
const client = 'test/src/client/**/*.test.ts';
const proof = 'test/src/proof/**/*.test.ts';
/** They need no server, one of their own, or Rookery's. */
const rookeryOnly =
  '{api-docs,client-process,examples,hostile-server,mixed-*,packed,readme,tls}.test.ts';
const mocked = [
  'server/src/pipeline/access.test.ts',
  'server/src/storage/trash.test.ts',
  'server/src/storage/write-ahead-full.test.ts',
];
const hasZooKeeper = existsSync('/usr/share/java/zookeeper.jar');
const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';

const DAY_MS = 86_400_000;
const clientFiles = readdirSync(fileURLToPath(new URL('./test/src/client', import.meta.url)))
  .filter((name) => name.endsWith('.test.ts'))
  .sort()
  .map((name) => `test/src/client/${name}`);
const turn = Math.floor(Date.now() / DAY_MS) % 2;
const againstZooKeeper =
  process.env['ROOKERY_ZOOKEEPER_ALL'] === '1'
    ? clientFiles
    : clientFiles.filter((_, index) => index % 2 === turn);

const unit = {
  testTimeout: 30_000,
  // By itself vitest leaves one processor free: one of two.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  sequence: { groupOrder: 0 },
};
const processes = {
  testTimeout: 180_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
};

export default defineConfig({
  test: {
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
          include: [members],
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
          include: answers,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...processes,
          name: 'client',
          include: [client],
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...processes,
          name: 'zookeeper',
          include: hasZooKeeper || isRequired ? againstZooKeeper : [],
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
          include: [proof],
          maxWorkers: 2,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
