/** The simulated world: what faults do to members, and that a run is a function of its seed. */

import { describe, expect, it } from 'vitest';
import { MemoryClient } from '../../simulated.js';
import { Random } from '../random.js';
import { Recorder } from '../run/recorder.js';
import { MachineClock, ProcessTimers } from './clocks.js';
import { SimulatedWorld, type SimulatedWorldSetup } from './index.js';
import { Scheduler } from './scheduler.js';

const PATIENCE_MS = 60_000;

function newWorld(setup: Partial<SimulatedWorldSetup> = {}): SimulatedWorld {
  return new SimulatedWorld({
    members: 3,
    random: new Random(7),
    recorder: new Recorder({ checkers: [] }),
    tuning: {},
    settings: {},
    network: { latencyMinMs: 0.2, latencyMaxMs: 2 },
    disk: { syncMinMs: 0.2, syncMaxMs: 2 },
    ...setup,
  });
}

async function until(world: SimulatedWorld, what: string, condition: () => boolean) {
  for (let waitedMs = 0; !condition(); waitedMs += 5) {
    if (waitedMs > PATIENCE_MS) throw new Error(`never ${what}`);
    await world.advance(5);
  }
}

async function serving(setup: Partial<SimulatedWorldSetup> = {}): Promise<SimulatedWorld> {
  const world = newWorld(setup);
  world.startAll();
  await until(world, 'did all serve', () => world.ids.every((id) => world.serves(id)));
  return world;
}

async function clientOf(world: SimulatedWorld, id: number): Promise<MemoryClient> {
  const address = world.addresses[id - 1];
  if (address === undefined) throw new Error(`no member ${id}`);
  const dial = world.transport('clients').dial(address, 1000);
  await world.advance(5);
  const client = new MemoryClient(await dial);
  client.connect();
  await until(world, 'was a session opened', () => client.connected !== null);
  return client;
}

async function write(world: SimulatedWorld, client: MemoryClient, path: string): Promise<void> {
  const xid = client.create(path);
  await until(world, `was ${path} answered`, () => client.errorOf(xid) !== undefined);
  expect(client.errorOf(xid)).toBe(0);
}

function digests(world: SimulatedWorld): Set<string | undefined> {
  return new Set(world.ids.map((id) => world.stateOf(id)?.digest()));
}

describe('the scheduler', () => {
  it('runs actions by due time, then by the order of the calls, and settles promises in between', async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    scheduler.after(2, () => seen.push(`late ${scheduler.nowMs}`));
    scheduler.after(1, () => {
      void Promise.resolve().then(() => seen.push('promise'));
      scheduler.next(() => seen.push('urgent'));
    });
    scheduler.after(1, () => seen.push('second'));
    scheduler.after(1, () => seen.push('never')).cancel();
    await scheduler.advance(1);
    expect(seen).toEqual(['promise', 'urgent', 'second']);
    await scheduler.advance(5);
    expect(seen.at(-1)).toBe('late 2');
    expect(scheduler.nowMs).toBe(6);
  });
});

it('a scheduler whose time no longer advances reports it, and does not hang', async () => {
  const scheduler = new Scheduler();
  const again = () => void scheduler.after(0, again);
  again();
  await expect(scheduler.advance(1)).rejects.toThrow('time stands still at 0 ms');
});

describe('the clocks of a machine', () => {
  it('run at its rate, and what comes due during a stall runs afterwards in order', async () => {
    const scheduler = new Scheduler();
    const clock = new MachineClock(scheduler, 1000);
    const timers = new ProcessTimers(scheduler, clock);
    const seen: string[] = [];
    clock.setRate(2);
    timers.after(10, () => seen.push(`a ${scheduler.nowMs} ${timers.nowMs()}`));
    timers.after(12, () => seen.push(`b ${scheduler.nowMs}`));
    timers.after(14, () => seen.push('never')).cancel();
    const cancelled = timers.after(14, () => seen.push('never'));
    timers.stall();
    await scheduler.advance(20);
    expect(seen).toEqual([]);
    cancelled.cancel();
    for (const action of timers.wake()) scheduler.after(0, action);
    await scheduler.advance(0);
    expect(seen).toEqual(['a 20 1040', 'b 20']);
    timers.after(1, () => seen.push('never'));
    timers.kill();
    await scheduler.advance(10);
    expect(seen).toHaveLength(2);
  });
});

