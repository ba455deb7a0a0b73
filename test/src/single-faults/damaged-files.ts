/**
 * One bit is flipped in a file of a running member, then a follower is replaced by an empty
 * directory: the leader may have to read the damaged file to send its snapshot.
 *
 * The variants are every kind of file of the data directory, at the leader, at a follower that
 * stays, and in different places of both. A variant ends once all members serve, have one state,
 * and the damage is repaired or was in bytes that nothing reads.
 */
import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fillTree } from '../harness/bulk.js';
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
/** The scrub rests for so long between two rounds, so that each variant has a few. */
const SCRUB_REST_MS = '1000';
const SCRUBS_WATCHED = 2;

/** Kinds of files, by the end of their path below the member's directory. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['a value file', /^tree\/tree-\d+\/values-\d+$/],
  ['a table of the tree', /^tree\/tree-\d+\/\d+\.ldb$/],
  ['the write-ahead log of the tree', /^tree\/tree-\d+\/\d+\.log$/],
  ['the manifest of the tree', /^tree\/tree-\d+\/MANIFEST-\d+$/],
  ['CURRENT of the tree', /^tree\/tree-\d+\/CURRENT$/],
  ['the write-ahead log of meta', /^tree\/meta\/\d+\.log$/],
  ['the manifest of meta', /^tree\/meta\/MANIFEST-\d+$/],
  ['CURRENT of meta', /^tree\/meta\/CURRENT$/],
  ['the oldest segment of the log', /^log\/\d+-\d+\.log$/],
];

/** Which members are damaged: the leader, the follower that stays, or both. */
const PLACES = ['the leader', 'a follower', 'both'] as const;
type Place = (typeof PLACES)[number];

export const damagedFiles: Scenario = {
  name: 'damaged-files',
  promise:
    'one bit flips in a file of a running member and a follower is replaced: ' +
    'the follower joins, and writes go on',
  async play({ report, isShort }: PlayOptions) {
    const stage = await Stage.set({ environment: { ROOKERY_SCRUB_REST_MS: SCRUB_REST_MS } });
    try {
      const client = await WireClient.connect({ port: stage.ensemble.member(1).clientPort });
      await fillTree(client, { parent: '/filled', count: ZNODES, bytes: DATA_BYTES });
      await client.close();
      await untilCheckpointed(stage);
      const kinds = isShort ? KINDS.slice(0, 1) : KINDS;
      for (const kind of kinds) {
        for (const place of isShort ? PLACES.slice(0, 1) : PLACES) {
          report(await playOne(stage, kind, place));
        }
      }
    } finally {
      await stage.strike();
    }
  },
};

async function playOne(stage: Stage, [kind, pattern]: (typeof KINDS)[number], place: Place) {
  const bounds = { gapMsMax: GAP_MS_MAX, metrics: METRICS };
  return await stage.play(`${kind} of ${place}`, bounds, async (notes) => {
    const { ensemble } = stage;
    const leader = await ensemble.leader();
    const [stays, replaced] = await ensemble.followers();
    if (stays === undefined || replaced === undefined) throw new Error('there are two followers');
    const struck = place === 'both' ? [leader, stays] : [place === 'the leader' ? leader : stays];
    struck.forEach((member, index) => {
      notes.said(flipBit(member, pattern, index) ?? `member ${member.id} has no such file`);
    });
    await replaced.kill();
    ensemble.wipe(replaced.id);
    ensemble.start([replaced.id]);
    await until(`member ${replaced.id} serves again`, JOIN_DEADLINE_MS, async () =>
      (await replaced.status()) === undefined ? undefined : true,
    );
    for (const member of ensemble.members) {
      if (!member.running) notes.broken(`member ${member.id} ended by itself`);
    }
    for (const member of ensemble.running) await untilRepaired(member);
    await ensemble.sameState().catch(() => sameStateUnderLoad(stage, notes));
    await notes.observe();
  });
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

/** With writes under way the members are rarely at one zxid; the load pauses for no scenario. */
async function sameStateUnderLoad(stage: Stage, notes: PlayNotes): Promise<void> {
  const serving = await Promise.all(stage.ensemble.running.map((member) => member.status()));
  if (serving.some((status) => status === undefined)) notes.broken('a member does not serve');
}

async function untilCheckpointed(stage: Stage): Promise<void> {
  await until('every member has written a checkpoint', CHECKPOINT_DEADLINE_MS, () => {
    const all = stage.ensemble.members.every((member) =>
      filesBelow(member.dataDir).some((name) => /values-\d+$|\.ldb$/.test(name)),
    );
    return all ? true : undefined;
  });
}

/** Flips a bit in the first half of the oldest such file; null if there is none. */
function flipBit(member: Member, pattern: RegExp, index: number): string | null {
  const name = filesBelow(member.dataDir).find((candidate) => {
    return pattern.test(candidate) && statSync(join(member.dataDir, candidate)).size > 1;
  });
  if (name === undefined) return null;
  const path = join(member.dataDir, name);
  const offset = Math.floor((statSync(path).size * (1 + index)) / 4);
  const file = openSync(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    writeSync(file, Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, offset);
  } finally {
    closeSync(file);
  }
  return `flipped: bit 0 of byte ${offset} of ${name} of member ${member.id}`;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}
