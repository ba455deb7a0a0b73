/**
 * The disk of one member fills up, then that of a second one, then there is room again.
 *
 * While a majority has room the member without room steps out and writes go on. Without such a
 * majority writes of data are refused, deletes and reads go on, and writes return once there is
 * room.
 */
import { ErrorCode } from '@rookery/protocol';
import type { Member } from '../harness/member.js';
import { create, getData, remove, sendSetData } from '../harness/operations.js';
import { diskOf, fillDisk, onSmallDisks } from '../harness/small-disks.js';
import { until } from '../harness/wait.js';
import { WireClient } from '../harness/wire-client.js';
import { nowMs } from './pulse.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const DISK_BYTES = 400 << 20;
/** A quarter of such a disk is its reserve. */
const LEFT_BYTES = DISK_BYTES / 20;
const DEADLINE_MS = 30_000;
/** An election, with the default of `peerTimeoutMs` and two busy processors. */
const ELECTION_MS = 1_000;
const WRITES_RETURN_MS = 2_000;
const METRICS = ['rookery_disk_full', 'rookery_disk_refused_writes_total'];

export const fullDisk: Scenario = {
  name: 'full-disk',
  promise:
    'one disk is full: writes go on without its member; two are full: writes of data are ' +
    'refused, reads and deletes go on',
  async play({ report }: PlayOptions) {
    const stage = await Stage.set({ product: onSmallDisks(DISK_BYTES) });
    try {
      const bounds = { metrics: METRICS, gapMsMax: ELECTION_MS };
      const [follower] = await stage.ensemble.followers();
      if (follower === undefined) throw new Error('there is a follower');
      report(
        await stage.play('the disk of a follower is full, then has room', bounds, (notes) =>
          oneIsFull(stage, follower, notes),
        ),
      );
      const leader = await stage.ensemble.leader();
      const once = { ...bounds, electionsMax: 1 };
      report(
        await stage.play('the disk of the leader is full, then has room', once, (notes) =>
          oneIsFull(stage, leader, notes),
        ),
      );
      const some = { metrics: METRICS, electionsMax: 2 };
      report(
        await stage.play('two of three disks are full, then have room', some, (notes) =>
          twoAreFull(stage, notes),
        ),
      );
    } finally {
      await stage.strike();
    }
  },
};

async function oneIsFull(stage: Stage, member: Member, notes: PlayNotes): Promise<void> {
  const makeRoom = fillDisk(diskOf(stage.ensemble, member), LEFT_BYTES);
  await untilReady(member, false);
  await notes.observe();
  makeRoom();
  await untilReady(member, true);
  const { errors } = await stage.pulse.window(0);
  if (errors[ErrorCode.quotaExceeded] !== undefined) {
    notes.broken(`${errors[ErrorCode.quotaExceeded]} writes were refused`);
  }
}

async function twoAreFull(stage: Stage, notes: PlayNotes): Promise<void> {
  const { ensemble } = stage;
  const [first, second] = await ensemble.followers();
  if (first === undefined || second === undefined) throw new Error('there are two followers');
  const leader = await ensemble.leader();
  const client = await WireClient.connect({ port: leader.clientPort });
  await create(client, '/leftover');
  await create(client, '/written');
  const room = [first, second].map((member) => fillDisk(diskOf(ensemble, member), LEFT_BYTES));
  await untilAnswered(client, ErrorCode.quotaExceeded);
  await notes.observe();
  await getData(client, '/leftover');
  await remove(client, '/leftover');
  for (const makeRoom of room) makeRoom();
  const roomAt = nowMs();
  await untilAnswered(client, ErrorCode.ok);
  const tookMs = Math.round(nowMs() - roomAt);
  notes.said(`writes returned ${tookMs} ms after there was room`);
  if (tookMs > WRITES_RETURN_MS) notes.broken(`writes returned after ${tookMs} ms`);
  await Promise.all([first, second].map((member) => untilReady(member, true)));
  await client.close();
}

async function untilAnswered(client: WireClient, error: ErrorCode): Promise<void> {
  await until(`a write is answered with ${error}`, DEADLINE_MS, async () =>
    (await sendSetData(client, '/written', 'v')).error === error ? true : undefined,
  );
}

async function untilReady(member: Member, isReady: boolean): Promise<void> {
  const what = `member ${member.id} ${isReady ? 'is ready' : 'says that it has no room'}`;
  await until(what, DEADLINE_MS, async () => {
    const { status } = await fetch(`http://127.0.0.1:${member.metricsPort}/readyz`);
    return (status === 200) === isReady ? true : undefined;
  });
}
