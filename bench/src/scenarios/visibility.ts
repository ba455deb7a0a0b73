/**
 * Measures what other members show: a znode is created through one member, and as soon as the
 * create is answered every other member is asked whether the znode exists.
 *
 * Without `sync` either answer is correct, but applications notice the difference. The share of
 * questions that find the znode says how far the other members are behind an answer.
 */
import { type Client, connect } from '@rookery/client';
import { Histogram } from '../load/histogram.js';
import type { Context } from '../run/context.js';
import { type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const WARMUP_CREATES = 200;
/** One create follows the other: there are about this many in a second. */
const CREATES_PER_SECOND = 400;

export const visibilityScenarios: readonly Scenario[] = [
  scenario({
    name: 'create-seen',
    title: 'a znode is created, and other members are asked for it at once',
    group: 'visibility',
    figures: [
      { key: 'seenPercent', title: 'found by another member', unit: '%', better: 'higher' },
      { key: 'createP50Ms', title: 'create, p50', unit: 'ms', better: 'lower' },
    ],
    run: createSeen,
  }),
];

async function createSeen(context: Context): Promise<Measurement> {
  const { settings, system } = context;
  const root = context.newRoot();
  const clients: Client[] = [];
  for (const { host, port } of system.hosts) {
    const client = await connect(`${host}:${port}`);
    context.onEnd(() => client.close());
    clients.push(client);
  }
  await clients[0]?.create(root);
  for (const client of clients) await client.sync(root);
  const createUs = new Histogram();
  const creates = WARMUP_CREATES + Math.round(settings.seconds * CREATES_PER_SECOND);
  let asked = 0;
  let seen = 0;
  for (let number = 0; number < creates; number++) {
    const creator = number % clients.length;
    const path = `${root}/${number}`;
    const begunMs = performance.now();
    await clients[creator]?.create(path);
    const tookMs = performance.now() - begunMs;
    const others = clients.filter((_, index) => index !== creator);
    const stats = await Promise.all(others.map((client) => client.exists(path)));
    if (number < WARMUP_CREATES) continue;
    createUs.add(tookMs * 1000);
    asked += stats.length;
    seen += stats.filter((stat) => stat !== null).length;
  }
  return measurement({
    seenPercent: (100 * seen) / asked,
    createP50Ms: createUs.percentileUs(50) / 1000,
  });
}
