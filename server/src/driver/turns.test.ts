/** The rhythm of a member whose process is suspended between its turns or in the middle of one. */
import { describe, expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { Turns } from './turns.js';

const TICK_MS = 20;

/** What the hooks were told, with the time of the turn. */
async function started() {
  const timers = new ManualTimers();
  const told: string[] = [];
  const late: number[] = [];
  const turns: Turns = new Turns(timers, TICK_MS, {
    onTick: (nowMs) => told.push(`tick ${nowMs} ${turns.dropReason ?? ''}`.trimEnd()),
    onJump: (nowMs, byMs) =>
      told.push(`jump ${nowMs} by ${byMs} ${turns.dropReason ?? ''}`.trimEnd()),
    onEnd: () => told.push(`end ${turns.nowMs}`),
    onLate: (ms) => late.push(ms),
    onError: (error) => {
      throw error;
    },
  });
  turns.start();
  await timers.advance(TICK_MS - 1);
  told.length = 0;
  return { timers, turns, told, late };
}

describe('a turn', () => {
  it('ticks before it takes anything in when the process was suspended before it', async () => {
    const { timers, turns, told } = await started();
    timers.suspendNow(3 * TICK_MS);
    turns.run(() => told.push(`in ${turns.nowMs}`));
    await timers.advance(0);
    expect(told.slice(0, 3)).toEqual(['tick 79', 'in 79', 'end 79']);
  });

  it('ticks before it lets anything out when the process was suspended in its middle', async () => {
    const { timers, turns, told } = await started();
    turns.run(() => told.push(`in ${turns.nowMs}`));
    timers.suspendNow(3 * TICK_MS);
    turns.run(() => told.push(`in ${turns.nowMs}`));
    await timers.advance(0);
    const late = 'tick 79 this member was suspended or busy';
    expect(told.slice(0, 4)).toEqual(['in 19', 'in 19', late, 'end 79']);
    expect(turns.dropReason).toBeNull();
  });

  it('tells how late a tick is: for so long something has kept the event loop', async () => {
    const { timers, late } = await started();
    await timers.advance(1);
    timers.suspendNow(3 * TICK_MS);
    await timers.advance(0);
    expect(late).toEqual([0, 2 * TICK_MS]);
  });

  it('does not tick for being a little long', async () => {
    const { timers, turns, told } = await started();
    turns.run(() => told.push(`in ${turns.nowMs}`));
    timers.suspendNow(TICK_MS / 2);
    await timers.advance(0);
    expect(told.slice(0, 2)).toEqual(['in 19', 'end 19']);
  });
});

describe('clocks that move apart', () => {
  const JUMP_MS = 7_000;

  it.each([JUMP_MS, -JUMP_MS])(
    'by %i ms are noticed before a turn takes anything in',
    async (byMs) => {
      const { timers, turns, told } = await started();
      timers.jumpWall(byMs);
      turns.run(() => told.push(`in ${turns.nowMs}`));
      await timers.advance(0);
      expect(told.slice(0, 3)).toEqual([`jump 19 by ${byMs}`, 'in 19', 'end 19']);
    },
  );

  it('in the middle of a turn are noticed before it lets anything out', async () => {
    const { timers, turns, told } = await started();
    turns.run(() => told.push('in'));
    timers.jumpWall(JUMP_MS);
    await timers.advance(0);
    const late = 'jump 19 by 7000 this member was suspended or busy';
    expect(told.slice(0, 3)).toEqual(['in', late, 'end 19']);
  });

  it('are noticed once', async () => {
    const { timers, turns, told } = await started();
    timers.jumpWall(JUMP_MS);
    turns.run(() => undefined);
    await timers.advance(10 * TICK_MS);
    expect(told.filter((one) => one.startsWith('jump'))).toHaveLength(1);
  });

  it('are noticed once many small pauses together exceed two ticks', async () => {
    const { timers, told } = await started();
    for (let pauses = 0; pauses < 8; pauses++) {
      timers.jumpWall(TICK_MS / 3);
      await timers.advance(TICK_MS / 3);
    }
    expect(told.filter((one) => one.startsWith('jump'))).toHaveLength(1);
  });

  it('by less than two ticks, or as slowly as NTP moves them, are no jump', async () => {
    const { timers, told } = await started();
    timers.jumpWall(2 * TICK_MS);
    await timers.advance(TICK_MS);
    timers.jumpWall(-2 * TICK_MS);
    for (let ms = 0; ms < 1_000_000; ms += 1_000) {
      timers.jumpWall(0.5);
      await timers.advance(1_000);
      if (ms > 20_000) break;
    }
    expect(told.filter((one) => one.startsWith('jump'))).toEqual([]);
  });
});
