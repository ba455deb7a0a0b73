/**
 * Everything on which a run depends, as one plain object, and how it is drawn from a seed.
 *
 * Swarm testing: each seed draws its own ensemble, load, kinds of faults and sizes, because a run
 * of everything at once never stays long in the states that matter. What is drawn for one thing
 * does not change when another is overridden. Pure; `arguments.ts` prints and parses it.
 */
import type { Tuning } from '../../simulated.js';
import { type ClientOptions, drawClientOptions, HANDSHAKE_TIMEOUT_MS } from '../clients/index.js';
import type { RunFacts } from '../contract/checker.js';
import { CLOCK_DRIFT, CUTS_CLIENTS, DELAY_MS_MAX, DELAYS, FAULT_KINDS } from '../faults/index.js';
import { Random } from '../random.js';

/** The settings of the members' configuration that a run may change. */
export interface RunSettings {
  readonly tickTimeMs: number;
  readonly initLimit: number;
  readonly syncLimit: number;
  readonly peerHeartbeatMs: number;
  readonly peerTimeoutMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly globalOutstandingLimit: number;
  readonly multiOpsMax: number;
  readonly pathDepthMax: number;
  readonly ephemeralsPerSessionMax: number;
  /** Null: no member comes close to its bound. */
  readonly treeBytesMax: number | null;
  /** Whether hard limits of quotas refuse writes. */
  readonly enforceQuota: boolean;
  /** Whether members serve reads without a quorum, to clients that allow it. */
  readonly readOnlyMode: boolean;
  /** Whether members prove to each other that they know a secret. */
  readonly peerAuth: { readonly secretFile: string; readonly required: boolean } | null;
}

export interface RunOptions {
  readonly seed: number;
  readonly members: number;
  /** The duration of the safety phase; faults planned after it are omitted. */
  readonly durationMs: number;
  /** The number of planned faults; their times do not depend on a shortened duration. */
  readonly faults: number;
  /** The kinds that the seed may draw. */
  readonly kinds: readonly string[];
  /** Of these kinds, each one that the run may draw is planned once for certain, and early. */
  readonly certain: readonly string[];
  /** The planned time, over which the faults are spread. */
  readonly spreadMs: number;
  /** Only these faults of the plan, by index; null for all. */
  readonly only: readonly number[] | null;
  /** Before everything is healed, only a quorum is, and must serve. */
  readonly quorumFirst: boolean;
  /** Instead, a majority loses its disks at last, and what is left becomes a new ensemble. */
  readonly losesMajority: boolean;
  readonly clients: ClientOptions;
  readonly settings: RunSettings;
  readonly tuning: Tuning;
  readonly network: { readonly latencyMinMs: number; readonly latencyMaxMs: number };
  readonly disk: { readonly syncMinMs: number; readonly syncMaxMs: number };
  /** Time that a process uses between two readings of its clock: turns take time. */
  readonly workMs: number;
}

const MEMBERS = [1, 2, 3, 3, 3, 3, 3, 4, 5, 5, 5, 6, 7] as const;
/** The settings of members for which nothing else is stated. */
const CLOCK_TOLERANCE_MS = 10_000;
const REAP_EVERY_MS = 60_000;
const FAULTS_MAX = 60;
/** The number of requests at which a run aims; the load then determines the actual number. */
const REQUESTS_LOW = 2_000;
const REQUESTS_HIGH = 40_000;
const DURATION_LOW_MS = 5_000;
const DURATION_HIGH_MS = 40_000;
/** Some runs take this much longer, with clients that pause. */
const LONG_MS = 60_000;

