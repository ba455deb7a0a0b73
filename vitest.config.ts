/**
 * Two kinds of tests. `unit` runs the sources as they are, in parallel, and needs no build: imports
 * of our packages resolve to their src. `e2e` starts real processes from dist, one test file at a
 * time and after everything else, because what it measures is timing.
 *
 *   npm test                            all
 *   npx vitest run --project unit       the fast half
 *   npx vitest run server/src/zab       one folder
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./${path}/index.ts`, import.meta.url));
// An alias covers what begins with it, so a subpath comes before its package.
const alias = {
  '@rookery/server/testing': source('server/src/testing'),
  '@rookery/protocol': source('protocol/src'),
  '@rookery/server': source('server/src'),
  '@rookery/client': source('client/src'),
};
const endToEnd = 'test/src/{e2e,client}/**/*.test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          include: ['{protocol,server,client,cli,test,bench}/src/**/*.test.ts'],
          exclude: [endToEnd],
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'e2e',
          include: [endToEnd],
          fileParallelism: false,
          maxWorkers: 1,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          teardownTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
