/**
 * The simulated ensemble: production members on machines, a network and a clock of the simulator.
 *
 * It implements what faults may do. It owns which members reach each other and whose disk was
 * struck; a run is the same for the same seed. It never decides what goes wrong.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import { type LoggerOptions, pino } from 'pino';
import {
  type Config,
  MemoryNetwork,
  type ReplicatedState,
  type Stores,
  simulatedConfig,
  type Timers,
  type Transport,
  type Tuning,
} from '../../simulated.js';
import type { DiskStruck } from '../contract/observation.js';
import type { ClientWay, FileChange, World } from '../contract/world.js';
import type { Random } from '../random.js';
import type { Recorder } from '../run/recorder.js';
import { MachineClock, ProcessTimers } from './clocks.js';
import type { DiskOptions } from './disk.js';
import { endsOf, hostOf, hostOfClient, wayKey, wayOf } from './hosts.js';
import { Machine } from './machine.js';
import { Reaches } from './reaches.js';
import { ResolvingTransport } from './resolving-transport.js';
import { Scheduler } from './scheduler.js';

export type { DiskOptions } from './disk.js';

export interface SimulatedWorldSetup {
  readonly members: number;
  /** The number of processes that are not members and whose links faults may cut; 0 by default. */
  readonly clients?: number;
  readonly random: Random;
  readonly recorder: Recorder;
  readonly tuning: Tuning;
  /** What differs from the usual configuration. */
  readonly settings: Partial<Config>;
  readonly network: { readonly latencyMinMs: number; readonly latencyMaxMs: number };
  readonly disk: DiskOptions;
  /** Time that a process uses between two readings of its clock, in ms; 0 by default. */
  readonly workMs?: number;
  /** Receives the members' log lines; without it they do not log. */
  readonly log?: (line: string) => void;
  /** Receives the name of each event that a member logs at info or above. */
  readonly onLogged?: (event: string) => void;
}

export interface MemberAddress {
  readonly id: PeerId;
  readonly host: string;
  readonly port: number;
}

export class SimulatedWorld implements World {
  readonly ids: readonly PeerId[];
  readonly clients: number;
  readonly addresses: readonly MemberAddress[];
  readonly config: Config;
  /** The run's own clock. */
  readonly timers: Timers;
  readonly #recorder: Recorder;
  readonly #scheduler = new Scheduler();
  readonly #network: MemoryNetwork;
  readonly #machines = new Map<PeerId, Machine>();
  readonly #cuts = new Set<string>();
  readonly #wakes: Random;
  readonly #delays = new Map<string, number>();
  readonly #reaches: Reaches;
  readonly #struck = new Set<PeerId>();
  /** Of these members, those whose processes run on what was damaged under them. */
  readonly #decayed = new Set<PeerId>();
  readonly #serving = new Set<PeerId>();
  readonly misconfigured = new Set<PeerId>();
  /** Hosts whose resolvers do not answer. */
  readonly #hanging = new Set<string>();
  #failure: { readonly error: unknown } | null = null;

