/**
 * For tests of checkers: a real ensemble in the simulated world, with clients that write and faults
 * drawn from the seed, all within what the design promises to survive.
 *
 * It is small on purpose, and does not use the run's plans: it shows that the checkers accept the
 * product.
 */
import { MemoryClient } from '../../../../simulated.js';
import type { NewChecker } from '../../../contract/checker.js';
import { Random } from '../../../random.js';
import { Recorder } from '../../../run/recorder.js';
import { SimulatedWorld } from '../../../world/index.js';

export interface TurmoilOptions {
  readonly seed: number;
  readonly members: number;
  readonly rounds: number;
  /** A log that is purged after a few writes, so that a SNAP replaces a DIFF. */
  readonly isLogTiny: boolean;
}

export interface TurmoilResult {
  readonly applied: number;
  readonly steps: number;
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<string, number>;
}

const LATENCY_MAX_MS = 2;
const PATIENCE_MS = 120_000;
const TINY_LOG = {
  logKeepBytes: 2_000,
  logSegmentBytes: 4_000,
  checkpointLogBytes: 1_000,
  checkpointBlockBytes: 500,
  windowBytes: 500,
};

/** Throws what the checkers or an invariant found; the message contains the seed. */
export async function turmoil(
  options: TurmoilOptions,
  checkers: readonly NewChecker[],
  trace?: (line: string) => void,
): Promise<TurmoilResult> {
  const run = new Turmoil(options, checkers, trace);
  try {
    return await run.run();
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`seed ${options.seed}, ${options.members} members: ${text}`, { cause: error });
  }
}

class Turmoil {
  readonly #options: TurmoilOptions;
  readonly #recorder: Recorder;
  readonly #world: SimulatedWorld;
  readonly #random: Random;
  readonly #faults = new Map<string, number>();
  #clients: MemoryClient[] = [];
  #names = 0;

