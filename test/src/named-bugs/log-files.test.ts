/**
 * ZOOKEEPER-2332, 1621, 4813: a transaction log whose last write was incomplete, even within its
 * header, kept a server from starting. The tests use real files.
 *
 * What was written may end at any byte after the last durable one; the file may end there too, or
 * contain zeros that were there before. The member must start, with the log up to some proposal,
 * and continue from it.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeZxid, ProposalBatch } from '@rookery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStores, ReplicatedState, Storage } from '../simulated.js';

const EPOCHS = { accepted: 1, current: 1, ensembleId: 'e', founded: true };

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-torn-'));
});
afterEach(() => rm(home, { recursive: true }));

async function open(directory: string) {
  const stores = await openStores({ dataDir: directory, dataLogDir: directory, memberId: 1 });
  const options = { segmentBytesMax: 300 };
  const randomBytes = (count: number) => new Uint8Array(count).fill(7);
  const loader = new ReplicatedState();
  return Storage.open({ ...stores, memberId: 1, loader, options, randomBytes });
}

async function append(storage: Storage): Promise<void> {
  const zxid = storage.last === 0 ? makeZxid(1, 1) : storage.last + 1;
  const proposal = { zxid, previous: storage.last, body: Buffer.from('a proposal') };
  await storage.append([ProposalBatch.of([proposal])]);
}

/** The directory as a process would find it that was killed after this many appends. */
function behind(appends: number): string {
  return join(home, `after-${appends}`);
}

/** Appends one by one, and keeps a copy of the directory after each. */
async function write(count: number): Promise<void> {
  const live = join(home, 'live');
  const { storage } = await open(live);
  await storage.saveEpochs(EPOCHS);
  for (let appends = 0; appends <= count; appends++) {
    if (appends > 0) await append(storage);
    await storage.idle();
    await cp(live, behind(appends), { recursive: true });
  }
  await storage.close();
}

function segmentIn(directory: string, seq: number): string {
  return join(directory, '1', 'log', `0-${seq}.log`);
}

/**
 * The bytes that were written to the file; no record, and no header, ends with a zero. Empty if the
 * file does not exist.
 */
async function writtenIn(directory: string, seq: number): Promise<Uint8Array> {
  const bytes = await readFile(segmentIn(directory, seq)).catch(() => Buffer.alloc(0));
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
}

/** What a write left behind, followed by nothing, or by zeros. */
const TEARS = {
  cut: (bytes: Uint8Array) => bytes,
  zeros: (bytes: Uint8Array) => Buffer.concat([bytes, new Uint8Array(4096)]),
};

/**
 * Starts with these bytes in place of a segment of a directory; returns how many proposals are
 * left. The log must then accept more.
 */
async function startsWith(from: string, seq: number, bytes: Uint8Array): Promise<number> {
  const directory = join(home, 'torn');
  await rm(directory, { recursive: true, force: true });
  await cp(from, directory, { recursive: true });
  await writeFile(segmentIn(directory, seq), bytes);
  const { storage, recovered } = await open(directory);
  expect(recovered.damaged, `${bytes.length} bytes of segment ${seq}`).toBe(null);
  await append(storage);
  await storage.close();
  return recovered.suffix.reduce((sum, { count }) => sum + count, 0);
}

/** The first and last few sizes, and some between. */
function sampled(from: number, to: number, step: number): readonly number[] {
  const all = Array.from({ length: to - from }, (_, index) => from + index);
  return all.filter((size) => size < from + 4 || size >= to - 2 || (size - from) % step === 0);
}

describe('a log whose last write is incomplete', () => {
  it('ZK-2332, ZK-1621: starts with everything before that write, wherever within it the file ends', async () => {
    await write(3);
    const before = await writtenIn(behind(2), 0);
    const whole = await writtenIn(behind(3), 0);
    expect(whole.length - before.length).toBeGreaterThan(30);
    for (const size of sampled(before.length, whole.length, 24)) {
      for (const tear of Object.values(TEARS)) {
        expect(await startsWith(behind(3), 0, tear(whole.subarray(0, size)))).toBe(2);
      }
    }
    expect(await startsWith(behind(3), 0, whole)).toBe(3);
  });

  it('ZK-4813: starts if not even the header of a new file of the log was written', async () => {
    await write(10);
    let made = 1;
    while ((await writtenIn(behind(made), 1)).length === 0) made += 1;
    expect(made).toBeGreaterThan(2);
    // The header is durable before the meta record mentions the file, and that before the first
    // record.
    const begun = await writtenIn(behind(made), 1);
    const header = begun.subarray(0, 8192);
    for (const size of sampled(0, header.length, 1024)) {
      for (const tear of Object.values(TEARS)) {
        expect(await startsWith(behind(made - 1), 1, tear(header.subarray(0, size)))).toBe(
          made - 1,
        );
      }
    }
    expect(await startsWith(behind(made - 1), 1, header)).toBe(made - 1);
    expect(await startsWith(behind(made), 1, begun)).toBe(made);
  });
});
