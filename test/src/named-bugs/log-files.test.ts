/**
 * ZOOKEEPER-2332, 1621, 4813: a transaction log whose last write was cut short, down to its header,
 * kept a server from starting. On real LevelDB files.
 *
 * What was written may end at any byte behind the last that was synced, and the file with it, or
 * zeros that were there before follow; here that is each byte behind the first proposals. The
 * member must start, with the log up to some proposal, and go on from it.
 */
import { cp, mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeZxid, type Proposal } from '@rookery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLevelStores, ReplicatedState, Storage } from '../simulated.js';

const SEGMENT_BYTES = 1000;
const EPOCHS = { accepted: 1, current: 1, ensembleId: 'e', founded: true };

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-torn-'));
});
afterEach(() => rm(home, { recursive: true }));

async function open(directory: string) {
  const setup = { dataDir: directory, dataLogDir: directory, memberId: 1 };
  const stores = await openLevelStores({ ...setup, segmentBytesMax: SEGMENT_BYTES });
  const options = { segmentBytesMax: SEGMENT_BYTES };
  return Storage.open({ ...stores, memberId: 1, loader: new ReplicatedState(), options });
}

async function append(storage: Storage): Promise<void> {
  const zxid = storage.last === 0 ? makeZxid(1, 1) : storage.last + 1;
  const proposal: Proposal = { zxid, previous: storage.last, body: Buffer.from('a proposal') };
  await storage.append([proposal]);
}

/** Appends, one by one; what `look` sees after each, when nothing is under way any more. */
async function written<T>(count: number, look: () => Promise<T>): Promise<readonly T[]> {
  const { storage } = await open(join(home, 'whole'));
  await storage.saveEpochs(EPOCHS);
  const seen: T[] = [];
  for (let index = 0; index < count; index++) {
    await append(storage);
    await storage.idle();
    seen.push(await look());
  }
  await storage.close();
  return seen;
}

/**
 * Bytes written to the write-ahead file of the log's segment, which no record ends with a zero;
 * null when there is no such segment.
 */
async function bytesOf(segment: number): Promise<number | null> {
  const file = await fileOf(segment);
  if (file === null) return null;
  const bytes = await readFile(join(home, 'whole', file));
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
}

/** From the data directory. */
async function fileOf(segment: number): Promise<string | null> {
  const folder = join('1', 'log', `log-0-${segment}`);
  const files = await readdir(join(home, 'whole', folder)).catch(() => []);
  const name = files.find((file) => file.endsWith('.log'));
  return name === undefined ? null : join(folder, name);
}

type Tear = 'cut' | 'zeros';
const TEARS: readonly Tear[] = ['cut', 'zeros'];

/**
 * Starts with so much of these segments' files, and nothing or zeros behind it; how many proposals
 * are left. It must go on.
 */
async function startsWith(sizes: ReadonlyMap<number, number>, tear: Tear): Promise<number> {
  const directory = join(home, 'torn');
  await rm(directory, { recursive: true, force: true });
  await cp(join(home, 'whole'), directory, { recursive: true });
  for (const [segment, size] of sizes) {
    const file = join(directory, (await fileOf(segment)) ?? '');
    const { size: whole } = await stat(file);
    await truncate(file, size);
    if (tear === 'zeros') await truncate(file, whole);
  }
  const { storage, recovered } = await open(directory);
  expect(recovered.damaged, `${tear} from ${[...sizes].join(' and ')}`).toBe(null);
  await append(storage);
  await storage.close();
  return recovered.suffix.length;
}

/** Each of the first and last few, and some between. */
function sampled(from: number, to: number): readonly number[] {
  const all = Array.from({ length: to - from }, (_, index) => from + index);
  return all.filter((size) => size < from + 9 || size >= to - 2 || (size - from) % 16 === 0);
}

describe('a log whose last write was torn', () => {
  it('ZK-2332, ZK-1621: starts, wherever in it the file ends, with everything before it', async () => {
    const sizes = await written(3, () => bytesOf(0));
    const [, before = 0, whole = 0] = sizes.map((size) => size ?? 0);
    expect(whole - before).toBeGreaterThan(30);
    for (const size of sampled(before, whole)) {
      for (const tear of TEARS) expect(await startsWith(new Map([[0, size]]), tear)).toBe(2);
    }
  }, 60_000);

  it('ZK-4813: starts when not even the header of a new file of the log was written', async () => {
    const sizes = await written(8, async () => ({ old: await bytesOf(0), next: await bytesOf(1) }));
    // The append that made the next file be prepared, without the mark that says it is there.
    const made = sizes.findIndex(({ next }) => next !== null);
    const appendBytes = (sizes[1]?.old ?? 0) - (sizes[0]?.old ?? 0);
    const old = (sizes[made - 1]?.old ?? 0) + appendBytes;
    expect(sizes[made]?.old).toBeGreaterThan(old);
    for (const size of sampled(0, sizes[made]?.next ?? 0)) {
      const cut = new Map([
        [0, old],
        [1, size],
      ]);
      for (const tear of TEARS) expect(await startsWith(cut, tear)).toBe(made + 1);
    }
  }, 60_000);
});
