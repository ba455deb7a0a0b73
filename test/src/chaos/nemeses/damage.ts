/**
 * Damages the disk of a member while it is down: flips a bit, cuts the tail off a file, or removes
 * everything. Or flips a bit below a member that runs, which must find and repair it.
 *
 * It damages one member at a time, and only once all others have everything that was acknowledged.
 * The design promises no more, because nobody can tell that the tail of a log is missing if the log
 * ends between two records. The run waits until the victim serves again before the next strike.
 */
import type { Random } from '../../simulation/random.js';
import { flip, truncate, wipe } from '../disks.js';
import type { Nemesis } from './nemesis.js';
import { leaderOrAny } from './victims.js';

export const flippedBit = damaging('flipped-bit', (directory, random) => {
  const what = flip(directory, random);
  return what === null ? null : `flipped ${what}`;
});

export const truncatedFile = damaging('truncated-file', (directory, random) => {
  const what = truncate(directory, random);
  return what === null ? null : `cut ${what}`;
});

export const wipedMember = damaging('wiped-member', (directory) => {
  wipe(directory);
  return 'everything is gone';
});

/** The scrub of a small disk takes seconds, and so does a repair. */
const HEALING_MS = 20_000;
const LOOK_EVERY_MS = 250;
/** What a member says once nothing is left of the damage. */
const HEALED = /"(?:disk\.repaired|log\.unreadable)/;

/**
 * A bit in bytes that nobody reads, such as those of a record that was replaced, is not found. The
 * member is then started again, so that no damage is left when another member is struck.
 */
export const flippedWhileServing: Nemesis = {
  name: 'flipped-while-serving',
  isAlone: true,
  async strike(field, random) {
    const { members, pause, note, miss } = field;
    const id = random.chance(1 / 2) ? await leaderOrAny(field, random) : random.pick(members.ids);
    await members.level(members.ids);
    const mark = members.logMark(id);
    const what = flipAtOnce(members.directory(id), random);
    if (what === null) return miss(`member ${id}: no file is large enough, or it is gone`);
    note(`member ${id}, which runs: flipped ${what}`);
    for (let waitedMs = 0; waitedMs < HEALING_MS; waitedMs += LOOK_EVERY_MS) {
      if (members.hasLogged(id, HEALED, mark)) return note(`member ${id} has repaired it`);
      await pause(LOOK_EVERY_MS);
    }
    note(`member ${id} has not found it, and is started again`);
    await members.kill([id]);
    members.start([id]);
  },
};

/** Null also if the member has removed the file before it was struck. */
function flipAtOnce(directory: string, random: Random): string | null {
  try {
    return flip(directory, random);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** `befall` returns what it did; null if no file is large enough for it. */
function damaging(
  name: string,
  befall: (directory: string, random: Random) => string | null,
): Nemesis {
  return {
    name,
    isAlone: true,
    async strike({ members, pause, note, miss }, random, holdMs) {
      const id = random.pick(members.ids);
      await members.kill([id]);
      await members.level(members.ids.filter((other) => other !== id));
      const what = befall(members.directory(id), random);
      if (what === null) miss(`member ${id}: no file is large enough`);
      else note(`member ${id}: ${what}`);
      await pause(holdMs / 2);
      members.start([id]);
    },
  };
}
