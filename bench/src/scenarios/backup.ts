/**
 * A backup of a running follower while clients are at work: how long it takes, and the slowest
 * answer that a client of this member and one of the leader get meanwhile, beside the slowest ones
 * of the same clients before.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@rookery/client';
import type { Host } from '../load/dial.js';
import type { KeySpace } from '../load/key-space.js';
import type { Context } from '../run/context.js';
import { ADMIN_PORT, ADMIN_USER, ROOKERY } from '../systems/plan.js';
import { partsOf, troublesOf } from './load-figures.js';
import { type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const LOADERS = 6;
const LOADERS_WINDOW = 250;
/** The write rate of a slow machine, for the estimate that is shown. */
const LOADS_PER_SECOND = 12_000;
/** In this time the checkpoint after the load is written. */
const SETTLE_MS = 5000;

export const backupScenarios: readonly Scenario[] = [
  scenario({
    name: 'backup-1m',
    title: '1m znodes x 100 B: a backup of a running follower, and its clients meanwhile',
    group: 'backup',
    figures: [
      { key: 'saveSeconds', title: 'saved and verified', unit: 's', better: 'lower' },
      { key: 'readMaxMs', title: 'slowest read meanwhile', unit: 'ms', better: 'lower' },
      { key: 'writeMaxMs', title: 'slowest write meanwhile', unit: 'ms', better: 'lower' },
      { key: 'quietReadMaxMs', title: 'slowest read before', unit: 'ms', better: 'lower' },
      { key: 'quietWriteMaxMs', title: 'slowest write before', unit: 'ms', better: 'lower' },
    ],
    isFresh: true,
    isRookeryOnly: true,
    needsProcesses: true,
    memberSettings: { isOperated: true },
    secondsAbout: ({ sizes, seconds }) => sizes.manyZnodes / LOADS_PER_SECOND + seconds + 30,
    run: saveWhileServing,
  }),
];

async function saveWhileServing(context: Context): Promise<Measurement> {
  const { settings, ensemble } = context;
  const space: KeySpace = {
    root: context.newRoot(),
    keys: settings.sizes.manyZnodes,
    valueBytes: 100,
  };
  context.step(`loading ${space.keys} znodes`);
  const loaded = await context.load({
    workload: { kind: 'fill' },
    space,
    isSetUp: true,
    connections: LOADERS,
    window: LOADERS_WINDOW,
    processes: 1,
    seconds: null,
    warmupSeconds: 0,
  });
  await sleep(SETTLE_MS);
  const leading = await ensemble.leader();
  const [leader, follower] = [hostAt(context, leading), hostAt(context, leading === 0 ? 1 : 0)];
  context.step('clients without a backup');
  const quiet = await slowest(context, { leader, follower }, sleep(1000 * settings.seconds));
  context.step('clients during a backup');
  const beganMs = performance.now();
  const saving = save(context, follower).then(() => performance.now() - beganMs);
  const during = await slowest(context, { leader, follower }, saving);
  return measurement(
    {
      saveSeconds: (await saving) / 1000,
      readMaxMs: during.readMs,
      writeMaxMs: during.writeMs,
      quietReadMaxMs: quiet.readMs,
      quietWriteMaxMs: quiet.writeMs,
    },
    { ...partsOf(loaded), troubles: troublesOf(loaded) },
  );
}

function hostAt({ system }: Context, index: number): Host {
  const host = system.hosts[index];
  if (host === undefined) throw new Error(`the ensemble has no member ${index + 1}`);
  return host;
}

/**
 * Resolves with the slowest answers until `until` is over. One client reads at the follower and
 * another one writes at the leader, and each waits for an answer before it asks again.
 */
async function slowest(
  context: Context,
  { leader, follower }: { readonly leader: Host; readonly follower: Host },
  until: Promise<unknown>,
): Promise<{ readonly readMs: number; readonly writeMs: number }> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  until.then(end, end);
  const root = context.newRoot();
  const slowestOf = async ({ host, port }: Host, ask: 'read' | 'write') => {
    const client = await connect(`${host}:${port}`);
    context.onEnd(() => client.close());
    const path = `${root}-${ask}`;
    await client.create(path, 'x'.repeat(100));
    let slowestMs = 0;
    while (!isOver) {
      const beganMs = performance.now();
      if (ask === 'read') await client.getData(path);
      else await client.setData(path, 'y'.repeat(100));
      slowestMs = Math.max(slowestMs, performance.now() - beganMs);
    }
    return slowestMs;
  };
  const [readMs, writeMs] = await Promise.all([
    slowestOf(follower, 'read'),
    slowestOf(leader, 'write'),
  ]);
  await until;
  return { readMs, writeMs };
}

/** Saves a running member with the command of an operator. */
async function save({ ensemble }: Context, { host, port }: Host): Promise<void> {
  const url = `http://${host}:${port + ADMIN_PORT}`;
  const command = ['backup', 'save', join(ensemble.directory, 'backups'), '--url', url];
  const child = spawn(process.execPath, [ROOKERY, ...command], {
    env: { ...process.env, ROOKERY_ADMIN_USER: ADMIN_USER },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the backup ended with code ${code}: ${said}`);
}