describe('a process whose work takes time', () => {
  it('reads a later time each time, and never far ahead of its machine', async () => {
    const scheduler = new Scheduler();
    const timers = new ProcessTimers(scheduler, new MachineClock(scheduler, 1000), 2);
    expect([timers.nowMs(), timers.nowMs(), timers.nowMs()]).toEqual([1000, 1002, 1004]);
    expect([timers.nowMs(), timers.nowMs()]).toEqual([1005, 1005]);
    await scheduler.advance(1);
    expect(timers.nowMs()).toBe(1006);
    await scheduler.advance(100);
    expect(timers.nowMs()).toBe(1101);
  });
});

describe('the monotonic clock of a machine that is suspended', () => {
  it('stands still, timers with it, while the wall clock goes on', async () => {
    const scheduler = new Scheduler();
    const clock = new MachineClock(scheduler, 1000);
    const timers = new ProcessTimers(scheduler, clock);
    const seen: string[] = [];
    for (const ms of [10, 30]) timers.after(ms, () => seen.push(`${ms} ${scheduler.nowMs}`));
    await scheduler.advance(5);
    const wallMs = timers.wallMs();
    clock.standStill();
    timers.stall();
    await scheduler.advance(20);
    expect(timers.nowMs()).toBe(1005);
    clock.goOn();
    for (const action of timers.wake()) scheduler.after(0, action);
    expect([timers.nowMs(), timers.wallMs() - wallMs, clock.wallErrorMs]).toEqual([1005, 20, 0]);
    await scheduler.advance(50);
    expect(seen).toEqual(['10 30', '30 50']);
  });
});

