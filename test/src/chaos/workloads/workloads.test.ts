/**
 * Every workload runs against a whole ensemble in this process, of which one member is killed and
 * started again meanwhile. Its history is recorded, and its check finds nothing wrong.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEnsemble, type TestEnsemble } from '@rookery/server/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../../simulation/random.js';
import { operationsOf, readHistory } from '../history/history-reader.js';
import { HistoryWriter } from '../history/history-writer.js';
import { allWorkloads } from './all.js';
import { pause } from './station.js';
import type { WorkloadContext } from './workload.js';

const RUN_MS = 2_000;
/** Each operation takes two: a history with as many has more than ten that succeeded. */
const ENTRIES_MIN = 60;
const SEED = 20_240;

const workloads = allWorkloads();
const histories = new Map<string, string>();
let ensemble: TestEnsemble;
let directory: string;

/** All workloads run at once, as in a chaos run. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-workloads-'));
  ensemble = await startEnsemble();
  const random = new Random(SEED);
  const options = { sessionTimeoutMs: 2_000, operationTimeoutMs: 2_000 };
  const target = { connectString: ensemble.connectString, options };
  const runs = workloads.map((workload) => {
    const path = join(directory, `${workload.name}.jsonl`);
    histories.set(workload.name, path);
    const context: WorkloadContext = {
      prefix: `/chaos/${workload.name}`,
      history: HistoryWriter.open(path),
      random: random.fork(workload.name),
      connect: () => target,
    };
    return { workload, context };
  });
  for (const { workload, context } of runs) await workload.setup(context);
  const stop = new AbortController();
  const running = Promise.all(
    runs.flatMap(({ workload, context }) =>
      Array.from({ length: workload.clients }, (_, client) =>
        workload.run(client, context, stop.signal),
      ),
    ),
  );
  await pause(RUN_MS / 3);
  const { id } = await ensemble.leader();
  await ensemble.kill(id);
  await pause(RUN_MS / 3);
  await ensemble.restart(id);
  await pause(RUN_MS / 3);
  // A busy machine needs longer than RUN_MS for a lock's operations.
  while (runs.some(({ context }) => context.history.count < ENTRIES_MIN)) await pause(50);
  stop.abort();
  await running;
  await Promise.all(runs.map(({ workload, context }) => workload.finish(context)));
  await Promise.all(runs.map(({ context }) => context.history.close()));
}, 240_000);

afterAll(async () => {
  await ensemble.stop();
  await rm(directory, { recursive: true, force: true });
});

it.each(workloads.map((workload) => [workload.name, workload] as const))(
  '%s finds nothing wrong, with a leader killed and started again',
  async (name, workload) => {
    const history = await readHistory(histories.get(name) ?? '');
    const verdict = workload.check(history);
    expect(verdict).toMatchObject({ valid: true, problems: [] });
    const done = operationsOf(history).filter(({ outcome }) => outcome === 'ok');
    expect(done.length).toBeGreaterThan(10);
  },
);
