/**
 * The order in which vitest begins the files of a group: those that take longest first, whichever
 * project they belong to, so that no long file is left over at the end while a processor idles.
 *
 * How long a file took is known from the last run in this checkout. In a fresh one the list below
 * is all that is known; it names the files that take more than twenty seconds, in seconds on two
 * processors, beside others. A number that is wrong costs time and nothing else.
 */
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';

const SECONDS = {
  'test/src/simulator-runs/short/simulation.test.ts': 240,
  'test/src/simulator-runs/interrupted-mutants.test.ts': 35,
  'test/src/simulator-runs/mutants.test.ts': 60,
  'test/src/e2e/chaos.test.ts': 77,
  'test/src/e2e/many-ephemerals.test.ts': 54,
  'test/src/e2e/start-contract.test.ts': 100,
  'test/src/e2e/rolling-restart.test.ts': 58,
  'test/src/e2e/moved-sessions.test.ts': 25,
  'test/src/e2e/short/kill9.test.ts': 85,
  'test/src/answers/foreign/kazoo-suite.test.ts': 100,
  'test/src/answers/foreign/zk-cli.test.ts': 60,
  'test/src/answers/foreign/secure.test.ts': 55,
  'test/src/answers/foreign/curator.test.ts': 45,
  'test/src/answers/foreign/clients.test.ts': 40,
  'test/src/answers/security/peer-secret.test.ts': 50,
  'test/src/answers/requests/model.test.ts': 50,
  'test/src/answers/moving/mirror.test.ts': 43,
  'test/src/answers/strangers/clients.test.ts': 57,
  'test/src/answers/strangers/fuzz.test.ts': 53,
  'test/src/answers/requests/limits.test.ts': 53,
  'test/src/answers/moving/moving.test.ts': 51,
  'test/src/client/rookery-only/recipe-heap.test.ts': 103,
  'test/src/client/rookery-only/built-docs.test.ts': 45,
  'test/src/client/rookery-only/examples.test.ts': 115,
  'test/src/client/rookery-only/mixed-curator.test.ts': 57,
  'test/src/client/rookery-only/mixed-curator-data.test.ts': 24,
  'test/src/client/rookery-only/mixed-kazoo.test.ts': 55,
  'test/src/client/rookery-only/packed-tools.test.ts': 200,
  'test/src/client/rookery-only/packed.test.ts': 88,
  'test/src/client/rookery-only/soak.test.ts': 42,
  'test/src/client/short/lock.test.ts': 85,
  'test/src/client/short/semaphore.test.ts': 55,
  'test/src/client/shell/data-commands.test.ts': 50,
  'test/src/client/short/leader-latch.test.ts': 100,
};

export default class SlowestFirst extends BaseSequencer {
  async sort(specs) {
    const sorted = await super.sort(specs);
    const order = new Map(sorted.map((spec) => [spec, this.#secondsOf(spec)]));
    // Files of the same group and time stay as vitest has sorted them.
    return sorted.toSorted(
      (a, b) => groupOf(a) - groupOf(b) || (order.get(b) ?? 0) - (order.get(a) ?? 0),
    );
  }

  #secondsOf({ project, moduleId }) {
    // Units are so many and so quick that their order does not matter.
    if (project.config.sequence.groupOrder === 0) return 0;
    const path = relative(this.ctx.config.root, moduleId);
    const last = this.ctx.cache.getFileTestResults(`${project.name}:${path}`);
    return last === undefined ? (SECONDS[path] ?? 0) : last.duration / 1000;
  }
}

function groupOf({ project }) {
  return project.config.sequence.groupOrder;
}
