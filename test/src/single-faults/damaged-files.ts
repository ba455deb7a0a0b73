/**
 * One bit is flipped in a file of a running member, then a follower is replaced by an empty
 * directory: the leader may have to read the damaged file to send its snapshot.
 *
 * The variants are every kind of file of the data directory, at the leader, at a follower that
 * stays, and in different files of both. The files named LOCK are empty, so they are left out. A
 * variant ends once all members serve, and the damage is repaired, or several rounds of the scrub
 * have not found it because it is in bytes that nothing reads. At last every member starts again:
 * none may find damage then.
 */
import { fillTree, overwrite } from '../harness/bulk.js';
import {
  filesBelow,
  flipBit,
  hasBytes,
  type StruckFile,
  segmentCount,
} from '../harness/flipped-bit.js';
import { scrape } from '../harness/http.js';
import type { Member } from '../harness/member.js';
import { until } from '../harness/wait.js';
import { WireClient } from '../harness/wire-client.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const ZNODES = 30_000;
const DATA_BYTES = 300;
const JOIN_DEADLINE_MS = 60_000;
const CHECKPOINT_DEADLINE_MS = 60_000;
const GAP_MS_MAX = 100;
const REPAIR_DEADLINE_MS = 60_000;
const FOUND = 'rookery_disk_damages_found_total';
const REPAIRED = 'rookery_disk_damages_repaired_total';
const METRICS = [FOUND, REPAIRED];
/** The scrub is eight times as fast as usual, and its rests are short. */
const ENVIRONMENT = {
  ROOKERY_SCRUB_REST_MS: '1000',
  ROOKERY_SCRUB_BYTES_PER_SECOND: String(16 << 20),
  ROOKERY_LOG_SEGMENT_BYTES: String(1 << 20),
};
const SCRUBS_WATCHED = 2;
/** More than a segment of the log. */
const MORE_WRITES = 4_000;

interface Kind {
  readonly file: StruckFile;
  /** What must happen for a member to have such a file. */
  readonly needs?: 'a start' | 'more log' | 'a checkpoint';
  /** A running member reads no such file, so the bit is flipped back at the end. */
  readonly isUnread?: true;
}

/** What was written since the start, or since LevelDB last made a table of it: often nothing. */
const TREE_LOG = /^tree\/tree-\d+\/\d+\.log$/;

const KINDS: Readonly<Record<string, Kind>> = {
  'a value file': { file: /^tree\/tree-\d+\/values-\d+$/ },
  'a table of the tree': { file: /^tree\/tree-\d+\/\d+\.ldb$/, needs: 'a start' },
  'the write-ahead log of the tree': { file: TREE_LOG, needs: 'a checkpoint' },
  'the manifest of the tree': { file: /^tree\/tree-\d+\/MANIFEST-\d+$/ },
  'CURRENT of the tree': { file: /^tree\/tree-\d+\/CURRENT$/ },
  'a table of meta': { file: /^tree\/meta\/\d+\.ldb$/, needs: 'a start' },
  'the write-ahead log of meta': { file: /^tree\/meta\/\d+\.log$/ },
  'the manifest of meta': { file: /^tree\/meta\/MANIFEST-\d+$/ },
  'CURRENT of meta': { file: /^tree\/meta\/CURRENT$/ },
  'the oldest segment of the log': { file: 'the oldest segment', needs: 'more log' },
  'the active segment of the log': { file: 'the active segment' },
  'member.json of the tree': { file: /^tree\/member\.json$/ },
  'member.json of the log': { file: /^log\/member\.json$/ },
  'CURRENT of the lock': { file: /^log\/lock\/CURRENT$/, isUnread: true },
};

/** Files of the leader and of the follower that stays. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['a value file', 'a value file'],
  ['a value file', 'the oldest segment of the log'],
  ['the write-ahead log of the tree', 'a value file'],
  ['the active segment of the log', 'the write-ahead log of meta'],
  ['CURRENT of meta', 'the manifest of the tree'],
];

/** The files that are struck at the leader and at the follower that stays; null for none. */
type Variant = readonly [ofLeader: string | null, ofFollower: string | null];

const VARIANTS: readonly Variant[] = [
  [null, null],
  ...Object.keys(KINDS).flatMap((kind): Variant[] => [
    [kind, null],
    [null, kind],
  ]),
  ...PAIRS,
];

export const damagedFiles: Scenario = {
  name: 'damaged-files',
  promise:
    'one bit flips in a file of a running member and a follower is replaced: ' +
    'the follower joins, and writes go on',
  async play({ report, isShort }: PlayOptions) {
    const stage = await Stage.set({ environment: ENVIRONMENT });
    try {
      await fill(stage);
      await untilCheckpointed(stage);
      for (const variant of isShort ? VARIANTS.slice(0, 2) : VARIANTS) {
        await prepare(stage, variant);
        report(await playOne(stage, variant));
      }
      const bounds = { electionsMax: stage.ensemble.ids.length };
      report(
        await stage.play('every member starts again', bounds, (notes) => startAgain(stage, notes)),
      );
    } finally {
      await stage.strike();
    }
  },
};

/** Gives each member values in files, and a log. */
async function fill(stage: Stage): Promise<void> {
  await withClient(stage, (client) =>
    fillTree(client, { parent: '/filled', count: ZNODES, bytes: DATA_BYTES }),
  );
}

async function withClient(stage: Stage, act: (client: WireClient) => Promise<void>) {
  const { clientPort } = await stage.ensemble.leader();
  const client = await WireClient.connect({ port: clientPort });
  await act(client);
  await client.close();
}

