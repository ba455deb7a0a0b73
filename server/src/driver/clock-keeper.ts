/**
 * Keeps what is known about time: this member's clocks, those of the others, and the age of znodes.
 *
 * Every member compares its wall clock with those of the others. It logs when its own is wrong and
 * when no majority agrees, so that an operator hears of it before it matters. A leader takes the
 * time of its transactions and the ages of znodes from here, and the lease clock, by which sessions
 * expire. Owned by the driver, which reports each tick, each heartbeat, each clock that another
 * member tells, and each link that begins or is gone.
 */
import type { PeerId } from '@rookery/protocol';
import type { LeaderTime } from '../pipeline/request-preparer.js';
import { AppliedTimes, LeaderNodeAges } from '../sessions/applied-times.js';
import {
  type ClockVerdict,
  LeaseClock,
  MemberClocks,
  TermTime,
} from '../sessions/member-clocks.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { NodeAges } from '../state/tree.js';
import type { DriverParts } from './parts.js';

/** The clock of a leader for one term. */
interface TermClock {
  readonly ages: NodeAges;
  /** `nowMs` is the monotonic time of the turn, in ms. */
  time(nowMs: number): LeaderTime;
}

interface Term {
  readonly time: TermTime;
  readonly ages: LeaderNodeAges;
}

/**
 * The time of what a leader decides at one go, such as a message or a tick; a turn may have several
 * of these. The time for transactions is read only when the first of them is prepared, because each
 * reading raises the clock: the time never falls below that of the last transaction.
 */
class TurnTime implements LeaderTime {
  readonly nowMs: number;
  readonly #read: () => number;
  #wallMs: number | null = null;

  constructor(nowMs: number, read: () => number) {
    this.nowMs = nowMs;
    this.#read = read;
  }

  get wallMs(): number {
    this.#wallMs ??= this.#read();
    return this.#wallMs;
  }
}

/** The verdict about this member's clock is logged at most this often. */
const REPORT_MS = 10_000;
/**
 * A verdict is logged once it has held for so long, and for two heartbeats. A member that was
 * suspended, or whose network was, first reads what the clocks of the others showed before.
 */
const LASTING_MS = 1000;

export class ClockKeeper {
  readonly #parts: DriverParts;
  readonly #clocks: MemberClocks;
  readonly #leaseClock: LeaseClock;
  readonly #applied: AppliedTimes;
  readonly #listeners = new Set<PeerId>();
  #state: ReplicatedState;
  #term: Term | null = null;
  #told: ClockVerdict['by'] = 'own';
  #tellAtMs = 0;
  /** The newest verdict, and since when it is the same. */
  #found: ClockVerdict['by'] = 'own';
  #foundAtMs = 0;

  constructor(parts: DriverParts) {
    const { members, clockToleranceMs, tickMs } = parts.options;
    this.#parts = parts;
    this.#clocks = new MemberClocks({ members, toleranceMs: clockToleranceMs });
    this.#leaseClock = new LeaseClock(2 * tickMs);
    const { state, timers } = parts;
    this.#state = state;
    this.#applied = new AppliedTimes(state.lastZxid, state.lastTime, timers.nowMs());
  }

  /** `state` is passed each time, because an installed snapshot replaces it. */
  onTick(state: ReplicatedState): void {
    const nowMs = this.#parts.timers.nowMs();
    const { lastZxid, lastTime } = state;
    if (state === this.#state) this.#applied.mark(lastZxid, lastTime, nowMs);
    else this.#applied.reset(lastZxid, lastTime, nowMs);
    this.#state = state;
    const verdict = this.#clocks.judge(nowMs, this.#parts.timers.wallMs());
    this.#term?.ages.tick(nowMs, verdict);
    this.#tell(verdict, nowMs);
    this.#tellStep();
  }

  /** Tells the other members the time here. */
  onHeartbeat(): void {
    for (const peer of this.#listeners) this.#sendTime(peer);
  }

  /** Sends the peer the time here at once. */
  onConnected(peer: PeerId): void {
    this.#listeners.add(peer);
    this.#sendTime(peer);
  }

  onDisconnected(member: PeerId): void {
    this.#listeners.delete(member);
    this.#clocks.forget(member);
  }

  heard(member: PeerId, wallMs: number): void {
    this.#clocks.heard(member, wallMs, this.#parts.timers.nowMs());
  }

  /** Begins a term as the leader; all history up to `state.lastZxid` is applied. */
  beginTerm(state: ReplicatedState): TermClock {
    const { timers, options } = this.#parts;
    this.onTick(state);
    const toleranceMs = options.clockToleranceMs;
    const { timeMs: lastMs, atMs: lastAtMs } = this.#applied.last;
    const time = new TermTime({ toleranceMs, lastMs, lastAtMs });
    const ages = new LeaderNodeAges(this.#applied, { lastZxid: state.lastZxid, toleranceMs });
    this.#term = { time, ages };
    const readTransactionMs = (): number => {
      const nowMs = timers.nowMs();
      const ownMs = timers.wallMs();
      return time.read(nowMs, ownMs, this.#clocks.judge(nowMs, ownMs));
    };
    return {
      ages,
      time: (turnMs) => new TurnTime(this.#leaseClock.read(turnMs), readTransactionMs),
    };
  }

  endTerm(): void {
    this.#term = null;
  }

  #sendTime(peer: PeerId): void {
    const wallMs = this.#parts.timers.wallMs();
    this.#parts.peerPort.sendTo(peer, { kind: 'clock', wallMs });
  }

  #tell({ by, baseMs, basesMs }: ClockVerdict, nowMs: number): void {
    const { logger, options } = this.#parts;
    // A member alone, or with too few others, cannot tell whose clock is wrong.
    const isKnown = by !== 'nobody' || basesMs.length * 2 > options.members;
    const found = isKnown ? by : 'own';
    if (found !== this.#found) {
      this.#found = found;
      this.#foundAtMs = nowMs;
    }
    const lastingMs = Math.max(LASTING_MS, 4 * options.tickMs);
    const isLasting = nowMs - this.#foundAtMs >= lastingMs;
    if (found === this.#told || !isLasting || nowMs < this.#tellAtMs) return;
    this.#told = found;
    this.#tellAtMs = nowMs + REPORT_MS;
    const ownMs = this.#parts.timers.wallMs();
    const own = dateOf(ownMs);
    if (found === 'own') {
      logger.info({ own }, 'clock.agrees');
    } else if (found === 'others') {
      const majorityMs = nowMs + baseMs;
      const aheadMs = Math.round(ownMs - majorityMs);
      logger.error({ own, majority: dateOf(majorityMs), aheadMs }, 'clock.contradicted');
    } else {
      const clocks = basesMs.map((base) => dateOf(nowMs + base));
      logger.error({ own, clocks }, 'clock.no_majority');
    }
  }

  #tellStep(): void {
    const step = this.#term?.time.takeStep();
    if (step === null || step === undefined) return;
    const { fromWallMs, toWallMs } = step;
    const facts = { from: dateOf(fromWallMs), to: dateOf(toWallMs), byMs: toWallMs - fromWallMs };
    this.#parts.logger.warn(facts, 'clock.transactions_stepped');
  }
}

/** Takes any number, because a wrong clock may show anything. */
function dateOf(wallMs: number): string {
  const date = new Date(wallMs);
  return Number.isNaN(date.getTime()) ? `${wallMs} ms` : date.toISOString();
}
