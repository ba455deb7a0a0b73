/**
 * Bounds of the bulk transfers: what may wait in memory behind a snapshot that comes in, and how
 * long a transfer may stand still before its link is dropped.
 *
 * Method: both ends alone, with a disk that never finishes and a peer that takes nothing.
 */
import { type CoreMessage, ProposalBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { ReplicatedState } from '../state/replicated-state.js';
import type { Storage } from '../storage/storage.js';
import type { DamageRepair } from './damage-repair.js';
import type { DriverActions, DriverParts } from './parts.js';
import { SnapshotReceiver, Transfers } from './transfers.js';

const LEADER = 3;
const LEARNER = 2;
const LINK = 1;
const WAITING_BYTES_MAX = 100_000;
const PATIENCE_MS = 20_000;

function propose(counter: number, bytes: number): CoreMessage {
  const proposal = { zxid: counter, previous: counter - 1, body: new Uint8Array(bytes) };
  return { kind: 'propose', batch: ProposalBatch.of([proposal]) };
}

function bytesOf(message: CoreMessage): number {
  return message.kind === 'propose' ? message.batch.bytes.length : 0;
}

interface Told {
  send(message: { readonly index: number }): void;
  step(input: { readonly message: CoreMessage }): void;
  drop(reason: string): void;
  onVerified(): void;
}

/** A learner that expects a snapshot of the leader, with this disk. */
function receiverOn(storage: Storage, { send, step, drop, onVerified }: Told): SnapshotReceiver {
  const parts = {
    storage,
    options: { snapshotWaitingBytesMax: WAITING_BYTES_MAX },
    zab: { snapshotFrom: LEADER },
    peerPort: { disconnect: (_peer: number, _link: number, reason: string) => drop(reason) },
    newState: () => new ReplicatedState(),
  } as unknown as DriverParts;
  const driver = {
    send: (_peer: number, _link: number, message: { readonly index: number }) => send(message),
    step,
    fail: (error: unknown) => {
      throw error;
    },
  } as unknown as DriverActions;
  return new SnapshotReceiver(parts, driver, { onVerified });
}

describe('what waits behind an incoming snapshot', () => {
  it('may have so many bytes while the disk hangs; one proposal more drops the link', () => {
    const refused: string[] = [];
    const delivered: CoreMessage[] = [];
    const never = new Promise<never>(() => undefined);
    const storage = { beginSnapshot: () => never } as unknown as Storage;
    const receiver = receiverOn(storage, {
      send: () => undefined,
      step: ({ message }) => delivered.push(message),
      drop: (reason) => refused.push(reason),
      onVerified: () => undefined,
    });
    void receiver.onChunk(LEADER, LINK, { kind: 'snapshotChunk', index: 0, records: [] });
    expect(receiver.holds(LEADER, LINK, { kind: 'snapshotDone', zxid: 1 })).toBe(true);
    const each = propose(2, 1_000);
    const fit = Math.floor(WAITING_BYTES_MAX / bytesOf(each));
    expect(fit).toBeGreaterThan(50);
    for (let count = 0; count < fit; count++)
      receiver.holds(LEADER, LINK, propose(2 + count, 1_000));
    expect(refused).toEqual([]);
    receiver.holds(LEADER, LINK, propose(2 + fit, 1_000));
    expect(refused).toEqual(['the disk here cannot keep up with the snapshot']);
    expect(delivered).toEqual([]);
  });
});

describe('a snapshot that comes in', () => {
  it('is acknowledged a chunk late, and its last chunk once all of it is verified', async () => {
    const told: (number | string)[] = [];
    let verify = (): void => undefined;
    const sink = {
      write: async () => undefined,
      verify: () => new Promise<void>((resolve) => (verify = resolve)),
      abandon: async () => undefined,
    };
    const storage = { beginSnapshot: async () => sink } as unknown as Storage;
    const receiver = receiverOn(storage, {
      send: ({ index }) => told.push(index),
      step: ({ message }) => told.push(message.kind),
      drop: (reason) => told.push(reason),
      onVerified: () => told.push('verified'),
    });
    for (const index of [0, 1, 2]) {
      await receiver.onChunk(LEADER, LINK, { kind: 'snapshotChunk', index, records: [] });
    }
    receiver.holds(LEADER, LINK, { kind: 'snapshotDone', zxid: 1 });
    await turnsOfPromises();
    expect(told).toEqual([0, 1]);
    verify();
    await turnsOfPromises();
    expect(told).toEqual([0, 1, 'verified', 2, 'snapshotDone']);
  });
});

/** Lets everything run that waits for nothing but promises. */
async function turnsOfPromises(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** A sender whose learner takes nothing; `queuedBytes` waits on the link. */
function sending(queuedBytes: number, chunks = 100) {
  const timers = new ManualTimers();
  const dropped: string[] = [];
  const sent: number[] = [];
  const told: string[] = [];
  let isClosed = false;
  const storage = {
    openSnapshot: async () => ({
      zxid: 9,
      async *records() {
        for (let chunk = 0; chunk < chunks; chunk++) yield [];
      },
      close: async () => {
        isClosed = true;
      },
    }),
    async *readHistory() {
      yield [{ zxid: 1, previous: 0, body: new Uint8Array(1) }];
    },
  } as unknown as Storage;
  const peerPort = {
    isUp: () => dropped.length === 0,
    queuedBytes: () => queuedBytes,
    disconnect: (_peer: number, _link: number, reason: string) => dropped.push(reason),
  };
  const options = { transferTimeoutMs: PATIENCE_MS };
  const parts = { storage, timers, options, peerPort } as unknown as DriverParts;
  const driver = {
    send: () => sent.push(timers.nowMs()),
    step: ({ kind }: { readonly kind: string }) => told.push(kind),
  } as unknown as DriverActions;
  const repair = { damage: null } as unknown as DamageRepair;
  const transfers = new Transfers(parts, driver, repair);
  return { timers, dropped, sent, told, transfers, isClosed: () => isClosed };
}

describe('a transfer that stands still', () => {
  it('as a snapshot has a few chunks on its way, and is given up after its time', async () => {
    const { timers, dropped, sent, transfers, isClosed } = sending(0);
    void transfers.sendSnapshot(LEARNER, LINK);
    await timers.advance(PATIENCE_MS - 1);
    expect([sent.length, dropped, isClosed()]).toEqual([4, [], false]);
    await timers.advance(1);
    expect(dropped).toEqual(['it takes no more of the snapshot']);
    // What pins the log and the tree on disk is given back.
    expect([sent.length, isClosed()]).toEqual([4, true]);
  });

  it('begins its time anew with each chunk that the learner has written', async () => {
    const { timers, dropped, sent, transfers } = sending(0);
    void transfers.sendSnapshot(LEARNER, LINK);
    for (let index = 0; index < 5; index++) {
      await timers.advance(PATIENCE_MS - 1);
      transfers.onSnapshotAck(LEARNER, LINK, index);
    }
    await timers.advance(0);
    expect([sent.length, dropped]).toEqual([9, []]);
  });

  it('goes on with the log once its last chunk is acknowledged, and pins it until then', async () => {
    const { timers, told, dropped, transfers, isClosed } = sending(0, 3);
    void transfers.sendSnapshot(LEARNER, LINK);
    await timers.advance(0);
    transfers.onSnapshotAck(LEARNER, LINK, 1);
    await timers.advance(PATIENCE_MS - 1);
    expect([told, isClosed()]).toEqual([['snapshotSent'], false]);
    transfers.onSnapshotAck(LEARNER, LINK, 2);
    await timers.advance(0);
    expect([told, dropped, isClosed()]).toEqual([['snapshotSent', 'historySent'], [], true]);
  });

  it('as a snapshot that is never verified is given up after its time', async () => {
    const { timers, told, dropped, transfers, isClosed } = sending(0, 3);
    void transfers.sendSnapshot(LEARNER, LINK);
    await timers.advance(0);
    transfers.onSnapshotAck(LEARNER, LINK, 1);
    await timers.advance(PATIENCE_MS);
    expect([told, dropped, isClosed()]).toEqual([
      ['snapshotSent'],
      [`it has not verified the snapshot in ${PATIENCE_MS} ms`],
      true,
    ]);
  });

  it('as a part of the log is given up after its time', async () => {
    const { timers, dropped, sent, transfers } = sending(64 << 20);
    void transfers.sendHistory(LEARNER, LINK, 0, 1);
    await timers.advance(PATIENCE_MS);
    expect([sent, dropped]).toEqual([[], []]);
    await timers.advance(100);
    expect([sent, dropped]).toEqual([[], ['it takes no more of the log']]);
  });
});
