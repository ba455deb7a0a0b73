/**
 * What another leadership has left is valid in itself, and the ensemble tells it apart: the member
 * gives it up and is brought up to date.
 */
import { describe, expect, it } from 'vitest';
import type { Checker } from '../contract/checker.js';
import { Random } from '../random.js';
import { Recorder } from '../run/recorder.js';
import { SimulatedWorld } from './index.js';

const DICE = [0.3, 0.9] as const;

interface Watcher extends Checker {
  /** Members that have discarded what another leadership proposed. */
  readonly diverged: number[];
  readonly damaged: (string | null)[];
}

function watching(): Watcher {
  const diverged: number[] = [];
  const damaged: (string | null)[] = [];
  return {
    property: 'none',
    diverged,
    damaged,
    onStarted: ({ recovered }) => void damaged.push(recovered.damaged),
    onStep: ({ member, outputs }) => {
      const isNoted = outputs.some(
        (one) => one.kind === 'note' && one.event === 'history.diverged',
      );
      if (isNoted) diverged.push(member);
    },
  };
}

function newWorld(watcher: Watcher): SimulatedWorld {
  return new SimulatedWorld({
    members: 3,
    random: new Random(5),
    recorder: new Recorder({ checkers: [watcher] }),
    tuning: {},
    settings: {},
    network: { latencyMinMs: 0.2, latencyMaxMs: 2 },
    disk: { syncMinMs: 0.2, syncMaxMs: 2 },
  });
}

async function untilServing(world: SimulatedWorld, ids: readonly number[]): Promise<void> {
  for (let waitedMs = 0; !ids.every((id) => world.serves(id)); waitedMs += 5) {
    if (waitedMs > 60_000) throw new Error('they do not serve');
    await world.advance(5);
  }
}

describe('a forged history', () => {
  it.each([1, 2, 3])('of member %i is read as a sound one, and given up', async (id) => {
    const watcher = watching();
    const world = newWorld(watcher);
    world.startAll();
    await untilServing(world, world.ids);
    expect(world.forgeHistory(id, DICE), 'while it runs').toBe(false);
    world.crash(id, { inFlight: false });
    const others = world.ids.filter((other) => other !== id);
    await untilServing(world, others);
    expect(world.othersHaveAllOf(id)).toBe(true);
    expect(world.forgeHistory(id, DICE)).toBe(true);
    expect([...world.struck]).toEqual([id]);
    for (const other of others) world.crash(other, { inFlight: false });
    expect(world.othersHaveAllOf(id), 'while they are down').toBe(false);
    world.startAll();
    await untilServing(world, world.ids);
    await world.advance(500);
    expect(watcher.diverged).toEqual([id]);
    expect(new Set(watcher.damaged)).toEqual(new Set([null]));
    expect(new Set(world.ids.map((one) => world.stateOf(one)?.digest())).size).toBe(1);
  });

  it('needs a history', () => {
    expect(newWorld(watching()).forgeHistory(1, DICE)).toBe(false);
  });
});
