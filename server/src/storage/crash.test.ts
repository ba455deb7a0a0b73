/**
 * Kills the process at every change of the disk, and damages every record there is.
 *
 * A script of operations (seeded) runs against memory stores; change number n fails, before or
 * after it reached the disk. The next process must find a state that the script had or was about
 * to have: nothing that was acknowledged may be missing, nothing that never was may be there.
 */
import { makeZxid, type Proposal, type Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { HistoryGoneError, StorageFault } from './errors.js';
import { RECORDS_START } from './log-segment.js';
import { Disk, type Expected, lifeUntil, zxidsOf } from './testing/scripted-life.js';
import { type Opened, openToy, proposalsAfter, seededRandom, ToyState } from './testing.js';

const DEATHS = { log: ['before', 'after', 'torn'], tree: ['before', 'after'] } as const;

/** What a state must be that applied the log up to `zxid`. */
function stateAt(proposals: readonly Proposal[], zxid: Zxid): string {
  const state = new ToyState();
  for (const proposal of proposals) if (proposal.zxid <= zxid) state.apply(proposal);
  return state.digest();
}

async function checkRecovery(disk: Disk, expected: Expected, title: string): Promise<Opened> {
  const opened = await openToy(disk);
  const { recovered, state } = opened;
  expect(recovered.damaged, title).toBe(null);
  expect([expected.accepted, expected.nextAccepted], title).toContain(recovered.acceptedEpoch);
  const { checkpointZxid } = recovered;
  const before = zxidsOf(expected.proposals.filter(({ zxid }) => zxid > checkpointZxid));
  const after = zxidsOf(expected.next.filter(({ zxid }) => zxid > checkpointZxid));
  const found = zxidsOf(recovered.suffix);
  const longer = before.length > after.length ? before : after;
  const shortest = Math.min(before.length, after.length);
  // A multi-segment truncation may stop half-way: anything between the two is legal.
  expect(found.length, title).toBeGreaterThanOrEqual(shortest);
  expect(found, title).toEqual(longer.slice(0, found.length));
  const committedZxid = expected.proposals[expected.committed - 1]?.zxid ?? 0;
  expect(checkpointZxid, title).toBeLessThanOrEqual(committedZxid);
  expect(state.digest(), title).toBe(stateAt(expected.proposals, checkpointZxid));
  const kept = zxidsOf(expected.next).filter((zxid) => zxid > recovered.history.base);
  expect(recovered.history.ranges.length, title).toBeLessThanOrEqual(kept.length + 1);
  return opened;
}

describe('a process that is killed at any change of the disk', () => {
  it.each(['log', 'tree'] as const)(
    'finds a legal state again (%s store)',
    async (which) => {
      let lives = 0;
      for (let seed = 1; seed <= 12; seed++) {
        for (const when of DEATHS[which]) {
          for (let at = 1, failed = true; failed; at++) {
            const title = `seed ${seed}, ${which} change ${at}, ${when}`;
            const life = await lifeUntil(seed, { [which]: at }, when);
            failed = life.failed;
            const opened = await checkRecovery(
              life.disk.crash(seededRandom(at)),
              life.expected,
              title,
            );
            // It goes on: the next epoch can be logged.
            const epoch = opened.recovered.acceptedEpoch + 1;
            await opened.storage.saveEpochs({
              accepted: epoch,
              current: 0,
              ensembleId: '',
              founded: false,
            });
            await opened.storage.append(
              proposalsAfter(opened.storage.last, { epoch, counter: 1, count: 9 }),
            );
            expect(opened.storage.last, title).toBe(makeZxid(epoch, 9));
            lives += 1;
          }
        }
      }
      expect(lives).toBeGreaterThan(200);
    },
    60_000,
  );

  it('while an empty disk is made its own founds it at the next start', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at <= 6; at++) {
        const disk = new Disk();
        disk.treeStore.failAt(at, when);
        disk.logFiles.failAt(at, when);
        await openToy(disk).catch(() => undefined);
        const { recovered } = await openToy(disk.crash(seededRandom(at)));
        expect(recovered.damaged, `change ${at}, ${when}`).toBe(null);
      }
    }
  });

  it('while a snapshot is installed finds the old state whole or the new one', async () => {
    const source = await lifeUntil(3, {}, 'before');
    const leader = await openToy(source.disk.crash(seededRandom(1)));
    const outcomes = new Set<string>();
    for (const which of ['treeStore', 'logFiles'] as const) {
      for (const when of ['before', 'after'] as const) {
        for (let at = 1, failed = true; failed; at++) {
          const title = `${which} change ${at}, ${when}`;
          const { disk, expected } = await lifeUntil(4, {}, 'before');
          const again = disk.crash(seededRandom(2));
          const learner = await openToy(again);
          again[which].failAt(again[which].changeCount + at, when);
          failed = false;
          const snapshot = await leader.storage.openSnapshot();
          try {
            const sink = await learner.storage.beginSnapshot();
            for await (const records of snapshot.records()) await sink.write(records);
            await learner.storage.installSnapshot(snapshot.zxid);
            await learner.storage.idle();
          } catch (error) {
            if (!(error instanceof StorageFault)) throw error;
            failed = true;
          }
          await snapshot.close();
          const { recovered, state } = await openToy(again.crash(seededRandom(at)));
          expect(recovered.damaged, title).toBe(null);
          const isNew =
            recovered.history.base === snapshot.zxid && recovered.last === snapshot.zxid;
          outcomes.add(isNew ? 'new' : 'old');
          if (isNew) expect(state.digest(), title).toBe(leader.state.digest());
          else expect(recovered.last, title).toBe(expected.proposals.at(-1)?.zxid);
        }
      }
    }
    expect([...outcomes].sort()).toEqual(['new', 'old']);
  });
});

