/**
 * Fills a disk. A member that cannot write ends, as it must, and is started again and again until
 * there is space. No acknowledged write may be lost by that.
 */
import { fill, free } from '../disks.js';
import type { Nemesis } from './nemesis.js';
import { type Choice, victims } from './victims.js';

export const diskFull = filling('one');
export const diskFullAll = filling('all');

function filling(choice: Choice): Nemesis {
  return {
    name: choice === 'all' ? 'disk-full-all' : 'disk-full',
    async strike(field, random, holdMs) {
      const { members } = field;
      const ids = await victims(field, random, choice);
      field.note(`the disks of members ${ids.join(', ')} are full`);
      for (const id of ids) members.excuse(id);
      await Promise.all(ids.map((id) => fill(members.directory(id))));
      await field.pause(holdMs);
      for (const id of ids) free(members.directory(id));
    },
  };
}
