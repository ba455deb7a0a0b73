/**
 * Goal: one bit that flips in a file of a running member costs no election: the member finds the
 * damage, reports it, and repairs its files from memory, and a replaced member joins meanwhile.
 * Method: a bit of a file of each kind is flipped below a running ensemble of processes.
 */
import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fillTree } from '../../harness/bulk.js';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { scrape } from '../../harness/http.js';
import type { Member } from '../../harness/member.js';
import { create } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 240_000;
const REPAIR_DEADLINE_MS = 40_000;
const FOUND = 'rookery_disk_damages_found_total';
const REPAIRED = 'rookery_disk_damages_repaired_total';
/** Where the records of a segment of the log begin. */
const RECORDS_START = 8192;

interface Kind {
  readonly pattern: RegExp;
  /** The byte to strike, given the size of the file. */
  readonly at: (size: number) => number;
}

const VALUES: Kind = { pattern: /^tree\/tree-\d+\/values-\d+$/, at: (size) => size >> 1 };
/** The scrub finds damage in each of them. */
const KINDS: Readonly<Record<string, Kind>> = {
  'a value file': VALUES,
  'the manifest': { pattern: /^tree\/tree-\d+\/MANIFEST-\d+$/, at: () => 8 },
  CURRENT: { pattern: /^tree\/tree-\d+\/CURRENT$/, at: () => 2 },
  'the write-ahead file of meta': { pattern: /^tree\/meta\/\d+\.log$/, at: () => 60 },
  'the manifest of meta': { pattern: /^tree\/meta\/MANIFEST-\d+$/, at: () => 8 },
  'CURRENT of meta': { pattern: /^tree\/meta\/CURRENT$/, at: () => 2 },
  'a segment of the log': { pattern: /^log\/\d+-\d+\.log$/, at: () => RECORDS_START + 40 },
  'the mark of the tree': { pattern: /^tree\/member\.json$/, at: (size) => size >> 1 },
  'the mark of the log': { pattern: /^log\/member\.json$/, at: (size) => size >> 1 },
};

it(
  'damage at the leader that a snapshot for a replaced member meets is repaired',
  async () => {
    // No scrub within the time of the test.
    const ensemble = await filled({ ROOKERY_SCRUB_REST_MS: '3600000' });
    const leader = await ensemble.leader();
    const [replaced] = await ensemble.followers();
    if (replaced === undefined) throw new Error('there are two followers');
    const marks = ensemble.members.map((member) => member.logMark());
    flipBit(leader, VALUES);
    await replaced.kill();
    ensemble.wipe(replaced.id);
    ensemble.start([replaced.id]);
    await ensemble.serving();
    await ensemble.sameState();
    expect((await ensemble.leader()).id).toBe(leader.id);
    expect(elections(ensemble, marks)).toBe(0);
    expect(await figures(leader)).toEqual([1, 1]);
    // What is on its disk now is whole: it starts from it, with its vote.
    const mark = leader.logMark();
    await leader.kill();
    ensemble.start([leader.id]);
    await ensemble.serving();
    expect(leader.log().slice(mark)).not.toContain('server.damaged');
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'damage of each kind of file, at the leader and at a follower, is found by the scrub',
  async () => {
    const ensemble = await filled({ ROOKERY_SCRUB_REST_MS: '1000' });
    const leader = await ensemble.leader();
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('there are two followers');
    const marks = ensemble.members.map((member) => member.logMark());
    let repairs = 0;
    for (const [name, kind] of Object.entries(KINDS)) {
      repairs += 1;
      for (const member of [leader, follower]) {
        flipBit(member, kind);
        await until(`${name} of member ${member.id} is repaired`, REPAIR_DEADLINE_MS, async () => {
          return (await figures(member))[1] === repairs ? true : undefined;
        });
        expect(await figures(member), name).toEqual([repairs, repairs]);
      }
      // The log of a new generation has only what was written since.
      const client = await useClient(leader);
      await fillTree(client, { parent: `/more-${repairs}`, count: 200, bytes: 300 });
    }
    await ensemble.sameState();
    expect((await ensemble.leader()).id).toBe(leader.id);
    expect(elections(ensemble, marks)).toBe(0);
    // Nothing of it is left for a start to find.
    for (const [index, member] of ensemble.members.entries()) {
      await member.kill();
      ensemble.start([member.id]);
      await ensemble.serving();
      expect(member.log().slice(marks[index] ?? 0)).not.toContain('server.damaged');
    }
  },
  TEST_DEADLINE_MS,
);

/** An ensemble of which every member has a checkpoint with values in files. */
async function filled(environment: Readonly<Record<string, string>>): Promise<Ensemble> {
  const ensemble = await useServingEnsemble({
    operated: true,
    environment: { ...environment, ROOKERY_CHECKPOINT_LOG_BYTES: '1000000' },
  });
  const client = await useClient(await ensemble.leader());
  await fillTree(client, { parent: '/filled', count: 8_000, bytes: 300 });
  await create(client, '/last');
  await until('every member has a checkpoint', REPAIR_DEADLINE_MS, () => {
    const all = ensemble.members.every((member) => fileOf(member, VALUES.pattern) !== undefined);
    return all ? true : undefined;
  });
  return ensemble;
}

function elections(ensemble: Ensemble, marks: readonly number[]): number {
  const lines = ensemble.members.flatMap((member, at) => member.linesSince(marks[at] ?? 0));
  return lines.filter((line) => line.includes('"role.leading"')).length;
}

async function figures(member: Member): Promise<(number | undefined)[]> {
  const metrics = await scrape(member.metricsPort);
  return [metrics.get(FOUND), metrics.get(REPAIRED)];
}

function fileOf(member: Member, pattern: RegExp): string | undefined {
  return readdirSync(member.dataDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && statSync(join(member.dataDir, name)).size > 1)
    .sort()
    .at(-1);
}

/** Flips a bit in the newest such file. */
function flipBit(member: Member, { pattern, at }: Kind): void {
  const name = fileOf(member, pattern);
  if (name === undefined) throw new Error(`member ${member.id} has no file like ${pattern}`);
  const path = join(member.dataDir, name);
  const offset = at(statSync(path).size);
  const file = openSync(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    writeSync(file, Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, offset);
  } finally {
    closeSync(file);
  }
}