describe('a damaged disk', () => {
  it('is noticed whichever byte of whichever record of the tree is another', async () => {
    const first = (await lifeUntil(5, {}, 'before')).disk.crash(seededRandom(1));
    let count = 0;
    first.treeStore.tamper('tree-0', (entries) => {
      count = entries.size;
    });
    expect(count).toBeGreaterThan(3);
    for (let index = 0; index < count; index++) {
      const disk = (await lifeUntil(5, {}, 'before')).disk.crash(seededRandom(1));
      disk.treeStore.tamper('tree-0', (entries) => flipByte(entries, index, index * 3));
      const { recovered, storage } = await openToy(disk);
      expect(recovered.damaged, `record ${index}`).toMatch(/wrong checksum/);
      expect(recovered.suffix).toEqual([]);
      const epochs = { accepted: 90, current: 90, ensembleId: '', founded: false };
      await storage.saveEpochs(epochs);
      const again = await openToy(disk.crash(seededRandom(1)));
      expect(again.recovered.damaged, 'stays damaged').not.toBe(null);
    }
  });

  it('is noticed whichever byte of the log is another, or has lost nothing', async () => {
    const life = await lifeUntil(5, {}, 'before');
    const sound = await openToy(life.disk.crash(seededRandom(1)));
    const counts = { damaged: 0, givenUp: 0, lastWrite: 0, harmless: 0 };
    for (const name of life.disk.logFiles.names()) {
      const { length } = life.disk.logFiles.bytesOf(name);
      for (
        let at = 0;
        at < length;
        at = at < RECORDS_START ? Math.min(at + 1021, RECORDS_START) : at + 7
      ) {
        const { disk, expected } = await lifeUntil(5, {}, 'before');
        const struck = disk.crash(seededRandom(1));
        struck.logFiles.tamper(name, (bytes) => flipped(bytes, at));
        const opened = await openToy(struck);
        const { damaged, suffix } = opened.recovered;
        const title = `byte ${at} of ${name}`;
        if (damaged !== null) {
          expect(damaged, title).toMatch(/wrong checksum|lost its header/);
          counts.damaged += 1;
        } else if (suffix.length < sound.recovered.suffix.length) {
          // Nothing vouches for the very last write: it looks torn.
          expect(suffix, title).toEqual(sound.recovered.suffix.slice(0, suffix.length));
          expect(suffix.length, title).toBeGreaterThan(sound.recovered.suffix.length - 9);
          counts.lastWrite += 1;
        } else if (await readOrGiveUp(opened, struck, expected.proposals)) counts.givenUp += 1;
        else counts.harmless += 1;
      }
    }
    expect(counts.damaged).toBeGreaterThan(10);
    expect(counts.givenUp).toBeGreaterThan(10);
    expect(counts.lastWrite).toBeGreaterThan(0);
  });

  it('has lost nothing with one of the two meta records, and is noticed without both', async () => {
    for (const spoil of [flipByte, loseRecord]) {
      for (const index of [0, 1]) {
        const life = await lifeUntil(5, {}, 'before');
        const disk = life.disk.crash(seededRandom(1));
        disk.treeStore.tamper('meta', (entries) => spoil(entries, index, 77));
        const { recovered } = await openToy(disk);
        expect(recovered).toMatchObject({ damaged: null, acceptedEpoch: life.expected.accepted });
        // What it read is on disk twice again: now the other one may go.
        const next = disk.crash(seededRandom(1));
        next.treeStore.tamper('meta', (entries) => spoil(entries, 1 - index, 78));
        const again = await openToy(next);
        expect(again.recovered).toEqual(recovered);
      }
      const disk = (await lifeUntil(5, {}, 'before')).disk.crash(seededRandom(1));
      disk.treeStore.tamper('meta', (entries) => {
        spoil(entries, 1, 79);
        spoil(entries, 0, 80);
      });
      expect((await openToy(disk)).recovered.damaged).toMatch(/wrong checksum|is missing/);
    }
  });

  it('is noticed when a record or a whole segment in the middle is missing', async () => {
    const first = (await lifeUntil(7, {}, 'before')).disk.crash(seededRandom(1));
    const names = await first.logFiles.list();
    expect(names.length).toBeGreaterThan(2);
    const sound = await openToy(first);
    let without = 0;
    for (const name of names) {
      const disk = (await lifeUntil(7, {}, 'before')).disk.crash(seededRandom(1));
      await disk.logFiles.remove(name);
      const { recovered } = await openToy(disk);
      // All up to one may be gone as if purged, if the checkpoint does not need it.
      if (recovered.damaged === null) {
        expect(recovered.suffix).toEqual(sound.recovered.suffix);
        expect(recovered.history.base).toBeLessThan(recovered.checkpointZxid);
        without += 1;
      } else {
        expect(recovered.damaged, name).toMatch(/gap|does not hold|missing|lost/);
      }
    }
    expect(without).toBeGreaterThan(0);
    expect(without).toBeLessThan(names.length);
    const disk = (await lifeUntil(7, {}, 'before')).disk.crash(seededRandom(1));
    for (const name of names) await disk.logFiles.remove(name);
    expect((await openToy(disk)).recovered.damaged).toMatch(/the log is missing/);
  });

  it('without its meta record is damaged, not new, and a snapshot mends it', async () => {
    const leader = await openToy((await lifeUntil(3, {}, 'before')).disk.crash(seededRandom(1)));
    const disk = (await lifeUntil(7, {}, 'before')).disk.crash(seededRandom(1));
    disk.treeStore.tamper('meta', (entries) => entries.clear());
    const { storage, recovered } = await openToy(disk);
    expect(recovered.damaged).toMatch(/meta record is missing/);
    await storage.saveEpochs({ accepted: 99, current: 0, ensembleId: '', founded: false });
    const snapshot = await leader.storage.openSnapshot();
    const sink = await storage.beginSnapshot();
    for await (const records of snapshot.records()) await sink.write(records);
    await storage.installSnapshot(snapshot.zxid);
    await storage.idle();
    const mended = await openToy(disk.crash(seededRandom(1)));
    expect(mended.recovered).toMatchObject({
      damaged: null,
      acceptedEpoch: 99,
      last: snapshot.zxid,
    });
    expect((await disk.treeStore.crash(seededRandom(1)).list()).length).toBe(2);
  });
});

