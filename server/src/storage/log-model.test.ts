/**
 * Goal: whatever is done to a log, and wherever its process dies, the next one finds what was
 * durable, and at most a beginning of what was under way; and it never takes a crash for damage.
 * Method: random operations against a list of proposals, with a crash at a random change, torn or
 * not, many lives long, on a directory that gives stale space back. Seeds are in the titles.
 */
import {
  extendRanges,
  type GrowingRanges,
  makeZxid,
  type Proposal,
  ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { proposalsAfter, proposalsIn } from '../simulated/storage/toy-state.js';
import { DEFAULT_STORAGE_OPTIONS } from './contract.js';
import { StorageFault } from './errors.js';
import { recoverLog } from './log-recovery.js';
import { TxnLog } from './txn-log.js';

const OPTIONS = {
  ...DEFAULT_STORAGE_OPTIONS,
  segmentBytesMax: 600,
  firstPart: 0.5,
  recordBytesMax: 150,
};
const GENERATION = 3;

/** What survives a crash beside the files: the meta record, and the tree. */
interface Rest {
  logSeq: number;
  checkpoint: Zxid;
}

class Life {
  readonly random: () => number;
  readonly rest: Rest = { logSeq: 0, checkpoint: 0 };
  directory = new MemoryLogDirectory();
  /** Durable. */
  proposals: readonly Proposal[] = [];
  /** What they become by the operation under way. */
  next: readonly Proposal[] = [];
  epoch = 1;
  salts = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** The log that is opened in `directory`. */
  setup(directory = this.directory) {
    const randomBytes = () => Buffer.from((this.salts++).toString(16).padStart(16, '0'), 'hex');
    return { logFiles: directory, options: OPTIONS, randomBytes };
  }

  readonly recordBegun = async (seq: number): Promise<void> => {
    this.rest.logSeq = seq;
  };

  async append(log: TxnLog): Promise<void> {
    const count = 1 + Math.floor(this.random() * 12);
    const counter = this.#counterAfter(log.last);
    const added = [...proposalsAfter(log.last, { epoch: this.epoch, counter, count })];
    const cut = Math.floor(this.random() * count);
    const pieces = [added.slice(0, cut), added.slice(cut)].filter(({ length }) => length > 0);
    this.next = [...this.proposals, ...added];
    await log.append(pieces.map((piece) => ProposalBatch.of(piece)));
    this.proposals = this.next;
  }

  async truncate(log: TxnLog): Promise<void> {
    const kept = this.proposals.filter(
      ({ zxid }) => zxid <= this.rest.checkpoint || this.random() < 0.7,
    );
    const length = this.proposals.findIndex((proposal, at) => kept[at] !== proposal);
    this.next = length < 0 ? this.proposals : this.proposals.slice(0, length);
    await log.truncate(this.next.at(-1)?.zxid ?? 0);
    this.proposals = this.next;
    this.epoch += 1;
  }

  /** A checkpoint of some of it, and what is in front of that goes. */
  purge(log: TxnLog): void {
    const at = Math.floor(this.random() * this.proposals.length);
    this.rest.checkpoint = Math.max(this.rest.checkpoint, this.proposals[at]?.zxid ?? 0);
    log.purge(this.rest.checkpoint, 300);
  }

  async step(log: TxnLog): Promise<void> {
    const choice = this.random();
    if (choice < 0.6) await this.append(log);
    else if (choice < 0.75) await this.truncate(log);
    else if (choice < 0.9) this.purge(log);
    else await this.read(log);
  }

  /** As a learner would. */
  async read(log: TxnLog): Promise<void> {
    await log.idle();
    const held = zxidsOf(this.proposals).filter((zxid) => zxid > log.base);
    expect(await readAll(log)).toEqual(held);
  }

  #counterAfter(last: Zxid): number {
    return last >= makeZxid(this.epoch, 0) ? last - makeZxid(this.epoch, 0) + 1 : 1;
  }
}

