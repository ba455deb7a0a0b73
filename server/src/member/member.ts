/**
 * Puts one member together from its parts and runs it: storage, core, pipeline, ports.
 *
 * Everything from outside (clock, network, disk, randomness, logger) comes in as `Surroundings`, so
 * the same member runs on sockets and LevelDB or in a simulator. Never reads any of it by itself.
 */
import { assert, formatZxid, type Identity } from '@rookery/protocol';
import type { Logger } from 'pino';
import { type Config, memberDirectories } from '../config/config.js';
import { digestOf } from '../config/digest-of.js';
import { storageTuning } from '../config/tuning.js';
import { VERSION } from '../config/version.js';
import { BackupSchedule } from '../driver/backup-schedule.js';
import { Counters } from '../driver/counters.js';
import { Driver } from '../driver/driver.js';
import { KnownStarts } from '../driver/known-starts.js';
import { type EndOutcome, memberAnswers } from '../driver/member-answers.js';
import { MemberStatus } from '../driver/member-status.js';
import type { DriverParts } from '../driver/parts.js';
import type { Asked } from '../driver/peer-questions.js';
import { DiskSpace, TreeBound } from '../driver/write-bounds.js';
import type { SummaryView } from '../measures/summary.js';
import { ClientPort } from '../net/client-port.js';
import { summariesOf } from '../net/figures.js';
import type { WordContext } from '../net/four-letter/context.js';
import { type InnerClient, InnerStream } from '../net/inner-stream.js';
import { PeerPort } from '../net/peer-port.js';
import { ServerStats } from '../net/server-stats.js';
import type { Timer, Timers } from '../net/timers.js';
import type { HotReport } from '../pipeline/hot-requests.js';
import { Pipeline } from '../pipeline/pipeline.js';
import { atMost } from '../state/at-most.js';
import { PATH_KEY_BYTES, pathKeyOf } from '../state/memory/path-hash.js';
import { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId } from '../state/txn.js';
import type { WatcherId, WatchTable } from '../state/watches.js';
import { type BackupSource, openBackup } from '../storage/backup-source.js';
import { type Recovered, Storage } from '../storage/index.js';
import { Zab } from '../zab/index.js';
import { AMPLE_MEMORY, budgetOf, fileBudgetOf } from './budgets.js';
import { DiskUsage } from './disk-measures.js';
import { beginServing } from './last-configuration.js';
import {
  clientPortOptions,
  type DerivedLimits,
  derivedLimits,
  driverOptions,
  firstPartsOf,
  type MemberOptions,
  membershipOf,
  type OpenedMember,
  peerPortOptions,
  peerSecurity,
  pipelineOptions,
  zabOptions,
  zabStart,
} from './member-options.js';
import type { Surroundings } from './surroundings.js';

const MINUTE_MS = 60_000;
const WINDOW_MS = 5 * MINUTE_MS;

export class Member {
  /** Resolves when it has stopped; rejects when it had to stop because of an error. */
  readonly closed: Promise<void>;
  /**
   * What may be read about it to answer four-letter words, requests at the HTTP ports, and what
   * other members ask on behalf of operators.
   */
  readonly status: MemberStatus;
  readonly #driver: Driver;
  readonly #storage: Storage;
  readonly #clientPort: ClientPort;
  readonly #peerPort: PeerPort;
  /** What measures and counts from time to time. */
  readonly #periodic: readonly { stop(): void }[];
  readonly #timers: Timers;
  #settle: { resolve(): void; reject(error: unknown): void } | null = null;
  #closing: Promise<void> | null = null;