export function drawOptions(seed: number): RunOptions {
  const random = new Random(seed).fork('options');
  const drawn = drawClientOptions(random.fork('clients'));
  const isLong = random.fork('long').chance(0.03);
  const clients = isLong ? { ...drawn, thinkMaxMs: 200 } : drawn;
  const durationMs = durationOf(clients, random.fork('duration')) + (isLong ? LONG_MS : 0);
  const workMs = random.fork('work').pick([0, 0, 0, 0.02, 0.2]);
  const { kinds, certain, faults } = drawKinds(random.fork('kinds'), durationMs);
  return {
    seed,
    members: random.fork('members').pick(MEMBERS),
    durationMs,
    faults,
    kinds,
    certain,
    spreadMs: durationMs,
    only: null,
    quorumFirst: random.fork('quorum').chance(0.6),
    losesMajority: random.fork('majority').chance(0.08),
    clients,
    settings: drawSettings(random.fork('settings'), clients),
    tuning: { ...drawTuning(random.fork('tuning')), ...drawTurns(workMs, random.fork('turns')) },
    network: drawNetwork(random.fork('network')),
    disk: random.fork('disk').pick(DISKS),
    workMs,
  };
}

/** What checkers may know about such a run. */
export function factsOf(options: RunOptions): RunFacts {
  const cutsClients = options.kinds.some((kind) => CUTS_CLIENTS.includes(kind));
  return {
    members: options.members,
    peerTimeoutMs: options.settings.peerTimeoutMs,
    heartbeatMs: options.settings.peerHeartbeatMs,
    clockDrift: CLOCK_DRIFT,
    clockToleranceMs: Math.max(
      options.tuning.clockToleranceMs ?? CLOCK_TOLERANCE_MS,
      4 * options.settings.peerTimeoutMs,
    ),
    reapEveryMs: options.tuning.containerCheckMs ?? REAP_EVERY_MS,
    // The world rounds the end of a message's delay up to a whole millisecond.
    latencyMaxMs: Math.ceil(options.network.latencyMaxMs) + 1,
    delayMaxMs: options.kinds.some((kind) => DELAYS.includes(kind)) ? DELAY_MS_MAX : 0,
    clientsHeldMaxMs: cutsClients ? HANDSHAKE_TIMEOUT_MS : 0,
  };
}

/** Long enough for this many requests at the load that these clients can produce. */
function durationOf(clients: ClientOptions, random: Random): number {
  const requests = logarithmic(random, REQUESTS_LOW, REQUESTS_HIGH);
  const roundMs = 8 + clients.thinkMaxMs / 2;
  const perMs = (clients.count * (1 + clients.outstandingMax)) / 2 / roundMs;
  return Math.round(Math.min(Math.max(requests / perMs, DURATION_LOW_MS), DURATION_HIGH_MS));
}

/**
 * They lead to an old copy that its peers notice, to TRUNC and to SNAP, each with the share of
 * seeds that draw it. The first two need three members, and TRUNC a client that writes in time, for
 * which there is a second chance. The first takes the most steps and begins first.
 */
const FAVORED = [
  ['went-back', 0.6],
  ['overtaken-leader', 0.95],
  ['wipe', 0.4],
  ['two-leaderships', 0.3],
  ['overtaken-leader', 0.95],
] as const;

/** Kinds that seldom lead to what they alone can show are in this many times as many seeds. */
const FREQUENT: Readonly<Record<string, number>> = {
  'low-disk': 3,
  'wall-clock': 3,
  'flip-bit': 3,
};

function drawKinds(random: Random, durationMs: number) {
  const all = [...FAULT_KINDS.keys()];
  const inAll = random.pick([0.05, 0.1, 0.1, 0.3, 1]);
  const drawn = all.filter((kind) => random.chance(inAll * (FREQUENT[kind] ?? 1)));
  const dealt = drawn.length > 0 ? drawn : [random.pick(all)];
  // Once for certain, and then as often as all others together.
  const certain = FAVORED.filter(([, share]) => random.chance(share)).map(([kind]) => kind);
  const times = Math.ceil(dealt.length / 2);
  const kinds = [...dealt, ...certain.flatMap((kind) => Array<string>(times).fill(kind))];
  const everyMs = logarithmic(random, 200, 4_000);
  const few = Math.max(1, certain.length);
  const faults = Math.min(FAULTS_MAX, Math.max(few, Math.round(durationMs / everyMs)));
  return { kinds, certain, faults };
}

/** The world has no files: each of its members knows the secret. */
const PEER_AUTH = { secretFile: 'none', required: true } as const;

