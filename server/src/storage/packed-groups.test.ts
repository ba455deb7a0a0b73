/** Goal: a group is in the log as it was, and in its frame, whoever had the memory before it. */
import { claimRoom, Packer, type Proposal, packProposals } from '@rookery/protocol';
import { decodePeerMessage, encodePeerFrame } from '@rookery/protocol/peer';
import { expect, it } from 'vitest';
import { MemoryLogDirectory } from './memory-log.js';
import { TxnLog } from './txn-log.js';

const OPTIONS = { segmentBytesMax: 1 << 20, groupBytesMax: 1 << 10, firstPart: 1 };
const HOOKS = { onBegun: async () => {}, salt: () => '0123456789abcdef' };
const LENGTH_BYTES = 4;

function groupOf(...bodies: readonly string[]): readonly Proposal[] {
  const packer = new Packer();
  for (const [index, body] of bodies.entries()) {
    const writer = packer.begin(index + 1, index);
    writer.raw(Buffer.from(body));
    writer.endFrame();
  }
  return packer.take();
}

function received(frame: Uint8Array): readonly Proposal[] {
  const message = decodePeerMessage(new Uint8Array(frame.subarray(LENGTH_BYTES)));
  if (message.kind !== 'propose') throw new Error(`a ${message.kind}`);
  return message.proposals;
}

async function logged(group: readonly Proposal[]): Promise<readonly string[]> {
  const log = await TxnLog.create(
    new MemoryLogDirectory(),
    { generation: 1, base: 0 },
    OPTIONS,
    HOOKS,
  );
  await log.append([group]);
  const bodies: string[] = [];
  for await (const read of log.read(0, log.last)) {
    bodies.push(...read.map(({ body }) => Buffer.from(body).toString()));
  }
  return bodies;
}

const bodiesOf = (group: readonly Proposal[]) =>
  group.map(({ body }) => Buffer.from(body).toString());

it('a group that was sent before it was logged is in both as it was', async () => {
  const group = groupOf('a', 'bc');
  const frame = encodePeerFrame({ kind: 'propose', proposals: group });
  const before = Buffer.from(frame);
  expect(await logged(group)).toEqual(['a', 'bc']);
  expect(Buffer.compare(frame, before)).toBe(0);
});

it('a group that was logged before it was sent is in both as it was', async () => {
  const group = groupOf('a', 'bc');
  expect(await logged(group)).toEqual(['a', 'bc']);
  const frame = encodePeerFrame({ kind: 'propose', proposals: group });
  expect(bodiesOf(received(frame))).toEqual(['a', 'bc']);
});

it('a group that was received is logged without a copy, and can be sent on', async () => {
  const group = received(encodePeerFrame({ kind: 'propose', proposals: groupOf('a', 'bc') }));
  expect(await logged(group)).toEqual(['a', 'bc']);
  const frame = encodePeerFrame({ kind: 'propose', proposals: group });
  expect(await logged(received(frame))).toEqual(['a', 'bc']);
  expect(bodiesOf(group)).toEqual(['a', 'bc']);
});

it('the memory before a pack is had once', () => {
  const packed = packProposals(groupOf('a', 'bc'));
  expect(claimRoom(packed, 1)).not.toBeNull();
  expect(claimRoom(packed, 1)).toBeNull();
});