/** True when reading finds the damage: what cannot be read is given up, all else is as it was. */
async function readOrGiveUp(
  { storage }: Opened,
  disk: Disk,
  expected: readonly Proposal[],
): Promise<boolean> {
  const { base } = storage;
  const read = async () => {
    const found: Zxid[] = [];
    for await (const chunk of storage.readHistory(storage.base, storage.last)) {
      found.push(...zxidsOf(chunk));
    }
    return found;
  };
  const found = await read().catch((error: unknown) => {
    expect(error).toBeInstanceOf(HistoryGoneError);
    expect(String(error)).toMatch(/has lost what follows/);
    return null;
  });
  const rest = found ?? (await read());
  expect(rest).toEqual(zxidsOf(expected).filter((zxid) => zxid > storage.base));
  expect(storage.base > base).toBe(found === null);
  await storage.idle();
  const again = await openToy(disk.crash(seededRandom(1)));
  expect(again.recovered.damaged).toBe(null);
  expect(again.storage.base).toBe(storage.base);
  return found === null;
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 0x10;
  return changed;
}

function loseRecord(entries: Map<string, Uint8Array>, index: number): void {
  const key = [...entries.keys()][index];
  if (key !== undefined) entries.delete(key);
}

function flipByte(entries: Map<string, Uint8Array>, index: number, seed: number): void {
  const [key, value] = [...entries][index] ?? ['', new Uint8Array(0)];
  const changed = Uint8Array.from(value);
  const at = seed % Math.max(1, changed.length);
  changed[at] = (changed[at] ?? 0) ^ 0x10;
  entries.set(key, changed);
}
