/**
 * Builds the parts of a member from its configuration and from what was recovered: the core, the
 * pipeline, the peer port, budgets and bounds. `member.ts` puts them together with the driver.
 */
import { type Config, memberDirectories, type ServerAddress } from '../config/config.js';
import { digestOf } from '../config/digest-of.js';
import { BackupSchedule } from '../driver/backup-schedule.js';
import type { Counters } from '../driver/counters.js';
import { DiskSpace, TreeBound } from '../driver/write-bounds.js';
import type { SummaryView } from '../measures/summary.js';
import type { EnsembleIdentity, StartsView } from '../net/peer-hello.js';
import { type PeerHandler, PeerPort } from '../net/peer-port.js';
import { ServerStats } from '../net/server-stats.js';
import type { Timer, Timers } from '../net/timers.js';
import { Pipeline } from '../pipeline/pipeline.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { BackupSource } from '../storage/backup-source.js';
import type { Recovered, Storage } from '../storage/index.js';
import { Zab } from '../zab/index.js';
import {
  AMPLE_MEMORY,
  type FileBudget,
  type MemoryBudget,
  type MemoryLimit,
  memoryBudgetOf,
} from './budgets.js';
import type { ServingPlan } from './last-configuration.js';
import {
  type DerivedLimits,
  derivedLimits,
  LEFT_SESSIONS_MAX,
  type MemberOptions,
  peerPortOptions,
  peerSecurity,
  zabOptions,
  zabStart,
} from './member-options.js';
import type { Surroundings } from './surroundings.js';

/** What a member is made of, as `Member.open` found it. */
export interface MemberParts {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly options: MemberOptions;
  readonly surroundings: Surroundings;
  readonly storage: Storage;
  /** The name of this process: see `StartOf`. */
  readonly instance: string;
  readonly recovered: Recovered;
  readonly plan: ServingPlan;
  readonly budget: MemoryBudget;
  readonly files: FileBudget;
  newState(): ReplicatedState;
  readonly counters: Counters;
}

export function newZab(parts: MemberParts, limits: DerivedLimits): Zab {
  const { config, options, surroundings, budget, recovered, plan } = parts;
  const newEnsembleId = surroundings.uuid();
  const newIdentity = identityOf(surroundings.randomBytes(6));
  const given = { ...limits, ...budget, ...plan, newEnsembleId, newIdentity };
  return new Zab(zabOptions(config, options, given), zabStart(recovered));
}

/** Random in [1, 2^48): 0 says that an identity is not known. */
function identityOf(bytes: Uint8Array): number {
  return Math.max(1, firstRequestOf(bytes));
}

export function newPeerPort(
  parts: MemberParts,
  limits: DerivedLimits,
  given: {
    readonly starts: StartsView;
    readonly handler: PeerHandler;
    readonly identity: () => EnsembleIdentity;
  },
): PeerPort {
  const { config, options, surroundings } = parts;
  return new PeerPort({
    ...given,
    ...peerPortOptions(config, options, { ...parts, limits }),
    transport: surroundings.transport,
    timers: surroundings.timers,
    random: () => surroundings.random(),
    logger: options.logger,
    security: peerSecurity(config, surroundings),
  });
}

export function statsOf({ clientTls, peerTls, audit }: Surroundings): ServerStats {
  const tls = { tls: clientTls?.figures, peerTls: peerTls?.figures };
  return new ServerStats({ ...tls, audit: audit?.figures });
}

export function limitsOf({ config, options, budget }: MemberParts): DerivedLimits {
  const { windowBytes } = options.tuning ?? {};
  return derivedLimits({ ...config, ...budget, members: config.servers.length, windowBytes });
}

