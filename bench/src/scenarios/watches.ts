/**
 * One change that very many sessions see: every session watches the same znode, which is then
 * written.
 *
 * The time runs from just before the write to the last session's event; the figure is the median of
 * several changes.
 */

import type { Timed } from '../load/agent-service.js';
import { median } from '../report/statistics.js';
import type { Context } from '../run/context.js';
import { crowdTroubles } from './crowd-troubles.js';
import { type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const SHARES = [0.01, 0.1, 1] as const;
const DIALS_MAX = 100;
const SESSION_TIMEOUT_MS = 30_000;
const CHANGES_PER_REPETITION = 3;

export const watchScenarios: readonly Scenario[] = SHARES.map((share) =>
  scenario({
    name: `watches-${share * 3000}`,
    title: `one change, ${share * 3000} watchers`,
    group: 'watches',
    figures: [
      { key: 'fanOutMs', title: 'all have seen it', unit: 'ms', better: 'lower' },
      { key: 'fanOutMaxMs', title: 'slowest change', unit: 'ms', better: 'lower' },
      { key: 'watchMs', title: 'all watches set', unit: 'ms', better: 'lower' },
    ],
    scale: {
      dimension: 'watches',
      what: 'one change seen by all',
      at: ({ sizes }) => Math.round(sizes.sessions * share),
    },
    secondsAbout: () => 6,
    run: (context) => fanOut(context, share),
  }),
);

async function fanOut(context: Context, share: number): Promise<Measurement> {
  const { hosts } = context.system;
  const { sizes } = context.settings;
  const [host] = hosts;
  if (host === undefined) throw new Error('no hosts given');
  const path = context.newRoot();
  const client = await context.client();
  await client.create(path, Buffer.alloc(100));
  const agent = context.agent();
  const sessions = Math.round(sizes.sessions * share);
  const crowd = { hosts, sessions, sessionTimeoutMs: SESSION_TIMEOUT_MS, dialsMax: DIALS_MAX };
  const connected = await agent.call('connectCrowd', crowd);
  const sets: Timed[] = [];
  const changes: Timed[] = [];
  for (let change = 0; change < sizes.repetitions * CHANGES_PER_REPETITION; change++) {
    sets.push(await agent.call('watch', path));
    changes.push(await agent.call('change', host, path));
  }
  await agent.call('closeCrowd');
  const changeMs = changes.map(({ elapsedMs }) => elapsedMs);
  return measurement(
    {
      fanOutMs: median(changeMs),
      fanOutMaxMs: Math.max(...changeMs),
      watchMs: median(sets.map(({ elapsedMs }) => elapsedMs)),
    },
    {
      troubles: crowdTroubles({ connect: [connected], watch: sets, change: changes }),
      generatorShare: median(changes.map(({ cpuShare }) => cpuShare)),
    },
  );
}
