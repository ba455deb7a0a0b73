/**
 * The blocks of a checkpoint on disk, under the real state: from one life of a process to the next,
 * how much room they take, and that nothing of them is lost or changed unnoticed.
 */
import { randomBytes } from 'node:crypto';
import { makeZxid, ProposalBatch, type Zxid } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { proposalsIn } from '../simulated/storage/toy-state.js';
import { IGNORE_CHANGES, ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';
import type { TxnOp } from '../state/txn.js';
import { changeWithChecksum } from './checkpoint.js';
import { Checkpointer } from './checkpointer.js';
import { Storage } from './storage.js';

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const TREE = 'tree-0';

/** A member's disk and state, and another state that never stops. */
class Life {
  treeStore = new MemoryStore();
  logFiles = new MemoryLogDirectory();
  readonly unstopped = new ReplicatedState();
  state = new ReplicatedState();
  readonly #blockBytes: number;
  readonly #ops = new Map<Zxid, TxnOp>();
  #storage: Storage | null = null;

  constructor(blockBytes: number) {
    this.#blockBytes = blockBytes;
  }

  /** Returns what the disk is damaged by. */
  async open(): Promise<string | null> {
    this.state = new ReplicatedState();
    const opened = await Storage.open({ ...this, memberId: 1, loader: this.state, randomBytes });
    this.#storage = opened.storage;
    for (const { zxid } of proposalsIn(opened.recovered.suffix)) this.#applyTo(this.state, zxid);
    return opened.recovered.damaged;
  }

  async crash(): Promise<string | null> {
    const random = seededRandom(this.#ops.size);
    this.treeStore = this.treeStore.crash(random);
    this.logFiles = this.logFiles.crash(random);
    return await this.open();
  }

  async write(op: TxnOp): Promise<void> {
    const zxid = makeZxid(1, this.#ops.size + 1);
    this.#ops.set(zxid, op);
    const proposal = { zxid, previous: this.storage.last, body: Uint8Array.of(1) };
    await this.storage.append([ProposalBatch.of([proposal])]);
    this.#applyTo(this.state, zxid);
    this.#applyTo(this.unstopped, zxid);
  }

  async set(path: string, size: number): Promise<void> {
    const { tree } = this.state;
    const node = tree.find(path);
    const data = new Uint8Array(size).fill(this.#ops.size & 255);
    const create = { kind: 'create', path, data, acl: OPEN, mode: 'persistent', ttlMs: 0 } as const;
    if (node === NO_NODE) await this.write({ ...create, opcode: 1 });
    else await this.write({ kind: 'setData', path, data, version: tree.version(node) + 1 });
  }

  async remove(path: string): Promise<void> {
    if (this.state.tree.find(path) !== NO_NODE) await this.write({ kind: 'delete', path });
  }

  /** `meanwhile` happens between its slices. */
  async checkpoint(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const { state, storage } = this;
    if (state.lastZxid === storage.checkpointZxid) return;
    storage.beginCheckpoint(state.lastZxid);
    const frozen = state.freeze(this.#blockBytes);
    const changes = [];
    while (!state.captureDone) {
      changes.push(...state.captureSome(3, 1000).map(changeWithChecksum));
      await meanwhile();
    }
    await storage.writeCheckpoint(changes, frozen);
  }

  /** By key, of the last durable checkpoint. */
  entries(): ReadonlyMap<string, Uint8Array> {
    let all = new Map<string, Uint8Array>();
    this.treeStore.tamper(TREE, (entries) => {
      all = new Map(entries);
    });
    return all;
  }
  blockBytes(): number {
    const blocks = [...this.entries()].filter(([key]) => key.startsWith('p'));
    return blocks.reduce((sum, [, { length }]) => sum + length, 0);
  }

  get storage(): Storage {
    if (this.#storage === null) throw new Error('opened first');
    return this.#storage;
  }

  #applyTo(state: ReplicatedState, zxid: Zxid): void {
    const op = this.#ops.get(zxid);
    if (op === undefined) throw new Error(`${zxid} was written`);
    const txn = { origin: 1, request: 1, session: 0, time: zxid % 2 ** 32, op };
    state.apply(zxid, txn, IGNORE_CHANGES);
  }
}

async function begun(blockBytes: number): Promise<Life> {
  const life = new Life(blockBytes);
  await life.open();
  await life.storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  return life;
}

type Change =
  | { readonly kind: 'set'; readonly path: string; readonly size: number }
  | { readonly kind: 'remove'; readonly path: string };

const path = fc.nat(11).map((n) => (n < 6 ? `/n${n}` : `/n0ä${n % 3}`));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('set' as const),
    path,
    size: fc.constantFrom(0, 90, 300, 2000, 5000),
  }),
  fc.record({ kind: fc.constant('remove' as const), path }),
);
const step = fc.oneof(
  { weight: 8, arbitrary: change },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('checkpoint' as const), meanwhile: change }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' } as const) },
);

async function makeChange(life: Life, what: Change): Promise<void> {
  if (what.kind === 'set') await life.set(what.path, what.size);
  else await life.remove(what.path);
}

describe('a checkpoint in blocks', () => {
  it('gives the state back after any changes, checkpoints and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60, size: 'max' }),
        fc.constantFrom(1, 500, 1500, 1 << 17),
        async (steps, blockBytes) => {
          const life = await begun(blockBytes);
          for (const next of steps) {
            if (next.kind === 'crash') expect(await life.crash()).toBe(null);
            else if (next.kind !== 'checkpoint') await makeChange(life, next);
            else await life.checkpoint(() => makeChange(life, next.meanwhile));
          }
          await life.checkpoint();
          expect(await life.crash()).toBe(null);
          expect(life.state.digest()).toBe(life.unstopped.digest());
          expect(life.state.tree.nodeCount).toBe(life.unstopped.tree.nodeCount);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('takes not much more than twice the room of what lives, and gives it back', async () => {
    const life = await begun(4000);
    const random = seededRandom(5);
    for (let i = 0; i < 500; i++) await life.set(`/n${i}`, 100);
    await life.checkpoint();
    const fresh = life.blockBytes();
    for (let round = 0; round < 60; round++) {
      for (let i = 0; i < 20; i++) await life.set(`/n${Math.floor(500 * random())}`, 100);
      await life.checkpoint();
      expect(life.blockBytes()).toBeLessThan(2.2 * fresh);
      if (round % 20 === 19) expect(await life.crash()).toBe(null);
    }
    for (let i = 0; i < 500; i++) await life.remove(`/n${i}`);
    await life.checkpoint();
    await life.set('/last', 1);
    await life.checkpoint();
    expect(life.blockBytes()).toBeLessThan(4000);
    expect(await life.crash()).toBe(null);
    expect(life.state.digest()).toBe(life.unstopped.digest());
  });

  it('writes little when little has changed', async () => {
    const life = await begun(4000);
    for (let i = 0; i < 500; i++) await life.set(`/n${i}`, 100);
    await life.checkpoint();
    const before = life.entries();
    await life.set('/n250', 100);
    await life.checkpoint();
    const written = [...life.entries()].filter(([key, value]) => {
      return key.startsWith('p') && !Buffer.from(before.get(key) ?? []).equals(value);
    });
    expect(written.length).toBeLessThan(3);
  });

  it('rewrites little of middling znodes at a time, when little has changed', async () => {
    const life = await begun(1 << 17);
    for (let i = 0; i < 4000; i++) await life.set(`/n${i}`, 3000);
    await life.checkpoint();
    for (let i = 0; i < 4000; i++) if (i % 8 < 5) await life.set(`/n${i}`, 3000);
    await life.checkpoint();
    const fresh = 4000 * 3000;
    for (let round = 0; round < 20; round++) {
      const before = life.entries();
      await life.set('/n0', 3000);
      await life.checkpoint();
      expect(writtenSince(life, before)).toBeLessThan(1.4 * (1 << 20));
    }
    expect(life.blockBytes()).toBeLessThan(1.4 * fresh);
  });

  it('writes nothing of its neighbours when a large znode has changed', async () => {
    const life = await begun(1 << 17);
    for (let i = 0; i < 100; i++) await life.set(`/n${i}`, 8000);
    await life.checkpoint();
    for (let i = 0; i < 100; i++) {
      const before = life.entries();
      await life.set(`/n${i}`, 8000);
      await life.checkpoint();
      expect(writtenSince(life, before)).toBeLessThan(2 * 8000);
    }
    expect(life.blockBytes()).toBeLessThan(1.1 * 100 * 8000);
    expect(await life.crash()).toBe(null);
    expect(life.state.digest()).toBe(life.unstopped.digest());
  });

  it('is taken at a clean stop, of large znodes too', async () => {
    const life = await begun(1 << 17);
    for (let i = 0; i < 400; i++) await life.set(`/n${i}`, 16_000);
    const hooks = {
      onPurged: () => {},
      onCheckpoint: () => {},
      onDamage: () => undefined,
      onDiskFull: () => undefined,
      onFatal: (error: unknown) => {
        throw error;
      },
    };
    await new Checkpointer(life.storage, life.state, hooks).finish(0, () => true);
    expect(life.storage.checkpointZxid).toBe(life.state.lastZxid);
  });

  it('is damaged when any entry of it is lost or has another byte', async () => {
    const life = await begun(1000);
    for (let i = 0; i < 30; i++) await life.set(`/n${i}`, 50);
    await life.checkpoint();
    for (let i = 0; i < 30; i += 7) await life.set(`/n${i}`, 60);
    await life.checkpoint();
    const sound = life.entries();
    const kinds = new Set<string>();
    for (const [key, value] of sound) {
      kinds.add(key.slice(0, 1));
      for (const spoilt of [null, flipped(value, 0), flipped(value, value.length - 1)]) {
        const other = Object.assign(await begun(1000), {
          treeStore: life.treeStore.crash(() => 0),
          logFiles: life.logFiles.crash(() => 0),
        });
        other.treeStore.tamper(TREE, (entries) => {
          if (spoilt === null) entries.delete(key);
          else entries.set(key, spoilt);
        });
        const opened = await Storage.open({
          ...other,
          memberId: 1,
          loader: new ReplicatedState(),
          randomBytes,
        });
        expect(opened.recovered.damaged, JSON.stringify(key)).not.toBe(null);
      }
    }
    expect([...kinds].sort()).toEqual(['c', 'd', 'p']);
  });
});

/** The bytes of the entries that are new. */
function writtenSince(life: Life, before: ReadonlyMap<string, Uint8Array>): number {
  let bytes = 0;
  for (const [key, value] of life.entries()) if (before.get(key) !== value) bytes += value.length;
  return bytes;
}

function flipped(value: Uint8Array, at: number): Uint8Array {
  const other = Uint8Array.from(value);
  other[at] = (other[at] ?? 0) ^ 4;
  return other;
}
