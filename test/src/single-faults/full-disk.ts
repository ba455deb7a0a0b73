/**
 * The disk of one member fills up, then that of a second one, then there is room again.
 *
 * While a majority has room the member without room steps out and writes go on, whether another
 * program fills its disk or its own log. Without such a majority writes of data are refused,
 * deletes and reads go on, and writes return once there is room.
 */
import { ErrorCode } from '@rookery/protocol';
import { httpGet } from '../harness/http.js';
import type { Member } from '../harness/member.js';
import { create, ensure, getData, remove, sendSetData } from '../harness/operations.js';
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
const METRICS = [
  'rookery_disk_full',
  'rookery_disk_stepped_out',
  'rookery_disk_refused_writes_total',
];
/** What another program leaves to the log of a member, until the disk counts as full. */
const LOG_BYTES = 12 << 20;
const RESERVE_BYTES = DISK_BYTES / 4;
const VALUE_BYTES = 200_000;

export const fullDisk: Scenario = {
  name: 'full-disk',
  promise:
    'one disk is full: writes go on without its member; two are full: writes of data are ' +
    'refused, reads and deletes go on',
  async play({ report, isShort }: PlayOptions) {
    const stage = await Stage.set({ product: onSmallDisks(DISK_BYTES) });
    try {
      const bounds = { metrics: METRICS, gapMsMax: ELECTION_MS };
      const fillings = isShort ? FILLINGS.slice(0, 1) : FILLINGS;
      for (const [words, fill] of fillings) {
        const [follower] = await stage.ensemble.followers();
        if (follower === undefined) throw new Error('there is a follower');
        report(
          await stage.play(words('a follower'), bounds, (notes) =>
            oneIsFull(stage, follower, notes, fill),
          ),
        );
      }
      const once = { ...bounds, electionsMax: 1 };
      for (const [words, fill] of fillings) {
        const leader = await stage.ensemble.leader();
        report(
          await stage.play(words('the leader'), once, (notes) =>
            oneIsFull(stage, leader, notes, fill),
          ),
        );
      }
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

/** Fills the disk of the member; resolves with the function that makes room, once it is full. */
type Filling = (stage: Stage, member: Member) => Promise<() => void>;

const byOthers: Filling = async (stage, member) => {
  const makeRoom = fillDisk(diskOf(stage.ensemble, member), LEFT_BYTES);
  await untilReady(member, false);
  return makeRoom;
};

/** The disks of the others have room for the same log. */
const byItsLog: Filling = async (stage, member) => {
  const makeRoom = fillDisk(diskOf(stage.ensemble, member), RESERVE_BYTES + LOG_BYTES);
  const others = stage.ensemble.members.filter(({ id }) => id !== member.id);
  const { clientPort } = others[0] ?? member;
  const client = await WireClient.connect({ port: clientPort });
  await ensure(client, '/large');
  const value = 'v'.repeat(VALUE_BYTES);
  // The connection ends where the leader hands over, which is when the disk is full.
  while (client.open && (await readinessOf(member)).isReady) {
    await sendSetData(client, '/large', value).catch(() => undefined);
  }
  await client.drop();
  await untilReady(member, false);
  return makeRoom;
};

const FILLINGS: readonly (readonly [(whose: string) => string, Filling])[] = [
  [(whose) => `the disk of ${whose} is full, then has room`, byOthers],
  [(whose) => `the log of ${whose} fills its disk, then there is room`, byItsLog],
];

async function oneIsFull(
  stage: Stage,
  member: Member,
  notes: PlayNotes,
  fill: Filling,
): Promise<void> {
  const fromMs = nowMs();
  const makeRoom = await fill(stage, member);
  await until(`member ${member.id} has stepped out`, DEADLINE_MS, async () =>
    (await readinessOf(member)).text.includes('it has stepped out') ? true : undefined,
  );
  await notes.observe();
  for (const command of ['status', 'check']) {
    const { said } = await stage.command([command]);
    if (!said.includes('disk is full')) notes.broken(`${command} does not name the full disk`);
  }
  makeRoom();
  await untilReady(member, true);
  const { errors } = await stage.pulse.window(fromMs);
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
  await until(what, DEADLINE_MS, async () =>
    (await readinessOf(member)).isReady === isReady ? true : undefined,
  );
}

async function readinessOf(member: Member): Promise<{ isReady: boolean; text: string }> {
  const { status, text } = await httpGet(member.metricsPort, '/readyz');
  return { isReady: status === 200, text };
}
