/**
 * The differential test: the same random sequences against Apache ZooKeeper and against Rookery.
 *
 * Each product must agree with the model in its own dialect, so a difference that is not in the
 * list of divergences fails, and so does a divergence that does not exist.
 *
 * `npm run test:differential` needs Debian's zookeeper and a Java runtime. `-- apache local` checks
 * one product, with local sessions alone. ROOKERY_MODEL_SEQUENCES is the number of sequences, 2,000
 * by default. ROOKERY_TEST_SEED repeats a run. ROOKERY_TEST_KEEP keeps the members' logs.
 */
import { Ensemble } from '../harness/ensemble.js';
import { productNamed } from '../harness/product.js';
import { Random } from '../harness/random.js';
import { checkPlans, NO_REAPING } from './check.js';
import { DIVERGENCES, type Dialect, ROOKERY, ZOOKEEPER_3_8_0 } from './dialect.js';
import { MEMBER_SETTINGS } from './operations.js';

const SEQUENCES = Number(process.env['ROOKERY_MODEL_SEQUENCES'] ?? 2_000);
const WORDS = process.argv.slice(2);
const ONLY_LOCAL = WORDS.includes('local');
const NAMES = WORDS.filter((word) => word !== 'local');

const { seed } = Random.forSearch('differential');
const products = [
  { name: 'apache', dialect: ZOOKEEPER_3_8_0, settings: {} },
  { name: 'rookery', dialect: ROOKERY, settings: { peerTimeoutMs: 10_000 } },
] as const;
for (const { name, dialect, settings } of products) {
  if (NAMES.length > 0 && !NAMES.includes(name)) continue;
  const spoken = { ...dialect, hasPages: false };
  if (!ONLY_LOCAL) await check(name, spoken, settings, SEQUENCES);
  const sequences = ONLY_LOCAL ? SEQUENCES : Math.ceil(SEQUENCES / 10);
  await check(name, spoken, { ...settings, localSessions: true }, sequences);
}
console.log('The products agree, except for:');
for (const { what, rookery, zooKeeper } of Object.values(DIVERGENCES)) {
  console.log(`- ${what}: Rookery ${rookery}; ZooKeeper 3.8.0 ${zooKeeper}`);
}

async function check(
  name: (typeof products)[number]['name'],
  dialect: Dialect,
  settings: Readonly<Record<string, unknown>>,
  sequences: number,
): Promise<void> {
  const product = productNamed(name);
  const all = { ...MEMBER_SETTINGS, ...settings };
  const environment = NO_REAPING;
  const ensemble = await Ensemble.create({
    tickTimeMs: 2_000,
    settings: all,
    environment,
    product,
  });
  try {
    await startAll(ensemble, name);
    const localSessions = settings['localSessions'] === true;
    const summary = await checkPlans({ ensemble, dialect, sequences, seed, localSessions });
    console.log(`${name}${localSessions ? ', local sessions' : ''}:`, JSON.stringify(summary));
  } finally {
    await ensemble.close(process.env['ROOKERY_TEST_KEEP'] !== undefined);
  }
}

/**
 * If three members of ZooKeeper 3.8.0 start at once, they sometimes leave the third out of the
 * election.
 */
async function startAll(ensemble: Ensemble, name: 'apache' | 'rookery'): Promise<void> {
  const [first = [], then = []] = name === 'apache' ? [[1, 2], [3]] : [ensemble.ids, []];
  for (const ids of [first, then]) {
    ensemble.start(ids);
    await ensemble.serving(ids);
  }
}
