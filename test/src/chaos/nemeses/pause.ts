/**
 * Stops members with SIGSTOP and continues them with SIGCONT some time later, as if no time had
 * passed.
 */
import type { Nemesis } from './nemesis.js';
import { type Choice, leaderOrAny, victims } from './victims.js';

export const pauseOne = pausing('one');
export const pauseLeader = pausing('leader');
export const pauseSome = pausing('some');
export const pauseAll = pausing('all');

/** The least time of all pauses together, in which a few leaders come and go. */
const STUTTER_MS_MIN = 6_000;

/**
 * Stops whichever member leads, again and again. Each stop is long enough for the others to elect
 * another leader, but too short for its clients to leave. When it continues it finds the requests
 * that they have sent meanwhile, and does not know yet that it no longer leads.
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
