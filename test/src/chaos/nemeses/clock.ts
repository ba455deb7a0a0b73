/**
 * Makes dates jump forward and back, by ms or by days; only the times in stats may depend on them.
 * member-clock.ts does it inside the member.
 */
import type { Random } from '../../simulation/random.js';
import type { Nemesis } from './nemesis.js';
import { some } from './victims.js';

const JUMP_MS_MAX = 2 * 24 * 3_600_000;

export const clockJump: Nemesis = {
  name: 'clock-jump',
  async strike({ members, pause, note }, random, holdMs) {
    const ids = some(members.ids, random);
    const jumps = ids.map((id) => ({ id, offsetMs: jump(random) }));
    note(`clocks jump: ${jumps.map(({ id, offsetMs }) => `${id} by ${offsetMs} ms`).join(', ')}`);
    for (const { id, offsetMs } of jumps) members.setClock(id, offsetMs);
    await pause(holdMs);
    for (const { id } of jumps) members.setClock(id, 0);
  },
};

/** Switches between two times of day several times a second. */
export const clockStrobe: Nemesis = {
  name: 'clock-strobe',
  async strike({ members, pause, note }, random, holdMs) {
    const offsetMs = jump(random);
    note(`all clocks change between two times ${offsetMs} ms apart`);
    const endMs = performance.now() + holdMs;
    while (performance.now() < endMs) {
      for (const id of members.ids) members.setClock(id, random.chance(1 / 2) ? offsetMs : 0);
      await pause(random.between(100, 300));
    }
    for (const id of members.ids) members.setClock(id, 0);
  },
};

/** Returns a jump that is as likely small as large. */
function jump(random: Random): number {
  const sizeMs = Math.round(JUMP_MS_MAX ** random.between(0.1, 1));
  return random.chance(1 / 2) ? sizeMs : -sizeMs;
}
