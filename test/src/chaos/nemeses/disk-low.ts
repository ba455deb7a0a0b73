/**
 * Fills a disk below its reserve while its member runs, and makes room again. While a majority has
 * room, the member steps out or hands over; otherwise writes of data are refused.
 *
 * No write fails here, so a member that ends by itself is a finding, unless too little is left for
 * a snapshot: then a checkpoint that is under way may use the rest. Every member must come back
 * without help, which the run checks when it has made room.
 */
import { fillToReserve, free } from '../disks.js';
import type { Nemesis } from './nemesis.js';
import { type Choice, victims } from './victims.js';

export const diskLow = lowering('disk-low', 'one');
export const diskLowLeader = lowering('disk-low-leader', 'leader');
export const diskLowAll = lowering('disk-low-all', 'all');

/** What of the reserve stays free. With less than a tenth no snapshot is taken. */
const MUCH = 0.6;
const SCARCE = 0.09;
const SCARCE_CHANCE = 1 / 3;
/** A member measures its disk each second, and steps out once that has lasted for 1.5 s. */
const NOTICED_MS = 3_000;
const LEFT = /"disk\.(?:stepped_out|hands_over)/;

function lowering(name: string, choice: Choice): Nemesis {
  return {
    name,
    async strike(field, random, holdMs) {
      const { members, pause, note } = field;
      const isScarce = random.chance(SCARCE_CHANCE);
      const ids = await victims(field, random, choice);
      const marks = new Map(ids.map((id) => [id, members.logMark(id)]));
      if (isScarce) for (const id of ids) members.excuse(id);
      const share = isScarce ? SCARCE : MUCH;
      const left = await Promise.all(ids.map((id) => fillToReserve(members.directory(id), share)));
      note(`members ${ids.join(', ')} have ${left.join(', ')} bytes left on their disks`);
      await pause(NOTICED_MS + holdMs);
      const leavers = ids.filter((id) => members.hasLogged(id, LEFT, marks.get(id) ?? 0));
      note(`stepped out or handed over: ${leavers.length === 0 ? 'none' : leavers.join(', ')}`);
      for (const id of ids) free(members.directory(id));
    },
  };
}