  static async open(
    config: Config,
    options: MemberOptions,
    surroundings: Surroundings,
  ): Promise<Member> {
    const self = config.servers.find((server) => server.id === options.id);
    assert(self !== undefined, `no server in the config has id ${options.id}`);
    const { tuning, logger } = options;
    const budget = budgetOf(config, tuning, surroundings.memory ?? AMPLE_MEMORY, logger);
    const { files = fileBudgetOf(Number.POSITIVE_INFINITY, config.servers.length) } = surroundings;
    logger.info({ ...files }, 'files.budget');
    // Each state has a secret key of its own for the hash of paths. Paths that a client found to
    // collide in one state do not collide in the next.
    const newState = (): ReplicatedState => {
      const key = pathKeyOf(surroundings.randomBytes(PATH_KEY_BYTES));
      return new ReplicatedState(budget.listingBytesMax, key);
    };
    const state = newState();
    const instance = surroundings.uuid();
    const begunMs = surroundings.timers.nowMs();
    const { storage, recovered } = await Storage.open({
      treeStore: surroundings.treeStore,
      logFiles: surroundings.logFiles,
      marks: surroundings.marks ?? [],
      randomBytes: (count) => surroundings.randomBytes(count),
      memberId: self.id,
      starts: { instance, newIncarnation: () => surroundings.uuid() },
      loader: state,
      options: {
        ...storageTuning(tuning),
        firstPart: firstPartsOf(config.servers, options.id).segment,
      },
    });
    const recoveredMs = surroundings.timers.nowMs();
    const counters = new Counters(recoveredMs);
    counters.starts.record(recoveredMs - begunMs);
    counters.startTransactions.record(recovered.suffix.length);
    const wallMs = surroundings.timers.wallMs();
    counters.checkpoint = { zxid: recovered.checkpointZxid, wallMs };
    logRecovery(logger, recovered);
    const plan = await beginServing(storage, recovered, { config, logger });
    surroundings.observer?.onRecovered(recovered);
    const member = new Member(
      {
        config,
        self,
        options,
        surroundings,
        storage,
        instance,
        recovered,
        plan,
        budget,
        files,
        newState,
        counters,
      },
      recovered.damaged === null ? state : newState(),
    );
    const { events = null } = surroundings;
    member.#driver.questions.answerWith(memberAnswers(member, events));
    return member;
  }

