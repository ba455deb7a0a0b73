/**
 * The checker of room accepts what members do without room, and rejects a refusal without need, a
 * missing one, and a spared member that goes on. Member 1 leads; the steps are made by hand, and
 * what a rule relies on has lasted for 20 s.
 */
import { describe, expect, it } from 'vitest';
import type { ZabInput, ZabOutput } from '../../../simulated.js';
import { newRoom } from './room.js';
import {
  append,
  from,
  note,
  proposals,
  role,
  send,
  TICK,
  Told,
  vote,
} from './testing/observations.js';

type Room = Extract<ZabInput, { kind: 'room' }>['room'];

const LASTING_MS = 20_000;

function led(): Told {
  const run = new Told(newRoom).started(1).started(2).started(3);
  run.reach(1, 2, 3).reach(2, 1, 3).reach(3, 1, 2);
  run.step(1, TICK, role('leading', 1, 1));
  return run.step(2, TICK, role('following', 1, 1)).step(3, TICK, role('following', 1, 1));
}

function room(run: Told, member: number, is: Room): Told {
  return run.step(member, { kind: 'room', room: is });
}

function refuses(isOn: boolean): ZabOutput {
  return { kind: 'refusal', isOn, full: [] };
}

function spares(...ids: readonly number[]): ZabOutput {
  return send(2, vote({ state: 'leading', leader: 1, spares: ids }));
}

function later(run: Told): Told {
  return run.wait(LASTING_MS).step(1, TICK).step(2, TICK).step(3, TICK);
}

describe('the checker of room', () => {
  it('rejects data refused for long while a quorum has room, and accepts a moment of it', () => {
    const refusing = () => room(led(), 3, 'full').step(1, TICK, refuses(true));
    const accepting = refusing().wait(3_000).step(1, TICK, refuses(false), spares(3));
    accepting.wait(LASTING_MS).step(1, TICK);
    expect(() => later(room(led(), 3, 'full'))).toThrow('does not do without 3, which is full');
    expect(() => later(refusing())).toThrow('refused data since');
  });

  it('accepts a refusal while members with room are no quorum, or one of them is new', () => {
    later(room(room(led(), 3, 'full'), 2, 'scarce').step(1, TICK, refuses(true)));
    const run = room(room(led(), 3, 'full'), 2, 'full').step(1, TICK, refuses(true));
    later(run);
    room(run, 2, 'enough').step(1, TICK);
    expect(() => later(run)).toThrow('1, 2 have room');
  });

  it('accepts that a leader refuses data after it has handed over in vain', () => {
    const run = room(led(), 1, 'full').step(1, TICK, note('disk.hands_over'));
    run.step(1, TICK, role('looking', 0, 1)).step(1, TICK, role('leading', 1, 2));
    later(run.step(1, TICK, refuses(true)));
  });

  it('rejects a leader that accepts data while members with room are no quorum', () => {
    const run = room(room(led(), 3, 'full'), 2, 'full');
    expect(() => later(run)).toThrow('refuses no data; 2, 3 are full, only 1 are not');
    // One that is down has none, either.
    const down = room(led(), 3, 'full').gone(2).reach(1, 3);
    expect(() => later(down)).toThrow('refuses no data; 3 are full');
    // Nobody in sync has to write without room.
    later(led().gone(2).reach(1, 3));
  });

  it('rejects a leader that does without a majority, or without one that has room', () => {
    expect(() => led().step(1, TICK, spares(2, 3))).toThrow('the others are no quorum');
    const run = led().step(1, TICK, spares(3));
    expect(() => later(run)).toThrow('does without member 3, which has room');
  });

  it('rejects a spared member that follows all the same, or logs after it has stepped out', () => {
    const spared = () => room(led(), 3, 'full').step(1, TICK, spares(3));
    expect(() => later(spared())).toThrow('follows 1, which does without it');
    const out = () => spared().step(3, TICK, note('disk.stepped_out'), note('role.looking'));
    later(out().step(3, TICK, role('looking', 0, 1)));
    const more = append(1, proposals(1, 1, 1));
    const asked = from(1, { kind: 'propose', batch: proposals(1, 1, 1) });
    expect(() => out().step(3, asked, more)).toThrow('although it has stepped out');
    out()
      .step(3, TICK, note('role.following', { leader: 1 }))
      .step(3, asked, more);
  });
});
