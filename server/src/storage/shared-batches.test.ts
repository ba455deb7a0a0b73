/** Goal: a batch is in the log as it was, and in its frame, whichever of the two comes first. */
import { BatchWriter, type ProposalBatch } from '@rookery/protocol';
import { decodePeerMessage, encodePeerFrame } from '@rookery/protocol/peer';
import { expect, it } from 'vitest';
import { MemoryLogDirectory } from '../simulated/storage/memory-log.js';
import { proposalsIn } from '../simulated/storage/toy-state.js';
import { DEFAULT_STORAGE_OPTIONS } from './contract.js';
import { TxnLog } from './txn-log.js';

const OPTIONS = { ...DEFAULT_STORAGE_OPTIONS, recordBytesMax: 1 << 10 };
const LENGTH_BYTES = 4;

function batchOf(...bodies: readonly string[]): ProposalBatch {
  const batch = new BatchWriter();
  for (const [index, body] of bodies.entries()) {
    const writer = batch.begin(index + 1, index);
    writer.raw(Buffer.from(body));
    writer.endFrame();
  }
  return batch.take();
}

function received(frame: Uint8Array): ProposalBatch {
  const message = decodePeerMessage(new Uint8Array(frame.subarray(LENGTH_BYTES)));
  if (message.kind !== 'propose') throw new Error(`a ${message.kind}`);
  return message.batch;
}

async function logged(batch: ProposalBatch): Promise<readonly string[]> {
  const at = { generation: 1, base: 0 };
  const randomBytes = (count: number) => new Uint8Array(count);
  const setup = { logFiles: new MemoryLogDirectory(), randomBytes, options: OPTIONS };
  const log = await TxnLog.create(setup, at);
  await log.append([batch]);
  const read: ProposalBatch[] = [];
  for await (const part of log.read(0, log.last)) read.push(part);
  return bodiesOf(...read);
}

const bodiesOf = (...batches: readonly ProposalBatch[]) =>
  proposalsIn(batches).map(({ body }) => Buffer.from(body).toString());

it('a batch that was sent before it was logged is in both as it was', async () => {
  const batch = batchOf('a', 'bc');
  const frame = encodePeerFrame({ kind: 'propose', batch });
  const before = Buffer.from(frame);
  expect(await logged(batch)).toEqual(['a', 'bc']);
  expect(Buffer.compare(frame, before)).toBe(0);
});

it('a batch that was logged before it was sent is in both as it was', async () => {
  const batch = batchOf('a', 'bc');
  expect(await logged(batch)).toEqual(['a', 'bc']);
  const frame = encodePeerFrame({ kind: 'propose', batch });
  expect(bodiesOf(received(frame))).toEqual(['a', 'bc']);
});

it('a batch that was received is logged, and can be sent on', async () => {
  const batch = received(encodePeerFrame({ kind: 'propose', batch: batchOf('a', 'bc') }));
  expect(await logged(batch)).toEqual(['a', 'bc']);
  const frame = encodePeerFrame({ kind: 'propose', batch });
  expect(await logged(received(frame))).toEqual(['a', 'bc']);
  expect(bodiesOf(batch)).toEqual(['a', 'bc']);
});

it('a part of a batch that is sent leaves what lies before it as it was', async () => {
  const batch = batchOf('a', 'bc');
  const part = batch.part(batch.first, batch.last);
  if (part === null) throw new Error('no part');
  expect(bodiesOf(received(encodePeerFrame({ kind: 'propose', batch: part })))).toEqual(['bc']);
  expect(await logged(batch)).toEqual(['a', 'bc']);
});