async function readAll(log: TxnLog): Promise<readonly Zxid[]> {
  const zxids: Zxid[] = [];
  for await (const chunk of log.read(log.base, log.last)) zxids.push(...zxidsOf(chunk));
  return zxids;
}

function zxidsOf(proposals: Iterable<Proposal>): readonly Zxid[] {
  return Array.from(proposals, ({ zxid }) => zxid);
}

function rangesOf(proposals: readonly Proposal[]): GrowingRanges {
  const ranges: GrowingRanges = [];
  for (const { zxid } of proposals) extendRanges(ranges, zxid, zxid);
  return ranges;
}

async function checkRecovered(life: Life, title: string): Promise<TxnLog> {
  const at = { generation: GENERATION, ...life.rest };
  const found = await recoverLog(life.setup(), at);
  expect(found.unreadable, title).toBe(undefined);
  const { log } = found;
  log.goLive(life.recordBegun);
  const whole = await readAll(log);
  const [longer, shorter] =
    life.proposals.length > life.next.length
      ? [life.proposals, life.next]
      : [life.next, life.proposals];
  const kept = zxidsOf(longer).filter((zxid) => zxid > log.base && zxid <= log.last);
  expect(whole, title).toEqual(kept);
  expect(log.last, title).toBeGreaterThanOrEqual(shorter.at(-1)?.zxid ?? 0);
  expect(log.base, title).toBeLessThanOrEqual(life.rest.checkpoint);
  expect(zxidsOf(proposalsIn(found.suffix)), title).toEqual(
    whole.filter((zxid) => zxid > life.rest.checkpoint),
  );
  const ranges = rangesOf(longer.filter(({ zxid }) => zxid > log.base && zxid <= log.last));
  expect(found.history, title).toEqual({ base: log.base, ranges });
  life.proposals = longer.filter(({ zxid }) => zxid <= log.last);
  life.next = life.proposals;
  return log;
}

describe('a log that dies at any change, again and again', () => {
  it.each(Array.from({ length: 60 }, (_, at) => at + 1))(
    'has lost nothing, seed %d',
    async (seed) => {
      const life = new Life(seed);
      let log = await TxnLog.create(life.setup(), { generation: GENERATION, base: 0 });
      log.goLive(life.recordBegun);
      let deaths = 0;
      for (let number = 0; number < 25; number++) {
        const title = `seed ${seed}, life ${number}`;
        const whens = ['before', 'after', 'torn'] as const;
        const when = whens[Math.floor(life.random() * 3)] ?? 'torn';
        const dies = 1 + Math.floor(life.random() * 12);
        life.directory.failAt(life.directory.changeCount + dies, when, life.random);
        try {
          for (let step = 0; step < 12; step++) await life.step(log);
          await log.idle();
        } catch (error) {
          if (!(error instanceof StorageFault)) throw error;
          deaths += 1;
        }
        life.directory = life.directory.crash(life.random);
        log = await checkRecovered(life, title);
        life.epoch += 1;
      }
      expect(deaths, 'most lives end within an operation').toBeGreaterThan(5);
    },
  );
});

describe('a log that has lost the segment that was begun last', () => {
  it('is damaged, whether or not anything was appended to it', async () => {
    for (const appends of [1, 2, 5, 20]) {
      const life = new Life(appends);
      const at = { generation: GENERATION, base: 0 };
      const log = await TxnLog.create(life.setup(), at);
      log.goLive(life.recordBegun);
      for (let count = 0; count < appends; count++) await life.append(log);
      await log.idle();
      const directory = life.directory.crash(life.random);
      await directory.remove(`${GENERATION}-${life.rest.logSeq}.log`);
      const found = { generation: GENERATION, ...life.rest };
      const recovering = recoverLog(life.setup(directory), found);
      await expect(recovering, `${appends} appends`).rejects.toThrow(/missing/);
    }
  });
});
