/**
 * Thousands of sessions are connected, cut, resumed all at once, and left to expire; and the memory
 * that they and an empty member cost.
 *
 * Connecting is timed twice: just after the start, when memory is measured, and once either product
 * has compiled its code. In the expiry scenario each session has an ephemeral znode. Expiry is over
 * when the last of these is gone, and a writer continues meanwhile: expiring so many sessions must
 * not silence it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MEGABYTE } from '../report/units.js';
import type { Context } from '../run/context.js';
import { crowdTroubles } from './crowd-troubles.js';
import { partsOf } from './load-figures.js';
import { type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const SHARES = [0.01, 0.1, 1] as const;
const DIALS_MAX = 100;
const SESSION_TIMEOUT_MS = 30_000;
/** The shortest timeout that both products grant by default: two ticks. */
const SHORT_TIMEOUT_MS = 4000;
/** The time after which garbage and start-up no longer affect a member; memory is measured then. */
const SETTLE_MS = 3000;
const QUICK_SETTLE_MS = 500;
const POLL_MS = 20;
const EXPIRY_TIMEOUT_MS = 120_000;

export const sessionScenarios: readonly Scenario[] = [
  ...SHARES.map(connectScenario),
  scenario({
    name: 'session-expiry',
    title: '3,000 sessions with an ephemeral znode each expire together',
    group: 'sessions',
    figures: [
      { key: 'goneMs', title: 'all gone after the cut (timeout 4 s)', unit: 'ms', better: 'lower' },
      { key: 'silenceMs', title: "a writer's longest silence", unit: 'ms', better: 'lower' },
    ],
    secondsAbout: () => 20,
    run: expiry,
  }),
];

function connectScenario(share: number): Scenario {
  return scenario({
    name: `sessions-${share * 3000}`,
    title: `${share * 3000} sessions: connect, memory, all cut and resumed at once`,
    group: 'sessions',
    isFresh: true,
    needsProcesses: true,
    figures: [
      { key: 'connectMs', title: 'connect all', unit: 'ms', better: 'lower' },
      { key: 'firstMs', title: 'connect all, just started', unit: 'ms', better: 'lower' },
      { key: 'stormMs', title: 'resume all after a cut', unit: 'ms', better: 'lower' },
      { key: 'emptyMb', title: 'memory per member, empty', unit: 'MB', better: 'lower' },
      { key: 'memberMb', title: 'memory per member, connected', unit: 'MB', better: 'lower' },
      { key: 'sessionKb', title: 'memory per session and member', unit: 'KB', better: 'lower' },
    ],
    scale: {
      dimension: 'sessions',
      what: 'connect, memory',
      at: ({ sizes }) => Math.round(sizes.sessions * share),
    },
    secondsAbout: () => 14,
    run: (context) => connectAndReconnect(context, share),
  });
}

async function connectAndReconnect(context: Context, share: number): Promise<Measurement> {
  const { hosts } = context.system;
  const sessions = Math.round(context.settings.sizes.sessions * share);
  await settle(context);
  const emptyBytes = Math.max(...context.ensemble.facts().residentBytes);
  const agent = context.agent();
  const crowd = { hosts, sessions, sessionTimeoutMs: SESSION_TIMEOUT_MS, dialsMax: DIALS_MAX };
  const first = await agent.call('connectCrowd', crowd);
  await settle(context);
  const memberBytes = Math.max(...context.ensemble.facts().residentBytes);
  context.step('reconnect storm');
  const storm = await agent.call('reconnectCrowd');
  await agent.call('closeCrowd');
  context.step('connect again');
  const connected = await agent.call('connectCrowd', crowd);
  await agent.call('closeCrowd');
  return measurement(
    {
      connectMs: connected.elapsedMs,
      firstMs: first.elapsedMs,
      stormMs: storm.elapsedMs,
      emptyMb: emptyBytes / MEGABYTE,
      memberMb: memberBytes / MEGABYTE,
      sessionKb: (memberBytes - emptyBytes) / 1000 / sessions,
    },
    {
      troubles: crowdTroubles({ connect: [first, connected], resume: [storm] }),
      generatorShare: connected.cpuShare,
    },
  );
}

async function settle({ settings }: Context): Promise<void> {
  await sleep(settings.isQuick ? QUICK_SETTLE_MS : SETTLE_MS);
}

async function expiry(context: Context): Promise<Measurement> {
  const { hosts } = context.system;
  const { sessions } = context.settings.sizes;
  const parent = context.newRoot();
  const client = await context.client();
  await client.create(parent, Buffer.alloc(0));
  const agent = context.agent();
  const crowd = { hosts, sessions, sessionTimeoutMs: SHORT_TIMEOUT_MS, dialsMax: DIALS_MAX };
  const connected = await agent.call('connectCrowd', crowd);
  const created = await agent.call('createEphemerals', parent);
  const writer = await context.startLoad({
    workload: { kind: 'mix', readPercent: 0 },
    connections: 3,
    window: 1,
    seconds: null,
    warmupSeconds: 0,
    processes: 1,
  });
  context.step('expiry');
  await agent.call('abandonCrowd');
  const fromMs = performance.now();
  let left = sessions;
  while (left > 0 && performance.now() - fromMs < EXPIRY_TIMEOUT_MS) {
    await sleep(POLL_MS);
    const stat = await client.exists(parent);
    left = stat?.numChildren ?? 0;
  }
  const goneMs = performance.now() - fromMs;
  const result = await writer.stop();
  const parts = partsOf(result);
  const troubles = [
    ...(parts.troubles ?? []),
    ...crowdTroubles({ connect: [connected], create: [created] }),
    ...(left > 0 ? [`${left} sessions did not expire`] : []),
  ];
  return measurement({ goneMs, silenceMs: result.longestSilenceMs }, { ...parts, troubles });
}