describe('a simulated world', () => {
  it('is the same for the same seed, crashes and cuts included', async () => {
    const run = async () => {
      const recorder = new Recorder({ checkers: [] });
      const world = await serving({ recorder, random: new Random(99) });
      const client = await clientOf(world, 1);
      for (let i = 0; i < 20; i++) client.create(`/n${i}`);
      await world.advance(20);
      world.crash(world.leader, { inFlight: true });
      await world.advance(3000);
      for (const id of world.ids) world.start(id);
      world.cut(1, 2);
      await world.advance(3000);
      expect(world.failure).toBeNull();
      return recorder.digest();
    };
    expect(await run()).toBe(await run());
  });

  it('keeps what was acknowledged when all members die', async () => {
    const world = await serving();
    const client = await clientOf(world, 1);
    await write(world, client, '/kept');
    for (const id of world.ids) world.crash(id, { inFlight: false });
    for (const id of world.ids) world.start(id);
    await until(world, 'did all serve again', () => world.ids.every((id) => world.serves(id)));
    const again = await clientOf(world, 2);
    const xid = again.exists('/kept');
    await until(world, 'was exists answered', () => again.errorOf(xid) !== undefined);
    expect(again.errorOf(xid)).toBe(0);
  });

  it('lets a process die before or after a change of its disk', async () => {
    for (const when of ['before', 'after'] as const) {
      const world = await serving();
      const victim = world.leader;
      const client = await clientOf(world, victim);
      expect(world.crashAtChange(victim, 1, when)).toBe(true);
      client.create('/at-death');
      await until(world, 'did it die', () => !world.isUp(victim));
      world.start(victim);
      await until(world, 'did it serve again', () => world.ids.every((id) => world.serves(id)));
      await until(world, 'were they equal', () => digests(world).size === 1);
      expect(world.failure).toBeNull();
    }
  });

  it('ends a member whose disk fails, and does not count that as a failure of the product', async () => {
    for (const fault of ['sync', 'full'] as const) {
      const world = await serving();
      const victim = world.leader;
      const client = await clientOf(world, victim === 1 ? 2 : 1);
      if (fault === 'sync') world.failNextSync(victim);
      else world.fillDisk(victim, true);
      client.create('/fatal');
      await until(world, 'did it end', () => !world.isUp(victim));
      world.fillDisk(victim, false);
      world.start(victim);
      await until(world, 'did it serve again', () => world.ids.every((id) => world.serves(id)));
      expect(world.failure).toBeNull();
    }
  });

  it('restores a wiped and a damaged member from the others', async () => {
    const world = await serving();
    await write(world, await clientOf(world, 2), '/data');
    for (const strike of ['wipe', 'flip'] as const) {
      world.crash(1, { inFlight: false });
      const struck = strike === 'wipe' ? world.wipe(1) : world.flipBit(1, [0.2, 0.9, 0.5]);
      expect(struck).toBe(true);
      expect([...world.struck]).toEqual([1]);
      world.start(1);
      await until(world, 'did it serve again', () => world.serves(1));
      expect([...world.struck]).toEqual([]);
      await until(world, 'were they equal', () => digests(world).size === 1);
    }
    expect(world.failure).toBeNull();
  });

  it('damages the disk of a member that runs, which repairs it and counts as struck until then', async () => {
    const tuning = { scrubRestMs: 50, scrubBytesPerSecond: 1_000_000 };
    const world = await serving({ tuning });
    const client = await clientOf(world, 1);
    await write(world, client, '/a');
    expect(world.decay(1, [0.2, 0, 0.5])).toBe(true);
    expect([...world.struck]).toEqual([1]);
    await until(world, 'was it repaired', () => world.struck.size === 0);
    expect(world.isUp(1)).toBe(true);
    world.crash(1, { inFlight: false });
    expect(world.decay(1, [0.2, 0, 0.5]), 'while it is down').toBe(false);
    world.start(1);
    await until(world, 'did it serve again', () => world.serves(1));
    expect(world.failure).toBeNull();
  });

  it('hides a stalled or cut-off leader, and another member becomes leader', async () => {
    for (const fault of ['stall', 'cut'] as const) {
      const world = await serving();
      const victim = world.leader;
      const others = world.ids.filter((id) => id !== victim);
      if (fault === 'stall') world.stall(victim, 5000);
      else for (const other of others) world.cut(victim, other);
      await until(world, 'was there another', () => others.includes(world.leader));
      for (const other of others) world.heal(victim, other);
      await until(world, 'did it follow', () => world.ids.every((id) => world.serves(id)));
      expect(world.failure).toBeNull();
    }
  });

  it('lets a stalled member continue when it is woken, and not again at the end of the stall', async () => {
    const world = await serving();
    const victim = world.leader;
    expect(world.wake(victim)).toBe(false);
    world.stall(victim, 50_000);
    await until(world, 'was there another', () => ![0, victim].includes(world.leader));
    expect(world.wake(victim)).toBe(true);
    await until(world, 'did it follow', () => world.ids.every((id) => world.serves(id)));
    expect(world.nowMs).toBeLessThan(20_000);
    await world.advance(50_000);
    expect(world.failure).toBeNull();
  });

  it('holds back what a client sends or receives, until that direction is healed', async () => {
    for (const way of ['toMember', 'toClient'] as const) {
      const world = await serving({ clients: 1 });
      const address = world.addresses[0];
      if (address === undefined) throw new Error('no member');
      const dial = world.clientTransport(1).dial(address, 1000);
      await world.advance(5);
      const client = new MemoryClient(await dial);
      client.connect();
      await until(world, 'was a session opened', () => client.connected !== null);
      world.cutClient(1, 1, way);
      const before = world.stateOf(1)?.tree.nodeCount ?? 0;
      const xid = client.create('/held');
      await world.advance(1000);
      expect(client.errorOf(xid)).toBeUndefined();
      const isDone = (world.stateOf(1)?.tree.nodeCount ?? 0) > before;
      expect(isDone, way).toBe(way === 'toClient');
      world.healClient(1, 1, way);
      await until(world, 'was it answered', () => client.errorOf(xid) === 0);
    }
  });

  it('stops a member cleanly and starts it with all of its data', async () => {
    const world = await serving();
    expect(world.stop(3)).toBe(true);
    await until(world, 'did it stop', () => !world.isUp(3));
    expect(world.start(3)).toBe(true);
    await until(world, 'did it serve', () => world.serves(3));
    expect(world.failure).toBeNull();
  });
});
