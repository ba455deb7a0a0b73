/**
 * Kills the process at every change of the disk, and damages every record there is.
 *
 * A script of operations (seeded) runs against memory stores; change number n fails, before or
 * after it reached the disk. The next process must find a state that the script had or was about
 * to have: nothing that was acknowledged may be missing, nothing that never was may be there.
 */
import { makeZxid, type Proposal, type Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { sealChange } from './checkpoint.js';
import { HistoryGoneError, StorageFault } from './errors.js';
import { MemoryStore } from './memory-store.js';
import { type Opened, openToy, proposalsAfter, seededRandom, ToyState } from './testing.js';

interface Expected {
  /** Of the log, acknowledged. */
  proposals: readonly Proposal[];
  /** What the log becomes if the operation under way reached the disk. */
  next: readonly Proposal[];
  accepted: number;
  nextAccepted: number;
  /** How much of the log is committed: applied, and never truncated. */
  committed: number;
}

/** Counts over both stores, so that a process dies as a whole. */
class Disk {
  treeStore = new MemoryStore();
  logStore = new MemoryStore();

  crash(random: () => number): Disk {
    const next = new Disk();
    next.treeStore = this.treeStore.crash(random);
    next.logStore = this.logStore.crash(random);
    return next;
  }
}

const OPERATION_COUNT = 30;

/** Runs until it ends or the disk fails; `expected` always tells what is legal. */
async function runScript(opened: Opened, random: () => number, expected: Expected): Promise<void> {
  const { storage, state } = opened;
  let counter = 0;
  for (let i = 0; i < OPERATION_COUNT; i++) {
    const choice = random();
    const length = expected.proposals.length;
    if (choice < 0.1) {
      expected.nextAccepted = expected.accepted + 1;
      counter = 0;
      const { nextAccepted } = expected;
      await storage.saveEpochs({
        accepted: nextAccepted,
        current: 0,
        ensembleId: '',
        founded: false,
      });
      expected.accepted = nextAccepted;
    } else if (choice < 0.2 && length > expected.committed) {
      const kept = expected.committed + Math.floor(random() * (length - expected.committed));
      expected.next = expected.proposals.slice(0, kept);
      await storage.truncate(expected.next.at(-1)?.zxid ?? 0);
      // A truncated zxid is never used again: a new leader has a new epoch.
      expected.proposals = expected.next;
      expected.nextAccepted = expected.accepted + 1;
      counter = 0;
      const { nextAccepted } = expected;
      await storage.saveEpochs({
        accepted: nextAccepted,
        current: 0,
        ensembleId: '',
        founded: false,
      });
      expected.accepted = nextAccepted;
    } else if (choice < 0.35 && state.lastZxid > storage.checkpointZxid) {
      storage.beginCheckpoint(state.lastZxid);
      const frozen = state.freeze();
      await storage.writeCheckpoint(state.captureSome(1000, 1 << 20).map(sealChange), frozen);
      storage.purge(0);
    } else {
      const at = {
        epoch: expected.accepted,
        counter: counter + 1,
        count: 1 + Math.floor(random() * 8),
      };
      counter += at.count;
      const proposals = proposalsAfter(storage.last, at);
      expected.next = [...expected.proposals, ...proposals];
      await storage.append(proposals);
      expected.proposals = expected.next;
      if (choice > 0.8) await storage.markLogEnd();
      const committed =
        expected.committed + Math.floor(random() * (expected.next.length - expected.committed + 1));
      for (const proposal of expected.next.slice(expected.committed, committed))
        state.apply(proposal);
      expected.committed = committed;
    }
  }
  await storage.idle();
}

function zxidsOf(proposals: readonly Proposal[]): readonly Zxid[] {
  return proposals.map((proposal) => proposal.zxid);
}

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

async function lifeUntil(
  seed: number,
  limit: { tree?: number; log?: number },
  when: 'before' | 'after',
) {
  const disk = new Disk();
  const expected: Expected = {
    proposals: [],
    next: [],
    accepted: 1,
    nextAccepted: 1,
    committed: 0,
  };
  const opened = await openToy(disk);
  await opened.storage.saveEpochs({ accepted: 1, current: 0, ensembleId: '', founded: false });
  const base = { tree: disk.treeStore.changeCount, log: disk.logStore.changeCount };
  if (limit.tree !== undefined) disk.treeStore.failAt(base.tree + limit.tree, when);
  if (limit.log !== undefined) disk.logStore.failAt(base.log + limit.log, when);
  let failed = false;
  try {
    await runScript(opened, seededRandom(seed), expected);
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
    failed = true;
  }
  return { disk, expected, failed };
}

describe('a process that is killed at any change of the disk', () => {
  it.each(['log', 'tree'] as const)(
    'finds a legal state again (%s store)',
    async (which) => {
      let lives = 0;
      for (let seed = 1; seed <= 12; seed++) {
        for (const when of ['before', 'after'] as const) {
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
        disk.logStore.failAt(at, when);
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
    for (const which of ['treeStore', 'logStore'] as const) {
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
  it('is noticed whichever byte of whichever record is another', async () => {
    const names = { treeStore: ['tree-0'], logStore: ['log-0-'] };
    let flips = 0;
    let unread = 0;
    for (const which of ['treeStore', 'logStore'] as const) {
      const first = (await lifeUntil(5, {}, 'before')).disk.crash(seededRandom(1));
      for (const name of await first[which].list()) {
        if (!names[which].some((prefix) => name.startsWith(prefix))) continue;
        let count = 0;
        first[which].tamper(name, (entries) => {
          count = entries.size;
        });
        for (let index = 0; index < count; index++) {
          const disk = (await lifeUntil(5, {}, 'before')).disk.crash(seededRandom(1));
          disk[which].tamper(name, (entries) => flipByte(entries, index, flips));
          const opened = await openToy(disk);
          const { recovered, storage } = opened;
          if (recovered.damaged === null) {
            // In front of the checkpoint; only a learner would have read it.
            const { proposals } = (await lifeUntil(5, {}, 'before')).expected;
            unread += (await readOrGiveUp(opened, disk, proposals)) ? 1 : 0;
            continue;
          }
          expect(recovered.damaged, `${name}, record ${index}`).toMatch(/wrong checksum/);
          expect(recovered.suffix).toEqual([]);
          const epochs = { accepted: 90, current: 90, ensembleId: '', founded: false };
          await storage.saveEpochs(epochs);
          const again = await openToy(disk.crash(seededRandom(1)));
          expect(again.recovered.damaged, 'stays damaged').not.toBe(null);
          flips += 1;
        }
      }
    }
    expect(flips).toBeGreaterThan(10);
    expect(unread).toBeGreaterThan(0);
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
    const names = await first.logStore.list();
    expect(names.length).toBeGreaterThan(2);
    const sound = await openToy(first);
    let without = 0;
    for (const name of names.slice(0, -1)) {
      const disk = (await lifeUntil(7, {}, 'before')).disk.crash(seededRandom(1));
      await disk.logStore.destroy(name);
      const { recovered } = await openToy(disk);
      // All up to one may be gone as if purged, if the checkpoint does not need it.
      if (recovered.damaged === null) {
        expect(recovered.suffix).toEqual(sound.recovered.suffix);
        expect(recovered.history.base).toBeLessThan(recovered.checkpointZxid);
        expect((await disk.logStore.list())[0]).not.toBe(names[0]);
        without += 1;
      } else {
        expect(recovered.damaged, name).toMatch(/gap|does not hold|missing|lost/);
      }
    }
    expect(without).toBeLessThan(names.length - 1);
    const disk = (await lifeUntil(7, {}, 'before')).disk.crash(seededRandom(1));
    for (const name of names) await disk.logStore.destroy(name);
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
    expect(String(error)).toMatch(/wrong checksum/);
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