  private constructor(opened: OpenedMember, state: ReplicatedState) {
    const { config, self, options, storage, instance, surroundings, budget, counters } = opened;
    const { timers } = surroundings;
    const { logger } = options;
    this.closed = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.closed.catch(() => undefined);
    this.#storage = storage;
    this.#timers = timers;
    const membership = membershipOf(config);
    state.setConfigNode(membership);
    const windowBytes = options.tuning?.windowBytes;
    const members = config.servers.length;
    const limits = derivedLimits({ ...config, ...budget, members, windowBytes });
    const zab = new Zab(zabOptions(opened, limits), zabStart(opened.recovered));
    const directories = memberDirectories(config, self.id);
    const diskSpace = newDiskSpace(opened, directories);
    const treeBytes = { configuredBytes: config.treeBytesMax, ownBytes: budget.treeBytesMax };
    const treeBound = new TreeBound(treeBytes, diskSpace, logger);
    const backups = newBackupSchedule(opened, this);
    const pipeline = newPipeline(opened, state, limits);
    const starts = new KnownStarts(storage.starts, instance);
    this.#clientPort = new ClientPort({
      options: clientPortOptions(opened, limits),
      transport: surroundings.transport,
      timers,
      logger,
      stats: statsOf(surroundings),
      audit: surroundings.audit,
      tls: surroundings.clientTls,
    });
    this.#peerPort = new PeerPort({
      ...peerPortOptions(opened, limits),
      transport: surroundings.transport,
      timers,
      random: () => surroundings.random(),
      logger,
      security: peerSecurity(opened),
      starts,
      identity: () => ({
        ensembleId: zab.replica.ensembleId,
        founded: zab.replica.founded,
        level: this.state.level,
      }),
    });
    const parts: DriverParts = {
      options: driverOptions(opened, membership),
      zab,
      storage,
      state,
      pipeline,
      counters,
      diskSpace,
      treeBound,
      backups,
      timers,
      starts,
      newState: opened.newState,
      logger,
      random16: () => surroundings.randomBytes(16),
      clientPort: this.#clientPort,
      peerPort: this.#peerPort,
      observer: surroundings.observer ?? null,
      keepAside: (name, lines, filesMax) =>
        surroundings.keepAside(directories.data, name, lines, filesMax),
      onFatal: (error) => this.#fail(error),
    };
    this.#driver = new Driver(parts);
    const disk = new DiskUsage(timers, directories, surroundings.directoryBytes);
    this.status = new MemberStatus(config, self, parts, this.#driver, disk);
    const windows = new SummaryWindows(timers, () => summariesOf(this.context()));
    this.#periodic = [disk, diskSpace, backups, windows];
  }

  /** What the HTTP ports and other members are shown of this member. */
  context(): WordContext {
    const { stats, connectionCount } = this.#clientPort;
    const connections = () => atMost(connectionCount, this.#clientPort.connections());
    return {
      view: this.status,
      stats,
      wallMs: this.#timers.wallMs(),
      connectionCount,
      connections,
    };
  }

  /** Who watches what here, to be read only. */
  get watches(): WatchTable {
    return this.status.watchTable;
  }
  /** The session's watcher in that table; undefined if it is not connected to this member. */
  watcherOf(session: SessionId): WatcherId | undefined {
    return this.status.watcherOf(session);
  }
  /** The identities of the session's client; undefined if it is not connected to this member. */
  identitiesOf(session: SessionId): readonly Identity[] | undefined {
    return this.status.identitiesOf(session);
  }
  /** The session of a watcher; 0 if the watcher is gone. */
  sessionOf(watcher: WatcherId): SessionId {
    return this.status.sessionOf(watcher);
  }

  /** The paths most requested lately, and the sessions that asked most; `limit` of each at most. */
  hotRequests(limit: number): HotReport {
    return this.status.hotRequests(limit);
  }

  /** Asks another member what it tells operators; null without an answer. */
  askMember(id: number, asked: Asked): Promise<string | null> {
    return this.#driver.questions.ask(id, asked);
  }

  /** A client's stream from within this process, for the admin port. */
  openStream(client: InnerClient): InnerStream {
    const stream = new InnerStream(this.#timers, client);
    this.#clientPort.adopt(stream);
    return stream;
  }

  /** The state that this member has applied, as its disk has it; see backup-source.ts. */
  openBackup(): Promise<BackupSource> {
    const { lastZxid: zxid } = this.state;
    const { repair } = this.#driver.keeper;
    return openBackup(this.#storage, { zxid, digest: this.state.digest() }, repair);
  }

  /** Opens the ports and takes part; throws ListenError, and is closed then. */
  async listen(): Promise<void> {
    try {
      await this.#clientPort.listen(this.#driver.clients, this.status);
      await this.#peerPort.listen(this.#driver.peers);
    } catch (error) {
      await this.close();
      throw error;
    }
    this.#driver.start();
  }

  /** What it is to the ensemble; anything but `looking` serves clients. */
  get role(): 'looking' | 'following' | 'leading' {
    return this.#driver.shown.role;
  }

  /** What this member has applied, to be read only; an installed snapshot is another object. */
  get state(): ReplicatedState {
    return this.#driver.keeper.state;
  }

  get treeBytes(): number {
    return this.state.bytes;
  }

  /** Whether this member has applied the beginning of the session and not yet its end. */
  knowsSession(session: SessionId): boolean {
    return this.#driver.keeper.state.sessions.has(session);
  }

  /**
   * Ends the session's lease, whatever its client does, if this member leads: the next tick closes
   * the session like one that has expired.
   */
  expireSession(session: SessionId): EndOutcome {
    const { leaderService } = this.#driver;
    if (leaderService === null) return 'notLeading';
    return leaderService.preparer.leases.end(session) ? 'ended' : 'alreadyEnding';
  }

  /** Ends the member with this error, because it cannot do what it must. */
  fail(error: Error): void {
    this.#driver.fail(error);
  }

  /** Ends it as a crash does, for tests: nothing more is taken in, written or said. */
  abort(): void {
    this.#stopPeriodic();
    this.#driver.stop();
  }

  /**
   * Stops cleanly; resolves when nothing of the member is left open. If a write fails meanwhile,
   * `closed` rejects then. Safe to call again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown().then(
      () => this.#settle?.resolve(),
      (error: unknown) => this.#settle?.reject(error),
    );
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.#stopPeriodic();
    this.#driver.stop();
    this.#driver.questions.stop();
    await Promise.all([this.#clientPort.close(), this.#peerPort.close()]);
    await this.#driver.scrub.stop();
    try {
      await this.#driver.keeper.finish();
    } finally {
      await this.#storage.close();
    }
  }

  /** The error is what the process ends with; what can still be closed is closed. */
  #fail(error: unknown): void {
    this.#stopPeriodic();
    this.#settle?.reject(error);
    void Promise.allSettled([this.#clientPort.close(), this.#peerPort.close()]);
  }

  #stopPeriodic(): void {
    for (const part of this.#periodic) part.stop();
  }
}

function newPipeline(
  opened: OpenedMember,
  state: ReplicatedState,
  limits: DerivedLimits,
): Pipeline {
  const { config, surroundings } = opened;
  return new Pipeline({
    state,
    options: pipelineOptions(opened, limits),
    digestOf,
    random16: () => surroundings.randomBytes(16),
    sasl: surroundings.sasl ?? null,
    logins: surroundings.logins,
    superPassword: surroundings.passwords?.judgeOf(config.superDigest) ?? null,
    audit: surroundings.audit ?? null,
  });
}

/** Measures the disks until it is stopped. */
function newDiskSpace(
  { config, options, surroundings }: OpenedMember,
  { data, log }: { readonly data: string; readonly log: string },
): DiskSpace {
  const { spaceOf, timers } = surroundings;
  const directories = [...new Set([data, log])];
  return new DiskSpace(directories, config.diskReserveBytes, spaceOf, timers, options.logger);
}

function newBackupSchedule(
  { config, self, options, surroundings }: OpenedMember,
  member: Member,
): BackupSchedule {
  const { backupTaker = null, timers } = surroundings;
  const plan = {
    id: self.id,
    members: config.servers.map(({ id }) => id),
    everyMs: config.backupEveryMinutes * MINUTE_MS,
  };
  return new BackupSchedule(plan, member, backupTaker, timers, options.logger);
}

function statsOf({ clientTls, peerTls, audit }: Surroundings): ServerStats {
  const tls = { tls: clientTls?.figures, peerTls: peerTls?.figures };
  return new ServerStats({ ...tls, audit: audit?.figures });
}

/** Logs what was recovered from the disk: one line, and one more for each thing that is wrong. */
function logRecovery(logger: Logger, recovered: Recovered): void {
  const { acceptedEpoch, currentEpoch, ensembleId, founded } = recovered;
  const facts = {
    version: VERSION,
    checkpoint: formatZxid(recovered.checkpointZxid),
    last: formatZxid(recovered.last),
    acceptedEpoch,
    currentEpoch,
    ensembleId,
    founded,
  };
  logger.info(facts, 'server.recovered');
  const { history, unreadableLog: reason, unfinished: removed } = recovered;
  if (removed !== undefined) {
    logger.info(
      { removed },
      'server.founded_anew: an earlier first start had not ended, so it had promised nothing: what ' +
        'it left is removed, and this is the first start',
    );
  }
  if (reason !== undefined) {
    logger.warn({ base: formatZxid(history.base), reason }, 'log.unreadable');
  }
  if (recovered.damaged === null) return;
  logger.error(
    { damage: recovered.damaged },
    'server.damaged: this member does not vote and waits for a snapshot from a leader',
  );
}

/**
 * Starts a new window of all of a member's summaries every 5 minutes, so that their percentiles
 * cover the last 5 to 10 minutes, about as ZooKeeper's do.
 */
class SummaryWindows {
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
