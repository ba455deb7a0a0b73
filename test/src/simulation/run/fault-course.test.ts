/** The course of a plan's faults on a world that does nothing, with time moved by hand. */
import { describe, expect, it } from 'vitest';
import type { PlannedFault } from '../contract/fault.js';
import { FakeWorld } from '../faults/fake-world.js';
import { FaultCourse } from './fault-course.js';

function fault(index: number, kind: string, times: { atMs: number; forMs: number }): PlannedFault {
  return { index, kind, ...times, dice: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5] };
}

function courseOf(world: FakeWorld, plan: readonly PlannedFault[]) {
  const notes: string[] = [];
  const course = new FaultCourse(world, plan, (text) => void notes.push(text));
  const moveTo = (ms: number) => {
    world.nowMs = ms;
    course.run();
  };
  return { course, notes, moveTo };
}

describe('the course of faults', () => {
  it('begins and ends each fault at its time, and then restarts members', () => {
    const world = new FakeWorld(3);
    const { course, notes, moveTo } = courseOf(world, [
      fault(1, 'crash', { atMs: 10, forMs: 20 }),
      fault(2, 'isolate-leader', { atMs: 25, forMs: 1000 }),
    ]);
    expect(course.nextMs).toBe(10);
    moveTo(10);
    expect(world.isUp(1)).toBe(false);
    moveTo(25);
    expect(world.cuts.size).toBe(4);
    moveTo(30);
    expect(world.isUp(1)).toBe(false);
    moveTo(30 + 750);
    expect(world.isUp(1)).toBe(true);
    expect(notes).toEqual([
      'fault 1 crash for 20 ms',
      'fault 2 isolate-leader for 1000 ms',
      'fault 1 crash ends',
    ]);
    expect([...course.begun]).toEqual([
      ['crash', 1],
      ['isolate-leader', 1],
    ]);
  });

  it('heals all active faults, starts all members, and does nothing more', () => {
    const world = new FakeWorld(3);
    const { course, moveTo } = courseOf(world, [
      fault(1, 'crash', { atMs: 0, forMs: 5000 }),
      fault(2, 'full-disk', { atMs: 0, forMs: 5000 }),
      fault(3, 'partition-flapping', { atMs: 0, forMs: 5000 }),
      fault(4, 'crash-leader', { atMs: 4000, forMs: 10 }),
    ]);
    moveTo(100);
    expect(world.up.size).toBe(2);
    course.heal();
    expect([world.up.size, world.cuts.size, world.full.size]).toEqual([3, 0, 0]);
    expect(course.nextMs).toBe(Number.POSITIVE_INFINITY);
    moveTo(10_000);
    expect([world.up.size, world.cuts.size]).toEqual([3, 0]);
  });

  it('records why a fault is left out', () => {
    const world = new FakeWorld(2);
    const { course, notes, moveTo } = courseOf(world, [fault(1, 'wipe', { atMs: 1, forMs: 9 })]);
    moveTo(1);
    expect(notes).toEqual(['fault 1 wipe left out: of 2 members 0 may be struck']);
    expect([...course.leftOut]).toEqual([['wipe', 1]]);
    expect(world.calls).toEqual([]);
  });
});