  constructor(
    options: TurmoilOptions,
    checkers: readonly NewChecker[],
    trace?: (line: string) => void,
  ) {
    const random = new Random(options.seed);
    const facts = {
      members: options.members,
      peerTimeoutMs: 1000,
      heartbeatMs: 100,
      clockDrift: 0,
      latencyMaxMs: LATENCY_MAX_MS,
      clockToleranceMs: 10_000,
      reapEveryMs: 60_000,
    };
    this.#options = options;
    this.#random = random.fork('turmoil');
    this.#recorder = new Recorder({
      checkers: checkers.map((newChecker) => newChecker(facts)),
      ...(trace === undefined ? {} : { trace }),
    });
    this.#world = new SimulatedWorld({
      members: options.members,
      random,
      recorder: this.#recorder,
      tuning: options.isLogTiny ? TINY_LOG : {},
      settings: {},
      network: { latencyMinMs: 0.2, latencyMaxMs: LATENCY_MAX_MS },
      disk: { syncMinMs: 0.2, syncMaxMs: 4 },
      ...(trace === undefined ? {} : { log: trace }),
    });
  }

  async run(): Promise<TurmoilResult> {
    const world = this.#world;
    world.startAll();
    await this.#until('did all serve', () => world.ids.every((id) => world.serves(id)));
    for (let round = 0; round < this.#options.rounds; round++) {
      await this.#connect();
      this.#write();
      if (this.#random.chance(0.3)) this.#strike();
      await this.#advance(this.#random.below(this.#random.chance(0.25) ? 4000 : 60));
    }
    await this.#heal();
    const { applied, steps } = this.#recorder.counts;
    return { applied, steps, faults: this.#faults };
  }

  async #heal(): Promise<void> {
    const world = this.#world;
    for (const id of world.ids) {
      world.fillDisk(id, false);
      for (const other of world.ids) if (other !== id) world.heal(id, other);
    }
    await this.#until('did all serve again', () => {
      for (const id of world.ids) world.start(id);
      return world.ids.every((id) => world.serves(id));
    });
    await this.#connect();
    this.#write();
    await this.#until('were all equal', () => {
      // A death at the n-th change of a disk may still be due.
      for (const id of world.ids) world.start(id);
      const digests = world.ids.map((id) => world.stateOf(id)?.digest());
      return digests[0] !== undefined && new Set(digests).size === 1;
    });
    const members = world.ids.flatMap((member) => {
      const state = world.stateOf(member);
      return state === null ? [] : [{ member, state, applied: state.lastZxid }];
    });
    this.#recorder.end({ members });
    this.#mustBeWell();
  }

  async #connect(): Promise<void> {
    this.#clients = this.#clients.filter((client) => !client.closed);
    const address = this.#random.pick(this.#world.addresses);
    if (this.#clients.length > 4) return;
    const dial = this.#world.transport('clients').dial(address, 1000);
    const stream = dial.catch(() => null);
    await this.#advance(5);
    void stream.then((found) => {
      if (found === null) return;
      const client = new MemoryClient(found);
      client.connect(undefined, 4000);
      this.#clients.push(client);
    });
    await this.#advance(1);
  }

  #write(): void {
    for (const client of this.#clients) {
      const count = this.#random.below(20);
      for (let i = 0; i < count && !client.closed; i++) {
        this.#names += 1;
        const isEphemeral = this.#random.chance(0.3);
        client.create(`/n${this.#names}`, 'x'.repeat(this.#random.below(200)), isEphemeral ? 1 : 0);
        if (this.#random.chance(0.3)) client.setData('/n1', `${this.#names}`);
      }
      if (this.#random.chance(0.1)) client.drop();
    }
  }

  #strike(): void {
    const id = this.#random.pick(this.#world.ids);
    const what = this.#random.pick(FAULTS);
    if (FAULT_TABLE[what](this.#world, id, this.#random)) {
      this.#faults.set(what, (this.#faults.get(what) ?? 0) + 1);
    }
  }

  async #advance(ms: number): Promise<void> {
    await this.#world.advance(ms);
    this.#mustBeWell();
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    for (let waitedMs = 0; !condition(); waitedMs += 10) {
      if (waitedMs > PATIENCE_MS) throw new Error(`never ${what}`);
      await this.#advance(10);
    }
  }

  #mustBeWell(): void {
    if (this.#recorder.broken !== null) throw this.#recorder.broken;
    if (this.#world.failure !== null) throw this.#world.failure.error;
  }
}

type Fault = (world: SimulatedWorld, id: number, random: Random) => boolean;

/** Strikes a minority, and the next victims only once the last ones serve again. */
function mayStrike(world: SimulatedWorld): boolean {
  return world.ids.length > 2 && world.struck.size === 0;
}

const FAULT_TABLE = {
  crash: (world, id, random) => world.crash(id, { inFlight: random.chance(0.5) }),
  crashAll: (world, _, random) => {
    for (const id of world.ids) world.crash(id, { inFlight: random.chance(0.5) });
    return true;
  },
  crashAtChange: (world, id, random) =>
    world.crashAtChange(id, 1 + random.below(20), random.chance(0.5) ? 'before' : 'after'),
  stop: (world, id) => world.stop(id),
  start: (world, id) => world.start(id),
  startAll: (world) => world.ids.filter((id) => world.start(id)).length > 0,
  stall: (world, id, random) => world.stall(id, random.below(3000)),
  cutOff: (world, id) => {
    for (const other of world.ids) if (other !== id) world.cut(id, other);
    return true;
  },
  healAll: (world) => {
    for (const a of world.ids) for (const b of world.ids) if (a !== b) world.heal(a, b);
    return true;
  },
  reset: (world, id, random) => {
    const other = random.pick(world.ids);
    if (other !== id) world.resetLink(id, other);
    return other !== id;
  },
  failSync: (world, id) => {
    world.failNextSync(id);
    return true;
  },
  wipe: (world, id) => {
    if (!mayStrike(world) || !world.crash(id, { inFlight: false })) return false;
    return world.wipe(id) && world.start(id);
  },
  flip: (world, id, random) => {
    if (!mayStrike(world) || !world.crash(id, { inFlight: false })) return false;
    const flipped = world.flipBit(id, [random.next(), random.next(), random.next()]);
    return world.start(id) && flipped;
  },
} as const satisfies Record<string, Fault>;

const FAULTS = [
  ...(['crash', 'crashAll', 'crashAtChange', 'stop', 'stall', 'cutOff', 'reset'] as const),
  ...(['failSync', 'wipe', 'flip', 'start', 'start', 'startAll', 'startAll'] as const),
  ...(['healAll', 'healAll'] as const),
] as const;