export function newPipeline(
  { config, self, surroundings, budget }: MemberParts,
  state: ReplicatedState,
  limits: DerivedLimits,
): Pipeline {
  return new Pipeline({
    state,
    options: {
      id: self.id,
      minSessionTimeoutMs: config.minSessionTimeoutMs,
      maxSessionTimeoutMs: config.maxSessionTimeoutMs,
      outstandingMax: config.globalOutstandingLimit,
      outstandingBytesMax: limits.outstandingBytesMax,
      leftSessionsMax: LEFT_SESSIONS_MAX,
      watchLimits: {
        watcherBytesMax: budget.watcherBytesMax,
        bytesMax: budget.watchBytesMax,
      },
      firstRequest: firstRequestOf(surroundings.randomBytes(6)),
      skipAcl: config.skipACL,
      admission: new Set(config.enforceAuth),
      superIdentities: new Set(config.superIdentities),
      multiOpsMax: config.multiOpsMax,
      superDigest: config.superDigest,
      digestAlgs: config.digestAlgs,
      requestsPerSecondMax: config.requestsPerSecondMax,
      localSessions: config.localSessions,
      tickMs: config.peerHeartbeatMs / 2,
    },
    digestOf,
    random16: () => surroundings.randomBytes(16),
    sasl: surroundings.sasl ?? null,
    logins: surroundings.logins,
    superPassword: surroundings.passwords?.judgeOf(config.superDigest) ?? null,
    audit: surroundings.audit ?? null,
  });
}

/** Random in [0, 2^48): no number of an earlier run of this member comes again. */
function firstRequestOf(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}

const MINUTE_MS = 60_000;

/**
 * The schedule of a member's backups, from its config.
 */
export function backupScheduleOf(
  { config, self, options, surroundings }: MemberParts,
  member: { open(): Promise<BackupSource>; treeBytes(): number },
): BackupSchedule {
  const { timers, backupTaker: taker = null } = surroundings;
  return new BackupSchedule({
    id: self.id,
    members: config.servers.map(({ id }) => id),
    timers,
    taker,
    ...member,
    everyMs: config.backupEveryMinutes * MINUTE_MS,
    logger: options.logger,
  });
}

/**
 * The bounds by which a leader refuses writes: the size of the tree, and the free space of disks.
 * The disks are watched until `diskSpace.stop`.
 */
export function writeBoundsOf({ config, self, budget, options, surroundings }: MemberParts) {
  const { logger } = options;
  const { data, log } = memberDirectories(config, self.id);
  const diskSpace = new DiskSpace({
    directories: [...new Set([data, log])],
    reserveBytes: config.diskReserveBytes,
    timers: surroundings.timers,
    logger,
    spaceOf: surroundings.spaceOf,
  });
  const { treeBytesMax: ownBytes } = budget;
  const limits = { configuredBytes: config.treeBytesMax, ownBytes, disk: diskSpace };
  return { diskSpace, treeBound: new TreeBound(limits, logger) };
}

/**
 * Memory budget: the tuning file's value, else the system limit, split among the parts; what the
 * operator has set for a part replaces its share. Also logs it.
 */
export function budgetOf(
  config: Config,
  { tuning, logger }: MemberOptions,
  system: MemoryLimit = AMPLE_MEMORY,
): MemoryBudget {
  const told = tuning?.memoryBytes;
  const memory: MemoryLimit =
    told === undefined ? system : { ...system, bytes: told, source: 'setting' };
  const budget = { ...memoryBudgetOf(memory), ...configured(config) };
  logger.info({ ...memory, ...budget }, 'memory.budget');
  const { bytes, heapBytes } = memory;
  if (heapBytes > bytes) {
    logger.warn(
      { bytes, heapBytes },
      'memory.heap_beyond_limit: V8 may use more than the process; set --max-old-space-size',
    );
  }
  return budget;
}

function configured({ inputBytesMax, outputBytesMax }: Config): Partial<MemoryBudget> {
  return {
    ...(inputBytesMax === null ? {} : { inputBytesMax }),
    ...(outputBytesMax === null ? {} : { outputBytesMax }),
  };
}

const WINDOW_MS = 5 * 60_000;

/**
 * Starts a new window of all of a member's summaries every 5 minutes, so that their percentiles
 * cover the last 5 to 10 minutes, about as ZooKeeper's do.
 */
export class SummaryWindows {
  #timer: Timer;

  constructor(timers: Timers, summaries: () => Iterable<readonly [name: string, SummaryView]>) {
    const next = (): void => {
      for (const [, summary] of summaries()) summary.nextWindow();
      this.#timer = timers.after(WINDOW_MS, next);
    };
    this.#timer = timers.after(WINDOW_MS, next);
  }

  stop(): void {
    this.#timer.cancel();
  }
}
