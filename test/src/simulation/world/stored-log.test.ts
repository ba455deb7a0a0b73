/**
 * Whatever the simulator does to a log on a disk, a start notices it, or nothing acknowledged was
 * lost; and most damage is noticed. The test uses seeded lives of a storage that dies at any
 * change, random damage, and a start.
 */
import { makeZxid, type Proposal, ProposalBatch, type Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import {
  MemoryLogDirectory,
  MemoryStore,
  ReplicatedState,
  Storage,
  StorageFault,
  seededRandom,
} from '../../simulated.js';
import { type KnownOfLog, StoredLog } from './stored-log.js';

const OPTIONS = { segmentBytesMax: 3_000, recordBytesMax: 400 };
const losesNothing = () => 1 - Number.EPSILON;

class Life {
  readonly random: () => number;
  tree = new MemoryStore();
  log = new MemoryLogDirectory();
  /** The zxid that was acknowledged. */
  last: Zxid = 0;
  recordedZxid: Zxid = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  async start() {
    return await Storage.open({
      treeStore: this.tree,
      logFiles: this.log,
      memberId: 1,
      loader: new ReplicatedState(),
      options: OPTIONS,
      randomBytes: (count) => Uint8Array.from({ length: count }, () => this.random() * 256),
    });
  }

  /** Runs until it dies at some change of its log. */
  async live(epoch: number): Promise<void> {
    const { storage, recovered } = await this.start();
    expect(recovered.damaged).toBe(null);
    this.last = storage.last;
    await storage.saveEpochs({ accepted: epoch, current: epoch, ensembleId: 'e', founded: true });
    const dies = 1 + Math.floor(this.random() * 20);
    this.log.failAt(this.log.changeCount + dies, 'torn', this.random);
    try {
      for (let counter = 1; ; ) {
        const batch: Proposal[] = [];
        for (let count = 0; count < 1 + 5 * this.random(); count++, counter++) {
          const zxid = makeZxid(epoch, counter);
          const body = Buffer.alloc(this.random() * 300, 1);
          batch.push({ zxid, previous: batch.at(-1)?.zxid ?? storage.last, body });
        }
        await storage.append([ProposalBatch.of(batch)]);
        this.last = storage.last;
        if (this.random() > 0.3) continue;
        await storage.markLogEnd();
        this.recordedZxid = storage.last;
      }
    } catch (error) {
      if (!(error instanceof StorageFault)) throw error;
    }
  }

  crash(random = this.random): void {
    this.tree = this.tree.crash(random);
    this.log = this.log.crash(random);
  }

  /** As the meta record says. */
  known(): KnownOfLog {
    let text = '';
    this.tree.tamper('meta', (entries) => {
      text = Buffer.from(entries.get('meta') ?? []).toString('latin1');
    });
    const logSeq = Number(/"logSeq":(\d+)/.exec(text)?.[1] ?? -1);
    return { generation: 0, logSeq, recordedZxid: this.recordedZxid };
  }
}

/** After some lives. */
async function lived(seed: number): Promise<Life> {
  const life = new Life(seed);
  for (let epoch = 1; epoch <= 3; epoch++) {
    await life.live(epoch);
    life.crash();
  }
  return life;
}

const strikes = {
  flipBit: (log: StoredLog, [which, how]: readonly number[]) => log.flipBit(which ?? 0, how ?? 0),
  loseSectors: (log: StoredLog, [which, how]: readonly number[]) =>
    log.loseSectors(which ?? 0, how ?? 0),
  loseHeader: (log: StoredLog, [which]: readonly number[]) => log.loseHeader(which ?? 0),
  cut: (log: StoredLog, [how]: readonly number[]) => log.cut(how ?? 0),
};

describe('damage of a log on a disk of the simulator', () => {
  it.each(['flipBit', 'loseSectors', 'loseHeader', 'cut'] as const)(
    'is noticed, or loses nothing that was acknowledged: %s',
    async (how) => {
      let noticed = 0;
      let done = 0;
      for (let seed = 1; seed <= 80; seed++) {
        const life = await lived(seed);
        const stored = new StoredLog(life.log, life.known());
        if (!strikes[how](stored, [life.random(), life.random()])) continue;
        done += 1;
        // Dies at its start once, so that what was left unsynced is lost.
        life.log.failAt(1 + Math.floor(life.random() * 3), 'torn', life.random);
        await life.start().catch((error: unknown) => expect(error).toBeInstanceOf(StorageFault));
        life.crash(seed % 2 === 0 ? life.random : losesNothing);
        const { recovered } = await life.start();
        if (recovered.damaged !== null) noticed += 1;
        else expect(recovered.last, `seed ${seed}`).toBeGreaterThanOrEqual(life.last);
        if (how === 'cut') expect(recovered.damaged, `seed ${seed}`).not.toBe(null);
      }
      expect(done).toBeGreaterThan(50);
      expect(noticed).toBeGreaterThan(done / 2);
    },
    60_000,
  );

  it('ends before a flipped bit of the newest write, or that is noticed', async () => {
    let noticed = 0;
    let cut = 0;
    for (let seed = 1; seed <= 80; seed++) {
      const life = await lived(seed);
      const stored = new StoredLog(life.log, life.known());
      const { last } = stored;
      const flipped = stored.flipLast(life.random(), life.random());
      if (flipped === null) continue;
      const { keeps, isRecorded } = flipped;
      expect(keeps, `seed ${seed}`).toBeLessThan(last);
      const { recovered } = await life.start();
      if (recovered.damaged !== null) noticed += 1;
      else if (recovered.last === keeps) cut += 1;
      // The bit is one between two records.
      else expect(recovered.last, `seed ${seed}`).toBe(last);
      if (isRecorded && recovered.last !== last) {
        expect(recovered.damaged, `seed ${seed}`).not.toBe(null);
      }
    }
    expect(noticed).toBeGreaterThan(5);
    expect(cut).toBeGreaterThan(5);
  }, 60_000);

  it('finds every record that the storage has written', async () => {
    const life = new Life(1);
    const { storage } = await life.start();
    await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
    for (let counter = 1; counter <= 60; counter++) {
      const zxid = makeZxid(1, counter);
      const proposal = { zxid, previous: storage.last, body: Buffer.alloc(100, 1) };
      await storage.append([ProposalBatch.of([proposal])]);
    }
    await storage.idle();
    life.crash(losesNothing);
    expect(life.log.names().length).toBeGreaterThan(2);
    expect(new StoredLog(life.log, life.known()).recordCount).toBe(60);
  });

  it('spares records that no meta record covers', () => {
    const log = new MemoryLogDirectory();
    const stored = new StoredLog(log, { generation: 0, logSeq: 7, recordedZxid: 9 });
    const done = [stored.flipBit(0.5, 0.5), stored.loseSectors(0.5, 0.5), stored.cut(0.5)];
    expect([...done, stored.loseHeader(0.5)]).toEqual([false, false, false, false]);
  });
});
