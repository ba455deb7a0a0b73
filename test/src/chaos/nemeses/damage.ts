/**
 * Damages the disk of a member while it is down: flips a bit, cuts the tail off a file, or removes
 * everything.
 *
 * It damages one member at a time, and only once all others have everything that was acknowledged.
 * The design promises no more, because nobody can tell that the tail of a log is missing if the log
 * ends between two records. The run waits until the victim serves again before the next strike.
 */
import type { Random } from '../../simulation/random.js';
import { flip, truncate, wipe } from '../disks.js';
import type { Nemesis } from './nemesis.js';

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
