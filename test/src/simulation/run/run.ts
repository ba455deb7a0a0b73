/**
 * One run: an ensemble and its clients under the faults of a plan, then without any.
 *
 * In the safety phase checkers watch what the faults cause. Then everything is healed, and in the
 * liveness phase every member must serve, be at one zxid with one digest, and every client must
 * have its answers, within a bound of simulated time. The result is a function of the options
 * alone.
 */
import { formatZxid, type PeerId } from '@rookery/protocol';
import { Clients } from '../clients/index.js';
import type { NewChecker } from '../contract/checker.js';
import type { End } from '../contract/observation.js';
import { Random } from '../random.js';
import { SimulatedWorld } from '../world/index.js';
import { ALL_CHECKERS } from './checkers.js';
import { FaultCourse } from './fault-course.js';
import { drawLost, LOSES, LoggedHistory, NOBODY_SERVES, recover } from './lost-majority.js';
import { Marks } from './marks.js';
import { factsOf, type RunOptions } from './options.js';
import { planOf } from './plan.js';
import { ailTheRest, drawQuorum } from './quorum.js';
import { Recorder } from './recorder.js';
import { CONVERGES, type Failure, failureOf, QUORUM_SERVES, type RunResult } from './verdict.js';

export interface RunExtras {
  /** Replaces all checkers. */
  readonly checkers?: readonly NewChecker[];
  /**
   * Receives a line for everything recorded, and the members' log lines. It changes nothing else.
   */
  readonly trace?: ((line: string) => void) | undefined;
}

/**
 * Time advances by at most this much between two checks of the faults and of what has gone wrong.
 */
const SLICE_MS = 25;
/**
 * The simulated time in which a healed ensemble must converge: elections, snapshots of tiny trees,
 * and the sessions of the clients that gave up. The slowest run so far took 7 s.
 */
const CONVERGE_MS = 40_000;
/**
 * The same for a quorum, until it has answered a client: sessions of others do not matter, but some
 * load continues, and a member that applies one transaction a turn processes its log at the same
 * time (seeds 3960351749101, 70100332).
 */
const QUORUM_MS = 40_000;

/** For how long members without a vote, and too few with one, try in vain. */
const VOTELESS_MS = 4_000;
/** The simulated time in which all disks are read, and written anew. */
const RECOVERY_MS = 120_000;

export async function runOne(options: RunOptions, extras: RunExtras = {}): Promise<RunResult> {
  return await new Run(options, extras).toEnd();
}

class Run {
  readonly #options: RunOptions;
  readonly #recorder: Recorder;
  readonly #marks = new Marks();
  readonly #history = new LoggedHistory();
  readonly #world: SimulatedWorld;
  readonly #clients: Clients;
  readonly #course: FaultCourse;
  #convergedAfterMs = 0;
  #quorumServedAfterMs = 0;
  /** An error that nobody has caught: in production it ends the process. */
  #uncaught: { readonly error: unknown } | null = null;

