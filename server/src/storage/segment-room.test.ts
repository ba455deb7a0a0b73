/** Which segments of a log are made with room, by the groups of proposals that came before. */
import { beforeEach, expect, it, vi } from 'vitest';
import { MemoryStore } from './memory-store.js';
import { Segment } from './segment.js';
import { proposalsAfter } from './testing.js';
import { TxnLog } from './txn-log.js';

const OPTIONS = { segmentBytesMax: 2 << 20, groupBytesMax: 1 << 20 };
const LARGE_GROUP_BYTES = 32 << 10;

const create = vi.spyOn(Segment, 'create');
beforeEach(() => {
  create.mockClear();
});

/** Of the segments that were made while groups of `bytes` filled an eighth of the first. */
async function roomsAfterGroupsOf(bytes: number): Promise<readonly number[]> {
  const log = await TxnLog.create(new MemoryStore(), { generation: 1, base: 0 }, OPTIONS);
  for (let counter = 1; log.writtenBytes < OPTIONS.segmentBytesMax / 8; counter++) {
    const [one] = proposalsAfter(log.last, { epoch: 1, counter, count: 1 });
    if (one === undefined) throw new Error('one was asked for');
    await log.append([[{ ...one, body: new Uint8Array(bytes) }]]);
  }
  await log.idle();
  await log.letGo();
  return create.mock.calls.map(([, , roomBytes]) => roomBytes);
}

it('a segment has all its room behind one of small groups', async () => {
  expect(await roomsAfterGroupsOf(LARGE_GROUP_BYTES / 2)).toEqual([1 << 20, 2 << 20]);
});

it('a segment has no room behind one of large groups', async () => {
  expect(await roomsAfterGroupsOf(2 * LARGE_GROUP_BYTES)).toEqual([1 << 20, 0]);
});
