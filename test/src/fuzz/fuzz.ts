/**
 * Sends mutated frames to every member over many connections, and checks that nobody else suffers.
 *
 * Meanwhile a control client for each member keeps writing and reading. Znodes and sessions are
 * data, so their number is kept small all the time, and everything that garbage has created must be
 * gone at the end. Memory is compared between an early point and the end, each time when nothing
 * else is going on and the members were asked to collect garbage. The test and the script use it.
 */
import { readFileSync } from 'node:fs';
import type { Ensemble } from '../harness/ensemble.js';
import { metricsOf } from '../harness/four-letter.js';
import type { Member } from '../harness/member.js';
import { Random } from '../harness/random.js';
import { until } from '../harness/wait.js';
import { Control, SUPER_DIGEST } from './control.js';
import { type Garbage, GarbageMaker } from './mutations.js';
import { type Attack, attack, type Outcome } from './victim.js';

export interface FuzzOptions {
  readonly ensemble: Ensemble;
  readonly frames: number;
  readonly seed: number;
  /**
   * Memory is measured after this many frames and at the end; not at all without it. The members
   * must have been started with COLLECTING.
   */
  readonly warmUpFrames?: number;
  readonly report?: (line: string) => void;
}

/** Sessions of garbage expire soon; a slow machine must not end connections by itself. */
export const FUZZ_SETTINGS = {
  minSessionTimeoutMs: 4_000,
  maxSessionTimeoutMs: 20_000,
  peerTimeoutMs: 10_000,
  superDigest: SUPER_DIGEST,
};

export interface FuzzReport {
  readonly frames: number;
  readonly replies: number;
  readonly connections: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly controlRounds: number;
  readonly controlSlowestMs: number;
  readonly memory: readonly MemberMemory[];
}

export interface MemberMemory {
  readonly member: number;
  readonly warm: Resident;
  readonly end: Resident;
}

/** The minimum of several measurements in MB: as it is, and after the garbage was collected. */
export interface Resident {
  readonly asIsMb: number;
  readonly collectedMb: number;
}

/**
 * Part of the members' environment. The young space is small, because large ones appear and
 * disappear in steps of 32 MB.
 */
export const COLLECTING = {
  NODE_OPTIONS: `--max-semi-space-size=4 --import ${new URL('./collector.js', import.meta.url).href}`,
} as const;

const PARALLEL = 12;
const FRAMES_PER_CONNECTION_MAX = 100;
const CLEAR_EVERY_FRAMES = 20_000;
/** The first 100,000 frames leave about 1,600. */
const SESSIONS_MAX = 2_000;
const SETTLE_DEADLINE_MS = 60_000;
const READINGS = 10;
const READING_EVERY_MS = 500;
/** Pages are given back in the background; the second collection finds what the first one moved. */
const COLLECTIONS = 3;
/**
 * What clients occupy at a member while they are connected, and nothing of which may remain once
 * they are gone.
 */
const TRACES = [
  ...['zk_num_alive_connections', 'zk_global_sessions', 'zk_watch_count'],
  ...['zk_ephemerals_count', 'zk_outstanding_requests', 'zk_znode_count'],
];

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { ensemble } = options;
  const before = await tracesOn(ensemble.members);
  const controls = await Promise.all(ensemble.members.map((member) => Control.start(member)));
  const run = new FuzzRun(options, controls);
  const harm = Promise.race([
    ...controls.map((control) => control.failed),
    ...ensemble.members.map(async (member) => {
      const { code, signal } = await member.exited;
      throw new Error(`member ${member.id} ended by itself: ${signal ?? code}`);
    }),
  ]);
  const { warmUpFrames, frames } = options;
  harm.catch(() => run.stop());
  const unharmed = <T>(work: Promise<T>) => Promise.race([harm.then(() => work), work]);
  if (warmUpFrames !== undefined) await unharmed(run.attackUntil(warmUpFrames));
  const warm = warmUpFrames === undefined ? [] : await unharmed(run.memory());
  await unharmed(run.attackUntil(frames));
  const end = warmUpFrames === undefined ? [] : await unharmed(run.memory());
  await unharmed(run.clear());
  for (const control of controls) await control.remove();
  await until('nothing is left of any client', SETTLE_DEADLINE_MS, async () => {
    const after = await tracesOn(ensemble.members);
    if (after === before) return true;
    throw new Error(`there is ${after}, but before there was ${before}`);
  });
  return {
    ...run.totals(),
    controlRounds: controls.reduce((sum, control) => sum + control.rounds, 0),
    controlSlowestMs: Math.max(...controls.map((control) => control.slowestMs)),
    memory: warm.flatMap((atWarm, index) => {
      const atEnd = end[index];
      return atEnd === undefined ? [] : [{ member: index + 1, warm: atWarm, end: atEnd }];
    }),
  };
}

