/** Storage and the real state together: what is checkpointed is what comes back. */
import { randomBytes } from 'node:crypto';
import { makeZxid, ProposalBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../simulated/seeded-random.js';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { ReplicatedState } from '../state/replicated-state.js';
import type { TxnOp } from '../state/txn.js';
import { Checkpointer } from './checkpointer.js';
import { Storage } from './storage.js';

const SILENT = { created() {}, deleted() {}, dataChanged() {} };

class Stores {
  treeStore = new MemoryStore();
  logFiles = new MemoryLogDirectory();
  crash(): void {
    const random = seededRandom(1);
    this.treeStore = this.treeStore.crash(random);
    this.logFiles = this.logFiles.crash(random);
  }
  async open() {
    const loader = new ReplicatedState();
    const opened = await Storage.open({ ...this, memberId: 1, loader, randomBytes });
    return { ...opened, state: loader };
  }
}

function opAt(counter: number): TxnOp {
  const data = Uint8Array.of(counter & 255);
  const path = `/n${counter % 50}`;
  const round = Math.floor(counter / 50) % 3;
  if (round === 1) return { kind: 'setData', path, data, version: 1 };
  if (round === 2) return { kind: 'delete', path };
  const acl = [{ perms: 31, scheme: 'world', id: 'anyone' }];
  return { kind: 'create', path, data, acl, mode: 'persistent', ttlMs: 0, opcode: 1 };
}

describe('storage under the real state', () => {
  it('gives the state of the last checkpoint back, digest and all', async () => {
    const stores = new Stores();
    const { storage, state } = await stores.open();
    await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
    const errors: unknown[] = [];
    const onFatal = (error: unknown) => errors.push(error);
    const ignored = { onDamage: () => undefined, onDiskFull: () => undefined };
    const hooks = { onPurged() {}, onCheckpoint() {}, ...ignored, onFatal };
    const options = { dirtyCountMax: 20, sliceCount: 3 };
    const checkpointer = new Checkpointer(storage, state, hooks, options);
    const digests = new Map([[0, state.digest()]]);
    for (let counter = 1; counter <= 430; counter++) {
      const zxid = makeZxid(1, counter);
      const proposal = { zxid, previous: storage.last, body: Uint8Array.of(1) };
      await storage.append([ProposalBatch.of([proposal])]);
      const op = opAt(counter - 1);
      state.apply(zxid, { origin: 1, request: 1, session: 0, time: counter, op }, SILENT);
      digests.set(zxid, state.digest());
      checkpointer.step(0, 0, () => true);
      if (counter % 7 === 0) await checkpointer.idle();
    }
    expect(errors).toEqual([]);
    stores.crash();
    const again = await stores.open();
    expect(again.recovered.damaged).toBe(null);
    expect(again.recovered.checkpointZxid).toBeGreaterThan(makeZxid(1, 350));
    expect(again.state.lastZxid).toBe(again.recovered.checkpointZxid);
    expect(again.state.digest()).toBe(digests.get(again.recovered.checkpointZxid));
    const source = await again.storage.openSnapshot();
    const learner = await new Stores().open();
    const sink = await learner.storage.beginSnapshot();
    for await (const records of source.records()) await sink.write(records);
    await learner.storage.installSnapshot(source.zxid);
    const loaded = new ReplicatedState();
    await learner.storage.loadTree(loaded);
    expect(loaded.digest()).toBe(again.state.digest());
  });

  it('takes a lost checkpoint batch for damage', async () => {
    const stores = new Stores();
    const { storage, state } = await stores.open();
    await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
    const hooks = {
      onPurged() {},
      onCheckpoint() {},
      onDamage: () => undefined,
      onDiskFull: () => undefined,
      onFatal: (error: unknown) => {
        throw error;
      },
    };
    const checkpointer = new Checkpointer(storage, state, hooks, { dirtyCountMax: 1 });
    for (let counter = 1; counter <= 5; counter++) {
      const zxid = makeZxid(1, counter);
      const proposal = { zxid, previous: storage.last, body: Uint8Array.of(1) };
      await storage.append([ProposalBatch.of([proposal])]);
      const op = opAt(counter - 1);
      state.apply(zxid, { origin: 1, request: 1, session: 0, time: counter, op }, SILENT);
      checkpointer.step(0, 0, () => true);
      await checkpointer.idle();
    }
    stores.crash();
    stores.treeStore.tamper('tree-0', (entries) =>
      entries.delete([...entries.keys()].find((key) => key.startsWith('p')) ?? ''),
    );
    expect((await stores.open()).recovered.damaged).not.toBe(null);
  });
});
