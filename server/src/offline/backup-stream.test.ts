/** A backup's stream: read as it was, in chunks of any size; cut anywhere or changed, refused. */
import { randomBytes } from 'node:crypto';
import { JuteWriter, makeZxid, ProposalBatch } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { MemoryStore } from '../simulated/storage/memory-store.js';
import { IGNORE_CHANGES, ReplicatedState } from '../state/replicated-state.js';
import type { Txn, TxnOp } from '../state/txn.js';
import { writeTxn } from '../state/txn-codec.js';
import { type Applied, openBackup } from '../storage/backup-source.js';
import { Checkpointer, Storage } from '../storage/index.js';
import { encodedBackup, readBackup } from './backup-stream.js';

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const CHECKPOINTED = 20;
const WRITES = 30;

function bodyOf(txn: Txn): Uint8Array {
  const writer = new JuteWriter();
  writeTxn(writer, txn);
  return writer.take();
}

/** A member's storage with a checkpoint, and a log behind it. */
async function storageWithWrites() {
  const state = new ReplicatedState();
  const { storage } = await Storage.open({
    treeStore: new MemoryStore(),
    logFiles: new MemoryLogDirectory(),
    memberId: 1,
    randomBytes,
    loader: state,
  });
  await storage.saveEpochs({ accepted: 1, current: 1, ensembleId: 'e', founded: true });
  const checkpointer = new Checkpointer(storage, state, {
    onPurged: () => undefined,
    onCheckpoint: () => undefined,
    onDamage: () => undefined,
    onDiskFull: () => undefined,
    onFatal: (error) => {
      throw error;
    },
  });
  for (let count = 1; count <= WRITES; count++) {
    const zxid = makeZxid(1, count);
    const data = Buffer.alloc(50, count);
    const create = { kind: 'create', path: `/n${count}`, data, acl: OPEN } as const;
    const op: TxnOp = { ...create, mode: 'persistent', ttlMs: 0, opcode: 1 };
    const txn = { origin: 1, request: count, session: 0, time: count, op };
    const body = bodyOf(txn);
    await storage.append([ProposalBatch.of([{ zxid, previous: storage.last, body }])]);
    state.apply(zxid, txn, IGNORE_CHANGES);
    if (count === CHECKPOINTED) await checkpointer.finish(0, () => true);
  }
  expect(storage.checkpointZxid).toBe(makeZxid(1, CHECKPOINTED));
  return { storage, state };
}

async function streamOf(storage: Storage, applied: Applied): Promise<Buffer> {
  const source = await openBackup(storage, applied, { damage: null, onDamage: () => undefined });
  const parts: Uint8Array[] = [];
  for await (const part of encodedBackup(source)) parts.push(part);
  await source.close();
  return Buffer.concat(parts);
}

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function appliedOf(state: ReplicatedState): Applied {
  return { zxid: state.lastZxid, digest: state.digest() };
}

it('is the state that the member has applied, whatever the chunks', async () => {
  const { storage, state } = await storageWithWrites();
  const stream = await streamOf(storage, appliedOf(state));
  for (const size of [1, 7, 1000, stream.length]) {
    const read = await readBackup(inChunks(stream, size));
    expect(read.digest()).toBe(state.digest());
    expect(read.lastZxid).toBe(state.lastZxid);
  }
});

it('ends at what was applied, not at what is only logged', async () => {
  const { storage } = await storageWithWrites();
  const zxid = makeZxid(1, CHECKPOINTED + 3);
  const applied = { zxid, digest: '' };
  const read = await readBackup(inChunks(await streamOf(storage, applied), 100));
  expect(read.lastZxid).toBe(zxid);
  expect(read.tree.descendantCount(read.tree.find('/'))).toBe(CHECKPOINTED + 3 + 3);
});

it('is refused when it is cut anywhere, and when a byte of the state is changed', async () => {
  const { storage, state } = await storageWithWrites();
  const stream = await streamOf(storage, appliedOf(state));
  for (let length = 0; length < stream.length; length += 13) {
    const cut = inChunks(stream.subarray(0, length), 4096);
    await expect(readBackup(cut), `${length} bytes`).rejects.toThrow();
  }
  let refused = 0;
  for (let at = 0; at < stream.length; at += 5) {
    const changed = Buffer.from(stream);
    changed[at] = (changed[at] ?? 0) ^ 1;
    // A transaction also names its request, which is no part of the state.
    const read = await readBackup(inChunks(changed, 4096)).catch(() => null);
    if (read === null) refused += 1;
    else expect(read.digest(), `byte ${at}`).toBe(state.digest());
  }
  expect(refused).toBeGreaterThan(stream.length / 8);
});
