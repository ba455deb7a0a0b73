/**
 * SIGSTOP, and SIGCONT some time later: the process goes on in the belief that no time has passed.
 */
import type { Nemesis } from './nemesis.js';
import { type Choice, leaderOrAny, victims } from './victims.js';

export const pauseOne = pausing('one');
export const pauseLeader = pausing('leader');
export const pauseSome = pausing('some');
export const pauseAll = pausing('all');

/** At least this long altogether, for a few leaders to come and go. */
const STUTTER_MS_MIN = 6_000;

/**
 * Whoever leads is stopped, again and again, for about as long as the others need to elect another
 * one but not so long that its clients leave: what they have asked meanwhile it finds unread when
 * it wakes, and does not know yet that it leads no more.
 */
export const stutter: Nemesis = {
  name: 'stutter',
  async strike(field, random, holdMs) {
    const { members, pause, note } = field;
    note('whoever leads is stopped for a moment, again and again');
    const endMs = performance.now() + Math.max(holdMs, STUTTER_MS_MIN);
    while (performance.now() < endMs) {
      const id = await leaderOrAny(field, random);
      members.pause([id]);
      await pause(random.between(900, 2_600));
      members.resume([id]);
      await pause(random.between(200, 800));
    }
  },
};

function pausing(choice: Choice): Nemesis {
  return {
    name: `pause-${choice}`,
    async strike(field, random, holdMs) {
      const ids = await victims(field, random, choice);
      field.note(`members ${ids.join(', ')} are stopped`);
      field.members.pause(ids);
      await field.pause(holdMs);
      field.members.resume(ids);
    },
  };
}