/** Sees to it that every member has the files that are struck. */
async function prepare(stage: Stage, variant: Variant): Promise<void> {
  const needs = kindsOf(variant).map(({ needs: need }) => need);
  if (needs.includes('a start')) await restartAll(stage);
  if (needs.includes('more log')) {
    await writeUntil(stage, 'every member has two segments', (member) => segmentCount(member) > 1);
  }
  if (needs.includes('a checkpoint')) {
    const what = 'every member has a checkpoint in the write-ahead log of its tree';
    await writeUntil(stage, what, (member) => hasBytes(member, TREE_LOG));
  }
}

/** Writes until that holds of every member. */
async function writeUntil(stage: Stage, what: string, holds: (member: Member) => boolean) {
  await until(what, CHECKPOINT_DEADLINE_MS, async () => {
    await withClient(stage, (client) =>
      overwrite(client, { path: '/filled', count: MORE_WRITES, bytes: DATA_BYTES }),
    );
    return stage.ensemble.members.every(holds) ? true : undefined;
  });
}

function kindsOf(variant: Variant): readonly Kind[] {
  return variant.flatMap((name) => KINDS[name ?? ''] ?? []);
}

async function restartAll({ ensemble }: Stage): Promise<void> {
  for (const { id } of ensemble.members) {
    await ensemble.member(id).stop();
    ensemble.start([id]);
    await ensemble.serving();
  }
}

async function playOne(stage: Stage, variant: Variant) {
  const [ofLeader, ofFollower] = variant;
  const struck = [
    ...(ofLeader === null ? [] : [`${ofLeader} of the leader`]),
    ...(ofFollower === null ? [] : [`${ofFollower} of a follower`]),
  ];
  const title = struck.length === 0 ? 'no damage' : struck.join(', ');
  const bounds = { gapMsMax: GAP_MS_MAX, metrics: METRICS };
  return await stage.play(title, bounds, async (notes) => {
    const { ensemble } = stage;
    const leader = await ensemble.leader();
    const [stays, replaced] = await ensemble.followers();
    if (stays === undefined || replaced === undefined) throw new Error('there are two followers');
    const before = new Map<number, number>();
    const marks = new Map(ensemble.members.map((member) => [member.id, member.logMark()]));
    for (const { id, metricsPort } of [leader, stays]) before.set(id, await foundAt(metricsPort));
    const back = [...strike(notes, leader, ofLeader), ...strike(notes, stays, ofFollower)];
    await replaced.kill();
    ensemble.wipe(replaced.id);
    ensemble.start([replaced.id]);
    await until(`member ${replaced.id} serves again`, JOIN_DEADLINE_MS, async () =>
      (await replaced.status()) === undefined ? undefined : true,
    );
    for (const member of ensemble.members) {
      if (!member.running) notes.broken(`member ${member.id} ended by itself`);
    }
    await Promise.all(ensemble.running.map(untilRepaired));
    for (const { id, metricsPort } of [leader, stays]) {
      const found = (await foundAt(metricsPort)) - (before.get(id) ?? 0);
      notes.said(`member ${id} has found damage ${found} times`);
      const isGivenUp = ensemble
        .member(id)
        .linesSince(marks.get(id) ?? 0)
        .some((line) => line.includes('"log.unreadable"'));
      if (isGivenUp) notes.said(`member ${id} has given up log that only learners could need`);
    }
    await notes.observe();
    for (const undo of back) undo();
  });
}

/** Returns how to flip back what no running member reads. */
function strike(notes: PlayNotes, member: Member, name: string | null): (() => void)[] {
  if (name === null) return [];
  const kind = KINDS[name];
  const flipped = kind === undefined ? null : flipBit(member, kind.file);
  if (flipped === null) notes.broken(`member ${member.id} has no such file, nothing was flipped`);
  else notes.said(`flipped: ${flipped.what}`);
  return flipped !== null && kind?.isUnread === true ? [() => flipped.undo()] : [];
}

async function foundAt(metricsPort: number): Promise<number> {
  return (await scrape(metricsPort)).get(FOUND) ?? 0;
}

/** Two rounds of the scrub have found nothing more, and what was found is repaired. */
async function untilRepaired(member: Member): Promise<void> {
  const scrubsOf = async () => (await scrape(member.metricsPort)).get('rookery_scrubs_total') ?? 0;
  const before = await scrubsOf();
  await until(`member ${member.id} is whole again`, REPAIR_DEADLINE_MS, async () => {
    if ((await scrubsOf()) < before + SCRUBS_WATCHED) return undefined;
    const metrics = await scrape(member.metricsPort);
    return metrics.get(FOUND) === metrics.get(REPAIRED) ? true : undefined;
  });
}

/** A start reads everything that it relies on, so what was not repaired shows now. */
async function startAgain(stage: Stage, notes: PlayNotes): Promise<void> {
  const marks = stage.ensemble.members.map((member) => member.logMark());
  await restartAll(stage);
  for (const [index, member] of stage.ensemble.members.entries()) {
    const lines = member.linesSince(marks[index] ?? 0);
    const damaged = lines.find((line) => line.includes('server.damaged'));
    if (damaged !== undefined) notes.broken(`member ${member.id}: ${damaged}`);
  }
  await notes.observe();
}

async function untilCheckpointed(stage: Stage): Promise<void> {
  await until('every member has written a checkpoint', CHECKPOINT_DEADLINE_MS, () => {
    const all = stage.ensemble.members.every((member) =>
      filesBelow(member.dataDir).some((name) => /values-\d+$/.test(name)),
    );
    return all ? true : undefined;
  });
}
