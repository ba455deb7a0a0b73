/**
 * A loss of power at any moment of a member's first start.
 *
 * The calls of a real first start are recorded, and every prefix of them makes the images that a
 * loss of power can leave behind it: with and without the bytes and names that were not synced.
 * From each a member must start, sound and with nothing promised; and one in which the founding is
 * complete must not be taken for empty. The same for a start that finds what such a loss has left.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  canTrace,
  type DiskOperation,
  takeTrace,
  tracedProduct,
} from '../../harness/disk-trace.js';
import { useEnsemble } from '../../harness/ensemble.js';
import { skipOrFail } from '../../harness/foreign.js';
import {
  ALL_LOSSES,
  type Image,
  imagesOf,
  type Loss,
  writeImage,
} from '../../harness/traced-disk.js';
import { openStores, type Recovered, ReplicatedState, Storage } from '../../simulated.js';

const TEST_DEADLINE_MS = 600_000;
/** A guard against a hang: under strace and on a busy machine a start takes long. */
const START_DEADLINE_MS = 240_000;
const AT_ONCE = 4;
/** A disk in memory, where a sync takes no time. */
const MEMORY = '/dev/shm';
const MARK = '1/tree/member.json';

/** What a member does to `dataDir` from its start until it has looked for the others. */
async function startedOn(before: Image): Promise<Trace> {
  const ensemble = await useEnsemble({ product: tracedProduct() });
  const dataDir = join(ensemble.directory, 'data');
  writeImage(before, dataDir);
  const member = ensemble.member(1);
  ensemble.start([1]);
  const { pid } = member;
  await member.waitForLog(/"election.waiting"/, START_DEADLINE_MS);
  await member.kill();
  return { dataDir, before, operations: await takeTrace(ensemble, { id: 1, pid }) };
}

interface Trace {
  readonly dataDir: string;
  readonly before: Image;
  readonly operations: readonly DiskOperation[];
}

/** Opens what a loss of power has left, as a member does before it sends anything. */
async function opened(dataDir: string): Promise<Recovered> {
  const stores = await openStores({ dataDir, dataLogDir: dataDir, memberId: 1 });
  const loader = new ReplicatedState();
  const setup = { ...stores, memberId: 1, randomBytes, loader };
  const { storage, recovered } = await Storage.open(setup);
  await storage.close();
  return recovered;
}

/** Opens every image of a start, and returns those that count as unfinished. */
async function checkImages(
  { dataDir, before, operations }: Trace,
  losses: readonly Loss[],
): Promise<readonly Image[]> {
  const directory = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'rookery-images-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const images = [...imagesOf(operations, { root: dataDir, before, losses })];
  const unfinished: Image[] = [];
  const troubles: string[] = [];
  const check = async ({ title, image }: (typeof images)[number], index: number) => {
    const copy = join(directory, String(index));
    writeImage(image, copy);
    const { damaged, acceptedEpoch, unfinished: left } = await opened(copy);
    if (damaged !== null) troubles.push(`${title}: ${damaged}`);
    if (acceptedEpoch !== 0) troubles.push(`${title}: an epoch`);
    if (left !== undefined) unfinished.push(image);
    if (left !== undefined && image.has(MARK)) troubles.push(`${title}: complete, and not kept`);
    await rm(copy, { recursive: true });
  };
  const next = images.entries();
  const lane = async () => {
    for (const [index, found] of next) {
      await check(found, index).catch((error) => troubles.push(`${found.title}: ${error}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  console.log(`${operations.length} operations, ${images.length} images`);
  expect(troubles).toEqual([]);
  expect(images.some(({ image }) => image.has(MARK))).toBe(true);
  return unfinished;
}

it(
  'wherever the power fails during a first start, the next start founds the member',
  async ({ skip }) => {
    if (!(await canTrace())) skipOrFail(skip, 'strace cannot trace processes here');
    const unfinished = await checkImages(await startedOn(new Map()), ALL_LOSSES);
    expect(unfinished.length).toBeGreaterThan(50);
    // And again, wherever it fails while what is left of the first start is removed.
    const worst = unfinished.at(-1);
    if (worst === undefined) throw new Error('there is one');
    await checkImages(await startedOn(worst), ['bytes', 'everything']);
  },
  TEST_DEADLINE_MS,
);