  constructor(setup: SimulatedWorldSetup) {
    const { random, network } = setup;
    this.#recorder = setup.recorder;
    this.#wakes = random.fork('wakes');
    this.#reaches = new Reaches(setup.recorder, {
      ids: () => this.ids,
      nowMs: () => this.nowMs,
      isUp: (id) => this.#at(id).isUp,
      standsStill: (id) => this.#standsStill(id),
      isCut: (from, to) => this.#cuts.has(wayOf(from, to)),
    });
    this.#recorder.useClock(() => this.#scheduler.nowMs);
    this.clients = setup.clients ?? 0;
    this.ids = Array.from({ length: setup.members }, (_, index) => index + 1);
    const seats = this.ids.map((id) => ({ id, host: hostOf(id) }));
    this.config = { ...simulatedConfig(seats), ...setup.settings };
    this.addresses = this.config.servers.map(({ id, host, clientPort }) => {
      return { id, host, port: clientPort };
    });
    this.timers = new ProcessTimers(this.#scheduler, new MachineClock(this.#scheduler, 0));
    const latency = random.fork('network');
    this.#network = new MemoryNetwork(this.timers, {
      latencyMs: (from, to) => {
        const { nowMs } = this.#scheduler;
        const drawn = latency.between(network.latencyMinMs, network.latencyMaxMs);
        const delayMs = this.#delays.size === 0 ? 0 : (this.#delays.get(wayKey(from, to)) ?? 0);
        // Messages arrive at whole milliseconds, so that what arrives together is one turn, as
        // under load.
        return Math.ceil(nowMs + drawn + delayMs) - nowMs;
      },
    });
    for (const { id, host } of seats) {
      this.#machines.set(id, this.#newMachine(setup, id, host));
    }
  }

  /** The first end of a member that no fault explains: a broken invariant. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }
  get nowMs(): number {
    return this.#scheduler.nowMs;
  }
  get leader(): PeerId {
    for (const [id, { member }] of this.#machines) {
      if (member?.role === 'leading') return id;
    }
    return 0;
  }
  get struck(): ReadonlySet<PeerId> {
    return this.#struck;
  }

  leads(id: PeerId): boolean {
    return this.#at(id).member?.role === 'leading';
  }

  isUp(id: PeerId): boolean {
    return this.#at(id).isUp;
  }
  serves(id: PeerId): boolean {
    return this.#serving.has(id);
  }

  /** The transport of a process that is not a member. */
  transport(host: string): Transport {
    return this.#network.transport(host);
  }

  /** The transport of a client whose links faults may cut. */
  clientTransport(client: number): Transport {
    return this.#network.transport(hostOfClient(client));
  }

  /** Starts all members; they open as time advances. */
  startAll(): void {
    for (const id of this.ids) this.start(id);
  }

  advance(durationMs: number): Promise<void> {
    return this.#scheduler.advance(durationMs);
  }

  afterActions(count: number, action: () => void): void {
    this.#scheduler.afterActions(count, action);
  }

  /** The state of a member that is up and open. */
  stateOf(id: PeerId): ReplicatedState | null {
    return this.#at(id).member?.state ?? null;
  }

  crash(id: PeerId, how: { readonly inFlight: boolean }): boolean {
    return this.#at(id).crash(how);
  }

  crashAtChange(id: PeerId, count: number, when: 'before' | 'after'): boolean {
    const machine = this.#at(id);
    if (machine.isUp) machine.disk.dieAtChange(count, when);
    return machine.isUp;
  }

  stop(id: PeerId): boolean {
    return this.#at(id).stop();
  }

  start(id: PeerId): boolean {
    const started = this.#at(id).start();
    if (started) this.#reaches.record();
    return started;
  }

  stall(id: PeerId, durationMs: number, monotonic: 'runs' | 'stands' = 'runs'): boolean {
    const machine = this.#at(id);
    if (!machine.stall(durationMs, monotonic === 'stands')) return false;
    this.#network.hold(machine.host);
    this.#reaches.record();
    this.#scheduler.after(durationMs, () => {
      if (machine.stalledUntilMs <= this.nowMs) this.wake(id);
    });
    return true;
  }

  /**
   * Whether it reads its network or runs its timers first is drawn, because event loops differ in
   * it.
   */
  wake(id: PeerId): boolean {
    const machine = this.#at(id);
    const actions = machine.wake();
    if (actions === null) return false;
    const wakes = this.#wakes;
    const place = wakes.pick([0, actions.length, wakes.below(actions.length + 1)]);
    for (const action of actions.slice(0, place)) this.#scheduler.after(0, action);
    this.#scheduler.after(0, () => {
      if (machine.stalledUntilMs > 0) return;
      this.#network.release(machine.host, () => wakes.next());
    });
    for (const action of actions.slice(place)) this.#scheduler.after(0, action);
    this.#reaches.record();
    return true;
  }

  jumpWallClock(id: PeerId, byMs: number): void {
    const { clock } = this.#at(id);
    clock.jumpWall(byMs);
    this.#recorder.clockSet({ member: id, errorMs: clock.wallErrorMs });
  }

  setClockRate(id: PeerId, rate: number): void {
    this.#at(id).clock.setRate(rate);
  }

  cut(from: PeerId, to: PeerId): void {
    this.#cuts.add(wayOf(from, to));
    this.#network.cutOneWay(hostOf(from), hostOf(to));
    this.#reaches.record();
  }

  heal(from: PeerId, to: PeerId): void {
    this.#cuts.delete(wayOf(from, to));
    this.#network.healOneWay(hostOf(from), hostOf(to));
    this.#reaches.record();
    this.#reaches.recordLateArrival(from, to);
  }

  cutClient(client: number, id: PeerId, way: ClientWay): void {
    this.#network.cutOneWay(...endsOf(client, id, way));
  }

  healClient(client: number, id: PeerId, way: ClientWay): void {
    this.#network.healOneWay(...endsOf(client, id, way));
  }

  resetLink(a: PeerId, b: PeerId): void {
    this.#network.reset(hostOf(a), hostOf(b));
  }

  delay(from: PeerId, to: PeerId, byMs: number): void {
    const way = wayOf(from, to);
    if (byMs > 0) this.#delays.set(way, byMs);
    else this.#delays.delete(way);
  }

  slowDisk(id: PeerId, byMs: number): void {
    this.#at(id).disk.slowBy(byMs);
  }

  failNextSync(id: PeerId): void {
    this.#at(id).disk.failNextSync();
  }

  failWrite(id: PeerId, count: number): void {
    this.#at(id).disk.failWrite(count);
  }

  leaveRoom(id: PeerId, shareOfReserve: number | null): void {
    this.#at(id).disk.leaveRoom(shareOfReserve);
  }

  fillDisk(id: PeerId, full: boolean): void {
    this.#at(id).disk.setFull(full);
  }

  wipe(id: PeerId): boolean {
    const machine = this.#at(id);
    if (machine.isUp) return false;
    machine.disk.wipe();
    this.#strike(machine, 'wiped');
    return true;
  }

  flipBit(id: PeerId, dice: readonly [number, number, number]): boolean {
    const machine = this.#at(id);
    if (machine.isUp || !machine.disk.flipBit(dice)) return false;
    this.#strike(machine, 'flipped');
    return true;
  }

  flipLast(id: PeerId, dice: readonly [number, number]): boolean {
    const machine = this.#at(id);
    const flipped = machine.isUp ? null : machine.disk.flipLast(dice);
    if (flipped === null) return false;
    this.#strike(machine, 'lastFlipped', flipped.isRecorded ? undefined : flipped.keeps);
    return true;
  }

  decay(id: PeerId, dice: readonly [number, number, number]): boolean {
    const machine = this.#at(id);
    if (machine.member === null || !machine.disk.decay(dice)) return false;
    this.#decayed.add(id);
    this.#strike(machine, 'decayed');
    return true;
  }

  cutLog(id: PeerId, how: number): boolean {
    const machine = this.#at(id);
    if (machine.isUp || !machine.disk.cutLog(how)) return false;
    this.#strike(machine, 'flipped');
    return true;
  }

  keepCopy(id: PeerId): boolean {
    const machine = this.#at(id);
    if (machine.isUp) return false;
    machine.disk.keepCopy();
    return true;
  }

  isLastStartKnown(id: PeerId): boolean {
    const { start } = this.#at(id).disk;
    const others = this.ids.filter((other) => other !== id);
    return start !== null && others.every((other) => this.#at(other).disk.knowsStart(id, start));
  }

  restoreCopy(id: PeerId): boolean {
    const machine = this.#at(id);
    if (machine.isUp || !machine.disk.restoreCopy()) return false;
    this.#strike(machine, 'restored');
    return true;
  }

  othersHaveAllOf(id: PeerId): boolean {
    const { disk } = this.#at(id);
    const { last, currentEpoch } = disk;
    return this.ids.every((other) => {
      if (other === id) return true;
      const applied = this.stateOf(other)?.lastZxid ?? 0;
      const hasAll = applied >= last && this.#at(other).disk.currentEpoch >= currentEpoch;
      return this.serves(other) && hasAll;
    });
  }

  /** What a command does on the disks of members that are down; it takes simulated time. */
  async offline<T>(
    ids: readonly PeerId[],
    work: (storesOf: (id: PeerId) => Stores) => Promise<T>,
  ): Promise<T> {
    const disks = ids.map((id) => this.#at(id).disk);
    for (const disk of disks) disk.attach(this.timers);
    const result = await work((id) => {
      const { tree, log } = this.#at(id).disk;
      return { treeStore: tree, logFiles: log };
    });
    for (const disk of disks) disk.detach({ inFlight: false, keepsAll: true });
    return result;
  }

  forgeHistory(id: PeerId, dice: readonly [number, number]): boolean {
    const machine = this.#at(id);
    if (machine.isUp || !machine.disk.forgeHistory(dice)) return false;
    this.#strike(machine, 'forged');
    return true;
  }

  setFile(id: PeerId, differs: FileChange | null): boolean {
    const machine = this.#at(id);
    if (machine.isUp) return false;
    if (differs === null) this.misconfigured.delete(id);
    else this.misconfigured.add(id);
    // Until it has served again it may need members of the other list, too.
    this.#struck.add(id);
    const { members, ...others } = differs ?? {};
    const servers = this.config.servers.filter((one) => members?.includes(one.id) ?? true);
    machine.differs = differs === null ? null : { ...others, servers };
    return true;
  }

  hangResolver(id: PeerId, hangs: boolean): void {
    const { host } = this.#at(id);
    if (hangs) this.#hanging.add(host);
    else this.#hanging.delete(host);
  }

  #newMachine(setup: SimulatedWorldSetup, id: PeerId, host: string): Machine {
    const { log } = setup;
    const onLogged = (event: string) => {
      if (REPLACED.has(event) && this.#decayed.delete(id)) this.#struck.delete(id);
      setup.onLogged?.(event);
    };
    const losses = setup.random.fork(`${host} losses`);
    // Kept from one process to the next, as in `addresses.json`.
    const known = new Map<string, readonly string[]>();
    const options = {
      base: { member: id },
      level: log === undefined ? 'info' : 'debug',
      hooks: { logMethod: logMethodOf(log !== undefined, onLogged) },
      timestamp: () => `,"time":${this.nowMs}`,
    };
    return new Machine({
      id,
      host,
      scheduler: this.#scheduler,
      random: setup.random.fork(host),
      recorder: setup.recorder,
      config: this.config,
      tuning: setup.tuning,
      disk: setup.disk,
      workMs: setup.workMs ?? 0,
      logger: pino(options, { write: (line: string) => log?.(line) }),
      transport: (timers) => {
        const isHanging = () => this.#hanging.has(host);
        const parts = { timers, known, isHanging };
        return new ResolvingTransport(this.#network.transport(host), parts);
      },
      onGone: (how) => {
        // A machine that dies loses what it had not sent: some members have received it, some have
        // not.
        this.#decayed.delete(id);
        const losesSome = how !== 'stopped' && losses.chance(0.5);
        this.#network.crash(host, () => (losesSome ? losses.next() : 0));
        this.#network.release(host);
        this.#reaches.record();
      },
      onServing: (_, serves) => {
        if (!serves) {
          this.#serving.delete(id);
          return;
        }
        this.#serving.add(id);
        if (!this.#decayed.has(id)) this.#struck.delete(id);
      },
      onFailure: (error) => {
        this.#failure ??= { error };
      },
    });
  }

  #strike(machine: Machine, how: DiskStruck['how'], keeps?: Zxid): void {
    this.#struck.add(machine.id);
    machine.recordDiskStruck(how, keeps);
  }

  #standsStill(id: PeerId): boolean {
    return this.#at(id).stalledUntilMs > this.nowMs;
  }

  #at(id: PeerId): Machine {
    const machine = this.#machines.get(id);
    if (machine === undefined) throw new Error(`there is no member ${id}`);
    return machine;
  }
}

const INFO_LEVEL = 30;
/** A new generation of the files has replaced whatever was on the disk. */
const REPLACED: ReadonlySet<string> = new Set(['disk.repaired', 'disk.checkpoint_caught_up']);

/** A line is formatted only where it is read: that takes longer than all that a run does else. */
function logMethodOf(
  isRead: boolean,
  onLogged: (event: string) => void,
): NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> {
  return function logged(args, method, level) {
    const message: unknown = args[1] ?? args[0];
    if (level >= INFO_LEVEL && typeof message === 'string') {
      onLogged(message.split(':', 1)[0] ?? message);
    }
    if (isRead) method.apply(this, args);
  };
}
