/**
 * The power fails while all three members of a new ensemble start for the first time.
 *
 * Each member is traced and killed at another moment of its start, and its files become what a loss
 * of power then leaves of them: what was not synced is missing, or zeros. Then all three start. At
 * the end one member is really damaged behind a complete first start: the others must say who is in
 * the way and why, until its directories are emptied.
 */
import { existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canTrace, takeTrace, tracedProduct } from '../harness/disk-trace.js';
import type { Member } from '../harness/member.js';
import { ALL_LOSSES, type Loss, TracedDisk, writeImage } from '../harness/traced-disk.js';
import { until } from '../harness/wait.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

/** 42 images, as each member has its own. */
const PLAYS = 14;
const PLAYS_SHORT = 2;
/** A member is killed some time after one of these is there, in the order in which they come. */
const MILESTONES: readonly string[] = [
  ...['tree', 'log', 'log/member.json', 'tree/meta', 'tree/meta/CURRENT', 'log/0-0.log'],
  ...['tree/tree-0', 'tree/tree-0/CURRENT', 'tree/member.json.new', 'tree/member.json'],
];
const LATER_MS = 8;
/** Against a hang: a member that is traced on a busy machine starts slowly. */
const DEADLINE_MS = 240_000;
const LOAD_MS = 500;
const ELECTIONS_MAX = 2;
const WHY = 'with a damaged disk, so without a vote: 1';
const REMEDY = 'empty the directories of 1, and start again there';

export const interruptedFounding: Scenario = {
  name: 'interrupted-founding',
  promise:
    'the power fails during the first start of all members: the ensemble is founded at the next ' +
    'one; where a member is really damaged, the others say who and why',
  async play({ report, isShort }: PlayOptions) {
    if (!(await canTrace())) throw new Error('strace cannot trace processes here');
    const plays = isShort ? PLAYS_SHORT : PLAYS;
    for (let play = 0; play < plays; play++) {
      const stage = await Stage.empty({ product: tracedProduct() });
      try {
        const images = await powerFails(stage, play * stage.ensemble.ids.length);
        const bounds = { electionsMax: ELECTIONS_MAX };
        report(await stage.play(images.join('; '), bounds, (notes) => isFounded(stage, notes)));
      } finally {
        await stage.strike();
      }
    }
    const stage = await Stage.empty();
    try {
      const fault = 'member 1 is damaged behind its first start';
      const bounds = { electionsMax: ELECTIONS_MAX };
      report(await stage.play(fault, bounds, (notes) => oneIsDamaged(stage, notes)));
    } finally {
      await stage.strike();
    }
  },
};

/** Starts all members for the first time, and leaves what a loss of power leaves of their files. */
async function powerFails({ ensemble }: Stage, first: number): Promise<string[]> {
  ensemble.start();
  const images = ensemble.members.map(async (member, index) => {
    const { pid } = member;
    const image = first + index;
    const milestone = MILESTONES[image % MILESTONES.length] ?? '';
    const loss = ALL_LOSSES[(image >> 1) % ALL_LOSSES.length] ?? 'bytes';
    const names = [milestone, 'tree/member.json'].map((name) => join(member.dataDir, name));
    await until(`member ${member.id} has begun`, DEADLINE_MS, () => {
      return names.some((name) => existsSync(name)) || undefined;
    });
    await sleep(LATER_MS * Math.floor(image / MILESTONES.length));
    await member.kill();
    return await losePower(ensemble.directory, { member, pid, loss });
  });
  return await Promise.all(images);
}

/** Returns what the image is. */
async function losePower(
  directory: string,
  { member, pid, loss }: { readonly member: Member; readonly pid: number; readonly loss: Loss },
): Promise<string> {
  const { id, dataDir } = member;
  const operations = await takeTrace({ directory }, { id, pid });
  const disk = new TracedDisk(join(directory, 'data'));
  // The other members make the parent, too, and their files are their own.
  for (const operation of operations) {
    if (operation.path.startsWith(dataDir)) disk.apply(operation);
  }
  const image = disk.image(loss);
  rmSync(dataDir, { recursive: true });
  writeImage(image, join(directory, 'data'));
  const last = operations.at(-1);
  const where = last === undefined ? '' : ` (${last.kind} ${last.path.slice(dataDir.length)})`;
  return `${id}: operation ${operations.length}${where}, lost: ${loss}`;
}

async function isFounded(stage: Stage, notes: PlayNotes): Promise<void> {
  const { ensemble } = stage;
  ensemble.start();
  await ensemble.serving();
  await stage.load();
  await sleep(LOAD_MS);
  for (const member of ensemble.members) {
    const line = member.log().match(/"removed":\[[^\]]*\]/)?.[0];
    if (line !== undefined) notes.said(`member ${member.id} began anew: ${line}`);
  }
}

async function oneIsDamaged(stage: Stage, notes: PlayNotes): Promise<void> {
  const { ensemble } = stage;
  const damaged = ensemble.member(1);
  ensemble.start([1]);
  await damaged.waitForLog(/"election.waiting"/, DEADLINE_MS);
  await damaged.kill();
  const meta = join(damaged.dataDir, 'tree', 'meta');
  for (const name of readdirSync(meta)) {
    if (name.startsWith('MANIFEST')) truncateSync(join(meta, name));
  }
  ensemble.start();
  for (const id of [2, 3]) {
    await until(`member ${id} says who and why`, DEADLINE_MS, () => {
      const log = ensemble.member(id).log();
      return (log.includes(WHY) && log.includes(REMEDY)) || undefined;
    });
  }
  for (const command of ['status', 'check']) {
    const { said } = await stage.command([command]);
    if (!said.includes(WHY)) notes.broken(`${command} does not say who and why`);
  }
  await notes.observe();
  await damaged.kill();
  ensemble.wipe(1);
  ensemble.start([1]);
  await ensemble.serving();
  await stage.load();
}