  constructor(options: RunOptions, { checkers, trace }: RunExtras) {
    this.#options = options;
    const facts = factsOf(options);
    const all = (checkers ?? ALL_CHECKERS).map((newChecker) => newChecker(facts));
    const history = options.losesMajority ? [this.#history] : [];
    this.#recorder = new Recorder({ checkers: [this.#marks, ...history, ...all], trace });
    const random = new Random(options.seed);
    const { members, tuning, settings, network, disk, workMs } = options;
    this.#world = new SimulatedWorld({
      members,
      tuning,
      settings,
      network,
      disk,
      workMs,
      clients: options.clients.count,
      random: random.fork('world'),
      recorder: this.#recorder,
      onLogged: (event) => this.#marks.onLogged(event),
      ...(trace === undefined ? {} : { log: (line: string) => trace(line.trimEnd()) }),
    });
    this.#clients = new Clients({
      timers: this.#world.timers,
      transportOf: (client) => this.#world.clientTransport(client),
      members: this.#world.addresses,
      random: random.fork('clients'),
      recorder: this.#recorder,
      options: options.clients,
    });
    const note = (text: string) => this.#recorder.note(text);
    this.#course = new FaultCourse(this.#world, planOf(options), note);
  }

  async toEnd(): Promise<RunResult> {
    const failure = await this.#failure();
    const { counts, order } = this.#recorder;
    return {
      failure,
      requests: counts.invocations,
      simulatedMs: this.#world.nowMs,
      convergedAfterMs: this.#convergedAfterMs,
      quorumServedAfterMs: this.#quorumServedAfterMs,
      orders: order,
      digest: this.#recorder.digest(),
      counts: { ...counts },
      begun: this.#course.begun,
      leftOut: this.#course.leftOut,
      marks: this.#marks.counts,
    };
  }

  /** Whatever goes wrong is the run's failure: a campaign must be able to report the seed. */
  async #failure(): Promise<Failure | null> {
    const onRejection = (error: unknown) => {
      this.#uncaught ??= { error };
    };
    process.on('unhandledRejection', onRejection);
    try {
      const failure = (await this.#safety()) ?? (await this.#lostMajority());
      return failure ?? (await this.#quorum()) ?? (await this.#liveness());
    } catch (error) {
      return failureOf(error);
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  }

  async #safety(): Promise<Failure | null> {
    this.#world.startAll();
    this.#clients.start();
    while (this.#world.nowMs < this.#options.durationMs) {
      const failure = await this.#advance(this.#options.durationMs);
      if (failure !== null) return failure;
      this.#course.run();
    }
    return null;
  }

  /** See lost-majority.ts. */
  async #lostMajority(): Promise<Failure | null> {
    const { losesMajority, seed, kinds } = this.#options;
    // Where a history was forged, equal zxids name unlike proposals.
    if (!losesMajority || !this.#course.isFounded || kinds.includes('two-leaderships')) return null;
    const random = new Random(seed).fork('majority');
    const lost = drawLost(this.#world, random);
    if (lost === null) return null;
    this.#marks.onDone('majority-lost');
    this.#recorder.retire();
    this.#course.heal();
    this.#recorder.note(`the disks of members ${lost.join(', ')} are lost`);
    this.#crashAll(random);
    for (const id of lost) this.#world.wipe(id);
    this.#world.startAll();
    const untilMs = this.#world.nowMs + VOTELESS_MS;
    while (this.#world.nowMs < untilMs) {
      const failure = await this.#advance(untilMs);
      if (failure !== null) return failure;
      const serving = this.#world.ids.filter((id) => this.#world.serves(id));
      if (serving.length === 0) continue;
      const message = `members ${serving.join(', ')} serve, and ${lost.join(', ')} were wiped`;
      return { property: NOBODY_SERVES, message };
    }
    this.#crashAll(random);
    return await this.#recovery(lost);
  }

  async #recovery(lost: readonly PeerId[]): Promise<Failure | null> {
    const ended: (Failure | null)[] = [];
    recover(this.#world, lost, this.#history).then(
      (failure) => ended.push(failure),
      (error: unknown) => ended.push(failureOf(error)),
    );
    const untilMs = this.#world.nowMs + RECOVERY_MS;
    while (ended.length === 0) {
      const failure = await this.#advance(untilMs);
      if (failure !== null) return failure;
      if (this.#world.nowMs < untilMs) continue;
      return { property: LOSES, message: `it has not ended after ${RECOVERY_MS} ms` };
    }
    return ended[0] ?? null;
  }

  #crashAll(random: Random): void {
    for (const id of this.#world.ids) this.#world.crash(id, { inFlight: random.chance(0.5) });
  }

  /** Any majority of sound members, once they reach each other: nobody waits for the rest. */
  async #quorum(): Promise<Failure | null> {
    const { quorumFirst, losesMajority } = this.#options;
    if (!quorumFirst || losesMajority || !this.#course.isFounded) return null;
    const random = new Random(this.#options.seed).fork('quorum');
    const quorum = drawQuorum(this.#world, random);
    if (quorum === null) return null;
    const ailing = ailTheRest(this.#world, quorum, { random, forMs: QUORUM_MS });
    this.#recorder.note(`the rest: ${ailing}`);
    this.#course.healAmong(quorum);
    const asked = this.#clients.ask(this.#world.addresses.filter(({ id }) => quorum.includes(id)));
    const healedMs = this.#world.nowMs;
    while (!asked.isDrained) {
      const failure = await this.#advance(healedMs + QUORUM_MS);
      if (failure !== null) return failure;
      for (const id of quorum) this.#world.start(id);
      if (this.#world.nowMs < healedMs + QUORUM_MS) continue;
      const message = `members ${quorum.join(', ')} do not, within ${QUORUM_MS} ms; ${ailing}`;
      return { property: QUORUM_SERVES, message };
    }
    this.#quorumServedAfterMs = this.#world.nowMs - healedMs;
    return null;
  }

  async #liveness(): Promise<Failure | null> {
    this.#course.heal();
    this.#clients.drain();
    const healedMs = this.#world.nowMs;
    const untilMs = healedMs + CONVERGE_MS;
    for (;;) {
      const failure = await this.#advance(untilMs);
      if (failure !== null) return failure;
      // A member that was asked to stop before everything was healed may have stopped only now.
      for (const id of this.#world.ids) this.#world.start(id);
      const missing = this.#missing();
      if (missing === null) break;
      if (this.#world.nowMs >= untilMs) return { property: CONVERGES, message: missing };
    }
    this.#convergedAfterMs = this.#world.nowMs - healedMs;
    this.#recorder.end({ members: this.#ends() });
    return this.#broken();
  }

  async #advance(untilMs: number): Promise<Failure | null> {
    const { nowMs } = this.#world;
    const nextMs = Math.min(nowMs + SLICE_MS, untilMs, this.#course.nextMs);
    await this.#world.advance(Math.max(0, nextMs - nowMs));
    return this.#broken();
  }

  #broken(): Failure | null {
    const { broken } = this.#recorder;
    if (broken !== null) return { property: broken.property, message: broken.message };
    const ended = this.#world.failure ?? this.#uncaught;
    return ended === null ? null : failureOf(ended.error);
  }

  /** What a converged ensemble has and this one lacks; null if it has everything. */
  #missing(): string | null {
    const idle = this.#world.ids.filter((id) => !this.#world.serves(id));
    if (idle.length > 0) return `members ${idle.join(', ')} do not serve`;
    if (!this.#clients.isDrained) return 'clients still wait for answers';
    const doubled = this.#clients.askingWhereTheyLeft;
    if (doubled > 0) return `${doubled} connections are open whose sessions have moved`;
    const ends = this.#ends();
    const closing = ends.flatMap(({ state }) => state.sessions.sorted().filter(isClosing));
    if (closing.length > 0) return `${closing.length} sessions are closing and not closed`;
    const texts = ends.map(({ member, state, applied }) => {
      return { member, text: `${formatZxid(applied)} with digest ${state.digest()}` };
    });
    if (new Set(texts.map(({ text }) => text)).size === 1) return null;
    return texts.map(({ member, text }) => `member ${member} is at ${text}`).join('; ');
  }

  #ends(): End['members'] {
    return this.#world.ids.flatMap((id) => {
      const state = this.#world.stateOf(id);
      return state === null ? [] : [{ member: id, state, applied: state.lastZxid }];
    });
  }
}

function isClosing([, session]: readonly [number, { readonly isClosing: boolean }]): boolean {
  return session.isClosing;
}
