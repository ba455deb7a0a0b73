/**
 * Kills members with SIGKILL and starts them some time later; nothing in their memory survives.
 */
import type { Nemesis } from './nemesis.js';
import { type Choice, shuffled, victims } from './victims.js';

export const killOne = killing('one');
export const killLeader = killing('leader');
export const killSome = killing('some');
export const killAll = killing('all');

/** Kills one member after the other, each before the one before it can have caught up. */
export const killInTurn: Nemesis = {
  name: 'kill-in-turn',
  async strike({ members, pause, note }, random, holdMs) {
    const order = shuffled(members.ids, random);
    note(`members ${order.join(', ')} are killed one after the other`);
    for (const id of order) {
      await members.kill([id]);
      await pause(random.between(0, holdMs / order.length / 2));
      members.start([id]);
      await pause(random.between(0, holdMs / order.length / 2));
    }
  },
};

function killing(choice: Choice): Nemesis {
  return {
    name: `kill-${choice}`,
    async strike(field, random, holdMs) {
      const ids = await victims(field, random, choice);
      field.note(`members ${ids.join(', ')} are killed`);
      await field.members.kill(ids);
      await field.pause(holdMs);
      field.members.start(ids);
    },
  };
}
