/** A script of operations on a storage, and what a start may find after it has died on its way. */
import type { Proposal, Zxid } from '@rookery/protocol';
import { changeWithChecksum } from '../../storage/checkpoint.js';
import { StorageFault } from '../../storage/errors.js';
import type { Storage } from '../../storage/storage.js';
import { seededRandom } from '../seeded-random.js';
import { MemoryLogDirectory } from './memory-log.js';
import { MemoryStore } from './memory-store.js';
import { type Opened, openToy, proposalsAfter, ToyState } from './toy-state.js';

export interface Expected {
  /** The proposals that the log has acknowledged. */
  proposals: readonly Proposal[];
  /** What the log becomes if the operation under way reached the disk. */
  next: readonly Proposal[];
  accepted: number;
  nextAccepted: number;
  /** How much of the log is committed: applied, and never truncated. */
  committed: number;
}

/** The disk of one member. */
export class Disk {
  treeStore = new MemoryStore();
  logFiles = new MemoryLogDirectory();

  crash(random: () => number): Disk {
    const next = new Disk();
    next.treeStore = this.treeStore.crash(random);
    next.logFiles = this.logFiles.crash(random);
    return next;
  }
}

const OPERATION_COUNT = 30;

async function acceptNextEpoch(storage: Storage, expected: Expected): Promise<void> {
  const accepted = expected.accepted + 1;
  expected.nextAccepted = accepted;
  await storage.saveEpochs({ accepted, current: 0, ensembleId: '', founded: false });
  expected.accepted = accepted;
}

/** Runs until it ends or the disk fails; `expected` always tells what is legal. */
async function runScript(opened: Opened, random: () => number, expected: Expected): Promise<void> {
  const { storage, state } = opened;
  let counter = 0;
  for (let i = 0; i < OPERATION_COUNT; i++) {
    const choice = random();
    const length = expected.proposals.length;
    if (choice < 0.1) {
      counter = 0;
      await acceptNextEpoch(storage, expected);
    } else if (choice < 0.2 && length > expected.committed) {
      const kept = expected.committed + Math.floor(random() * (length - expected.committed));
      expected.next = expected.proposals.slice(0, kept);
      await storage.truncate(expected.next.at(-1)?.zxid ?? 0);
      // A truncated zxid is never used again: a new leader has a new epoch.
      expected.proposals = expected.next;
      counter = 0;
      await acceptNextEpoch(storage, expected);
    } else if (choice < 0.35 && state.lastZxid > storage.checkpointZxid) {
      storage.beginCheckpoint(state.lastZxid);
      const frozen = state.freeze();
      await storage.writeCheckpoint(
        state.captureSome(1000, 1 << 20).map(changeWithChecksum),
        frozen,
      );
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
      await storage.append([proposals]);
      expected.proposals = expected.next;
      if (choice > 0.8) void storage.markLogEnd().catch(expectFault);
      const committed =
        expected.committed + Math.floor(random() * (expected.next.length - expected.committed + 1));
      for (const proposal of expected.next.slice(expected.committed, committed))
        state.apply(proposal);
      expected.committed = committed;
    }
  }
  await storage.idle();
}

/** The next change fails with it, too. */
function expectFault(error: unknown): void {
  if (!(error instanceof StorageFault)) throw error;
}

export function zxidsOf(proposals: Iterable<Proposal>): readonly Zxid[] {
  return Array.from(proposals, ({ zxid }) => zxid);
}

/** What a state must be that applied the log up to `zxid`. */
export function stateAt(proposals: readonly Proposal[], zxid: Zxid): string {
  const state = new ToyState();
  for (const proposal of proposals) if (proposal.zxid <= zxid) state.apply(proposal);
  return state.digest();
}

export type When = 'before' | 'after' | 'torn';

/** LevelDB's batches are never torn. */
export function failAt(
  disk: Disk,
  { which, at, when }: { readonly which: 'tree' | 'log'; readonly at: number; readonly when: When },
): void {
  if (which === 'log') disk.logFiles.failAt(at, when, seededRandom(at));
  else disk.treeStore.failAt(at, when === 'torn' ? 'before' : when);
}

/** A script of operations until it is through, or the disk fails at that change of it. */
export async function lifeUntil(
  seed: number,
  limit: { readonly tree?: number; readonly log?: number } = {},
  when: When = 'before',
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
  const base = { tree: disk.treeStore.changeCount, log: disk.logFiles.changeCount };
  if (limit.tree !== undefined) failAt(disk, { which: 'tree', at: base.tree + limit.tree, when });
  if (limit.log !== undefined) failAt(disk, { which: 'log', at: base.log + limit.log, when });
  let failed = false;
  try {
    await runScript(opened, seededRandom(seed), expected);
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
    failed = true;
  }
  return { disk, expected, opened, failed };
}