function drawSettings(random: Random, clients: ClientOptions): RunSettings {
  const [peerHeartbeatMs, peerTimeoutMs] = random.pick([
    [100, 1000],
    [100, 1000],
    [50, 400],
    [20, 200],
    [100, 2500],
  ] as const);
  return {
    tickTimeMs: random.pick([500, 2000]),
    initLimit: random.pick([5, 10]),
    syncLimit: random.pick([3, 5]),
    peerHeartbeatMs,
    peerTimeoutMs,
    minSessionTimeoutMs: random.pick([500, 1000, 4000]),
    maxSessionTimeoutMs: random.pick([4000, 40_000]),
    globalOutstandingLimit: random.pick([1000, 1000, 20]),
    // Fewer than clients try: see digs.ts.
    multiOpsMax: random.pick([4096, 4096, 8]),
    pathDepthMax: random.pick([2000, 2000, 9]),
    enforceQuota: true,
    readOnlyMode: clients.readOnlyReaders > 0,
    treeBytesMax: random.pick([null, null, null, 12_000]),
    // Fewer than a hoarding client owns: see hoards.ts.
    ephemeralsPerSessionMax: random.fork('ephemerals').pick([1_000_000, 1_000_000, 7]),
    peerAuth: random.fork('peerAuth').pick([null, null, null, PEER_AUTH]),
  };
}

/** Mostly so small that what production meets in weeks happens all the time. */
function drawTuning(random: Random): Tuning {
  const drawn = {
    logKeepBytes: random.pick([null, 0, 2_000, 50_000]),
    logSegmentBytes: random.pick([null, 2_000, 4_000, 50_000]),
    checkpointLogBytes: random.pick([null, 500, 1_000, 20_000]),
    windowBytes: random.pick([null, 0, 500, 20_000]),
    deliveryBytes: random.pick([null, 0, 1_000]),
    unwrittenBytes: random.pick([null, null, 4_000]),
    behindBytes: random.pick([null, null, 20_000]),
    firstCounter: random.chance(0.1) ? 2 ** 32 - Math.round(random.between(50, 3_000)) : null,
    checkpointSliceCount: random.pick([null, 1, 3, 10]),
    chunkBytes: random.pick([null, 200, 1_000]),
    clientOutputBytes: random.pick([null, null, 300, 2_000]),
    ephemeralsPerPart: random.pick([null, 1, 3, 8]),
    containerCheckMs: random.pick([50, 500]),
    scrubRestMs: random.fork('scrub').pick([null, 100, 1_000]),
    scrubBytesPerSecond: random.fork('scrub pace').pick([null, 20_000, 200_000]),
    // Requests, and ends of sessions that are due, then wait for what is in flight.
    inFlight: random.fork('in flight').pick([null, null, null, 3]),
    // At least four peer timeouts, which is less than the error of clocks under most faults.
    clockToleranceMs: random.pick([null, 0]),
  };
  // Blocks of a few records: otherwise all of a small tree is in one, which each checkpoint writes
  // again.
  const { checkpointSliceCount: sliceCount } = drawn;
  const packed = { ...drawn, checkpointBlockBytes: sliceCount === null ? null : 300 * sliceCount };
  return Object.fromEntries(Object.entries(packed).filter(([, value]) => value !== null));
}

/** Where no time passes in a turn, it would always take everything. */
function drawTurns(workMs: number, random: Random): Tuning {
  if (workMs === 0) return { deliveryMs: 0, leaderShareMs: 0 };
  return { deliveryMs: random.pick([0, 0.5, 3]), leaderShareMs: random.pick([0, 0.5, 3]) };
}

function drawNetwork(random: Random) {
  const latencyMinMs = random.pick([0.1, 0.5]);
  return { latencyMinMs, latencyMaxMs: latencyMinMs * random.pick([1, 4, 20]) };
}

const DISKS = [
  { syncMinMs: 0.1, syncMaxMs: 0.3 },
  { syncMinMs: 0.2, syncMaxMs: 2 },
  { syncMinMs: 1, syncMaxMs: 15 },
] as const;

/** Small values are as likely as large ones. */
export function logarithmic(random: Random, low: number, high: number): number {
  return low * (high / low) ** random.next();
}