class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #controls: readonly Control[];
  readonly #random: Random;
  readonly #garbage: GarbageMaker;
  readonly #outcomes: Record<Outcome, number> = { answered: 0, closed: 0, left: 0 };
  #frames = 0;
  #connections = 0;
  #cleared = 0;
  #replies = 0;
  #stopped = false;

  constructor(options: FuzzOptions, controls: readonly Control[]) {
    this.#options = options;
    this.#controls = controls;
    this.#random = new Random(options.seed);
    this.#garbage = new GarbageMaker(this.#random);
  }

  /** The attacks in progress are the last ones. */
  stop(): void {
    this.#stopped = true;
  }

  async attackUntil(frames: number): Promise<void> {
    while (this.#frames < frames && !this.#stopped) {
      const until = Math.min(frames, this.#cleared + CLEAR_EVERY_FRAMES);
      const worker = async () => {
        while (this.#frames < until && !this.#stopped) {
          const { outcome, replies } = await attack(this.#nextAttack());
          this.#outcomes[outcome] += 1;
          this.#replies += replies;
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, worker));
      this.#cleared = this.#frames;
      const znodes = await this.clear();
      const rounds = this.#controls.map((control) => control.rounds).join(' ');
      const text = `${this.#frames} frames, ${znodes} znodes cleared, control rounds ${rounds}`;
      this.#options.report?.(`${text}, rss ${this.#members.map(residentMb).join(' ')} MB`);
      await this.#sessionsAtMost(SESSIONS_MAX);
    }
  }

  async clear(): Promise<number> {
    return (await this.#controls[0]?.clear()) ?? 0;
  }

  /** One line per member, once only the control clients are left, nearly idle. */
  async memory(): Promise<readonly Resident[]> {
    await this.clear();
    await this.#sessionsAtMost(this.#controls.length);
    for (const control of this.#controls) control.slowDown();
    const asIs = await this.#leastResident();
    let collected = asIs;
    for (let round = 0; round < COLLECTIONS; round += 1) {
      for (const member of this.#members) process.kill(member.pid, 'SIGUSR2');
      const least = await this.#leastResident();
      collected = collected.map((before, index) => Math.min(before, least[index] ?? before));
    }
    for (const control of this.#controls) control.speedUp();
    return asIs.map((asIsMb, index) => ({ asIsMb, collectedMb: collected[index] ?? 0 }));
  }

  async #leastResident(): Promise<readonly number[]> {
    const least = this.#members.map(() => Number.POSITIVE_INFINITY);
    for (let reading = 0; reading < READINGS; reading += 1) {
      this.#members.forEach((member, index) => {
        least[index] = Math.min(least[index] ?? 0, residentMb(member));
      });
      await new Promise((resolve) => {
        setTimeout(resolve, READING_EVERY_MS);
      });
    }
    return least;
  }

  /** Waits for sessions of garbage to expire. */
  async #sessionsAtMost(max: number): Promise<void> {
    await until(`at most ${max} sessions are left`, SETTLE_DEADLINE_MS, async () => {
      const metrics = await metricsOf(this.#members[0]?.clientPort ?? 0);
      return Number(metrics.get('zk_global_sessions')) <= max ? true : undefined;
    });
  }

  totals() {
    const { answered, closed, left } = this.#outcomes;
    const outcomes = { answered, closed, left };
    const connections = this.#connections;
    return { frames: this.#frames, replies: this.#replies, connections, outcomes };
  }

  get #members(): readonly Member[] {
    return this.#options.ensemble.members;
  }

  #nextAttack(): Attack {
    const random = this.#random;
    const count = 1 + random.below(FRAMES_PER_CONNECTION_MAX);
    const isWild = random.below(3) === 0;
    const parts: Garbage[] = [this.#garbage.connect(isWild)];
    for (let index = 0; index < count; index += 1) parts.push(this.#garbage.frame(isWild));
    this.#frames += parts.length;
    this.#connections += 1;
    const isRaw = random.below(50) === 0;
    const bytes = Buffer.concat(
      isRaw ? [random.bytes(random.below(400))] : parts.map((part) => part.bytes),
    );
    return {
      port: random.pick(this.#members).clientPort,
      bytes,
      mustAnswer: !isRaw && parts.every((part) => part.intact),
      resets: random.below(2) === 0,
    };
  }
}

/** One line; it is equal when the state is the same. */
async function tracesOn(members: readonly Member[]): Promise<string> {
  const metrics = await Promise.all(members.map((member) => metricsOf(member.clientPort)));
  return metrics
    .map((all, index) => {
      const traces = TRACES.map((name) => `${name} ${all.get(name)}`);
      return `on member ${members[index]?.id}: ${traces.join(', ')}`;
    })
    .join('; ');
}

function residentMb(member: Member): number {
  const status = readFileSync(`/proc/${member.pid}/status`, 'utf8');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return Math.round(Number(kilobytes) / 102.4) / 10;
}
