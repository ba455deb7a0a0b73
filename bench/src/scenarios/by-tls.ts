/**
 * The loads of the first row of the table again, by TLS, and how fast connections come up by it.
 *
 * Each product is as it comes: its own choice of protocol and cipher, a certificate with a key of
 * the curve P-256, and no certificates of clients. In the crowd each connection is made once with a
 * full handshake and once by resuming its TLS session, with a new session of the ensemble each
 * time. The generator takes as much time for a handshake as a member, so the rates depend on both,
 * and the members' processor time is the figure that tells products apart.
 */
import type { Timed } from '../load/agent-service.js';
import type { Context } from '../run/context.js';
import { crowdTroubles } from './crowd-troubles.js';
import { LOAD_FIGURES, measureLoad, warmUp } from './load-figures.js';
import { type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const KINDS = [
  { name: 'write', what: 'setData', readPercent: 0 },
  { name: 'read', what: 'getData', readPercent: 100 },
] as const;
const DIALS_MAX = 100;
const SESSION_TIMEOUT_MS = 30_000;
const SECURE = { isSecure: true } as const;

export const tlsScenarios: readonly Scenario[] = [
  ...KINDS.map(({ name, what, readPercent }) =>
    scenario({
      name: `tls-${name}`,
      title: `${what} 100 B by TLS, 30 connections x 32`,
      group: 'tls',
      figures: LOAD_FIGURES,
      needsProcesses: true,
      memberSettings: SECURE,
      run: (context) => measureLoad(context, { workload: { kind: 'mix', readPercent } }),
    }),
  ),
  scenario({
    name: 'tls-connect',
    title: 'connect 1,000 sessions by TLS, with full handshakes and by resumption',
    group: 'tls',
    figures: [
      { key: 'fullPerSecond', title: 'full handshakes', unit: '1/s', better: 'higher' },
      { key: 'resumedPerSecond', title: 'resumed', unit: '1/s', better: 'higher' },
      { key: 'fullUs', title: "servers' CPU, full handshake", unit: 'us', better: 'lower' },
      { key: 'resumedUs', title: "servers' CPU, resumed", unit: 'us', better: 'lower' },
    ],
    needsProcesses: true,
    memberSettings: SECURE,
    run: connections,
  }),
];

async function connections(context: Context): Promise<Measurement> {
  const { hosts } = context.system;
  const sessions = Math.ceil(context.settings.sizes.sessions / 3);
  await warmUp(context);
  const agent = context.agent();
  const crowd = { hosts, sessions, sessionTimeoutMs: SESSION_TIMEOUT_MS, dialsMax: DIALS_MAX };
  const timed = async (connect: () => Promise<Timed>) => {
    const before = context.ensemble.facts().cpuSeconds;
    const timing = await connect();
    const cpuUs = ((context.ensemble.facts().cpuSeconds - before) * 1e6) / sessions;
    return { timing, cpuUs, perSecond: (sessions * 1000) / timing.elapsedMs };
  };
  const full = await timed(() => agent.call('connectCrowd', crowd));
  await agent.call('closeCrowd');
  context.step('resumed');
  const resumed = await timed(() => agent.call('connectCrowdAgain'));
  await agent.call('closeCrowd');
  const missing = sessions - (resumed.timing.tlsResumed ?? 0);
  return measurement(
    {
      fullPerSecond: full.perSecond,
      resumedPerSecond: resumed.perSecond,
      fullUs: full.cpuUs,
      resumedUs: resumed.cpuUs,
    },
    {
      troubles: [
        ...crowdTroubles({ connect: [full.timing], resume: [resumed.timing] }),
        ...(missing === 0 ? [] : [`${missing} handshakes were not resumed`]),
      ],
    },
  );
}
