/**
 * SIGSTOP, and SIGCONT some time later: the process goes on in the belief that no time has passed.
 */
import type { Nemesis } from './nemesis.js';
import { type Choice, victims } from './victims.js';

export const pauseOne = pausing('one');
export const pauseLeader = pausing('leader');
export const pauseSome = pausing('some');
export const pauseAll = pausing('all');

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
