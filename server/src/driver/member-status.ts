/**
 * Implements `MemberView`: reads from the parts of this member, on demand, what four-letter words
 * and the HTTP ports show, and what other members ask on behalf of operators (member-answers.ts).
 */
import { counterOf, type DigestAt, epochOf, type Identity, type Zxid } from '@rookery/protocol';
import type { Config, ServerAddress } from '../config/config.js';
import { clientsPerAddressMax, electionPortOf, memberDirectories } from '../config/config.js';
import { VERSION } from '../config/version.js';
import type { SummaryView } from '../measures/summary.js';
import { counter, gauge } from '../net/figures.js';
import { readEnvironment } from '../net/four-letter/reply.js';
import type {
  ConfigurationView,
  Figure,
  HealthView,
  LeaderView,
  MemberDetails,
  MemberView,
  PathWatch,
  QuorumView,
  ServerMode,
  SessionPaths,
  SessionsView,
  WaitingClients,
  WatchSummary,
} from '../net/member-view.js';
import { openFilesCount, openFilesMax } from '../net/open-files.js';
import type { HotReport } from '../pipeline/hot-requests.js';
import { atMost } from '../state/at-most.js';
import { listedEphemerals } from '../state/ephemeral-listing.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionTable } from '../state/session-table.js';
import type { SessionId } from '../state/txn.js';
import { watchedPaths, watchers } from '../state/watch-listing.js';
import type { WatcherId, WatchTable } from '../state/watches.js';
import type { Driver } from './driver.js';
import type { DriverParts } from './parts.js';

/** Bytes of a member's two directories, as they were last measured. */
interface DirectoryBytes {
  readonly data: number;
  readonly log: number;
}

/** The time between two counts of open files. */
const OPEN_FILES_MS = 10_000;

export class MemberStatus implements MemberView {
  readonly version = VERSION;
  readonly #config: Config;
  readonly #self: ServerAddress;
  readonly #parts: DriverParts;
  readonly #driver: Driver;
  readonly #disk: DirectoryBytes;
  readonly #startedMs: number;
  #openFiles = { count: 0, max: 0 };
  #openFilesAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    config: Config,
    self: ServerAddress,
    parts: DriverParts,
    driver: Driver,
    disk: DirectoryBytes,
  ) {
    this.#config = config;
    this.#self = self;
    this.#parts = parts;
    this.#driver = driver;
    this.#disk = disk;
    this.#startedMs = parts.timers.nowMs();
  }

  get #state(): ReplicatedState {
    return this.#driver.keeper.state;
  }

  get serving(): boolean {
    return this.#driver.shown.role !== 'looking' || this.#parts.pipeline.isReadOnly;
  }
  get mode(): ServerMode {
    if (this.#config.servers.length === 1) return 'standalone';
    if (this.#parts.pipeline.isReadOnly) return 'read-only';
    return this.#driver.shown.role === 'leading' ? 'leader' : 'follower';
  }
  get lastZxid(): number {
    return this.#state.lastZxid;
  }
  get nodeCount(): number {
    return this.#state.tree.nodeCount + 1;
  }
  get ephemeralCount(): number {
    return this.#state.tree.ephemeralCount;
  }
  get approximateDataBytes(): number {
    return this.#state.tree.approximateDataSize;
  }
  get globalSessions(): number {
    return this.#state.sessions.count;
  }
  get localSessions(): number {
    return this.#parts.pipeline.localSessions.count;
  }
  get outstandingRequests(): number {
    return this.#parts.pipeline.outstanding;
  }
  get uptimeMs(): number {
    return this.#parts.timers.nowMs() - this.#startedMs;
  }
  get watches(): WatchSummary {
    const { dataCounts, watchCount } = this.#parts.pipeline.watches;
    const { watchers: connections, paths, watches } = dataCounts;
    return { connections, paths, watches, all: watchCount };
  }

  /** To be read only. */
  get watchTable(): WatchTable {
    return this.#parts.pipeline.watches;
  }
  /** The session's watcher in that table; undefined if it is not connected to this member. */
  watcherOf(session: SessionId): WatcherId | undefined {
    return this.#parts.pipeline.connectionOf(session);
  }
  /** The identities of the session's client; undefined if it is not connected to this member. */
  identitiesOf(session: SessionId): readonly Identity[] | undefined {
    return this.#parts.pipeline.identitiesOf(session);
  }
  /** The session of a watcher; 0 if the watcher is gone. */
  sessionOf(watcher: WatcherId): SessionId {
    return this.#parts.pipeline.sessionOf(watcher);
  }

  /** A call makes the member watch its clients' requests for a while: see HotRequests. */
  hotRequests(limit: number): HotReport {
    return this.#parts.pipeline.hot.look(this.#parts.timers.nowMs(), limit);
  }

  get sessions(): SessionsView {
    const { isReadOnly, localSessions } = this.#parts.pipeline;
    return {
      expiries: this.#driver.leaderService?.sessionExpiries() ?? null,
      all: timeoutsOf(this.#state.sessions),
      local: this.#config.localSessions || isReadOnly ? localSessions.expiries() : null,
    };
  }

  get quorum(): QuorumView | null {
    const [config, self] = [this.#config, this.#self];
    const { role } = this.#driver.shown;
    if (config.servers.length === 1) return null;
    return {
      peerState: role === 'looking' ? 'looking' : `${role} - broadcast`,
      quorumSize: config.servers.length,
      initLimitTicks: config.initLimit,
      syncLimitTicks: config.syncLimit,
      peerPort: self.peerPort,
      electionPort: electionPortOf(self),
      participant: true,
      membership: this.#parts.options.membership,
    };
  }

  get leader(): LeaderView | null {
    const { zab } = this.#parts;
    const { leaderService, shown } = this.#driver;
    if (leaderService === null || this.#config.servers.length === 1) return null;
    return {
      learners: zab.learnerCount,
      syncedFollowers: zab.syncedLearnerCount,
      syncedObservers: 0,
      pendingSyncs: leaderService.confirmed.pending,
      leadsForMs: shown.forMs,
      proposalSizes: leaderService.batcher.sizes,
    };
  }

  get configuration(): ConfigurationView {
    const [config, self] = [this.#config, this.#self];
    const directories = memberDirectories(config, self.id);
    return {
      serverId: self.id,
      clientPort: self.clientPort,
      secureClientPort: self.secureClientPort ?? null,
      dataDir: directories.data,
      dataDirBytes: this.#disk.data,
      dataLogDir: directories.log,
      dataLogBytes: this.#disk.log,
      tickTimeMs: config.tickTimeMs,
      maxClientCnxns: clientsPerAddressMax(config),
      minSessionTimeoutMs: config.minSessionTimeoutMs,
      maxSessionTimeoutMs: config.maxSessionTimeoutMs,
    };
  }

  get digests(): readonly DigestAt[] {
    const state = this.#state;
    return [{ zxid: state.lastZxid, digest: state.digest() }];
  }

  get extraMetrics(): readonly Figure[] {
    const { counters, pipeline, treeBound, zab } = this.#parts;
    return [
      counter('auth_failed_count', pipeline.logins.failures),
      counter('request_throttle_wait_count', pipeline.throttle.pauses),
      counter('proposal_count', counters.proposals),
      counter('stale_sessions_expired', counters.expiredSessions),
      counter('connection_revalidate_count', counters.resumes),
      counter('commit_count', counters.commits),
      counter('snap_count', counters.snapshotsSent),
      counter('diff_count', counters.diffsSent),
      counter('trunc_count', counters.truncationsSent),
      counter('diverged_history_count', counters.divergences),
      counter('digest_mismatches_count', counters.digestMismatches),
      counter('discarded_txn_count', counters.discardedTransactions),
      counter('learner_commit_received_count', counters.learnedCommits),
      counter('learner_proposal_received_count', counters.appended - counters.proposals),
      counter('slow_sync_count', counters.slowSyncs),
      counter('looking_count', counters.looked),
      gauge('accepted_epoch', zab.replica.acceptedEpoch),
      gauge('current_epoch', zab.replica.currentEpoch),
      gauge('ensemble_level', this.#state.level),
      gauge('tree_bytes', this.#state.bytes),
      gauge('tree_bytes_max', treeBound.bytesMax),
    ];
  }

  get health(): HealthView {
    const { pipeline, zab, counters, diskSpace, timers } = this.#parts;
    const { shown, keeper } = this.#driver;
    return {
      role: shown.role,
      roleForMs: shown.forMs,
      waitsFor: zab.waitsFor,
      isReadOnly: pipeline.isReadOnly,
      writeWaitMs: counters.writeWaitMs(timers.nowMs()),
      writeWaitMsMax: this.#config.syncLimit * this.#config.tickTimeMs,
      unapplied: transactionsBetween(zab.replica.delivered, zab.replica.committed),
      diskShortage: diskSpace.shortage,
      sparedBy: zab.sparedBy,
      damage: keeper.repair.damage,
      checkpointGivenUp: keeper.repair.checkpointGivenUp,
    };
  }

  get details(): MemberDetails {
    const { zab, counters, treeBound, diskSpace, backups } = this.#parts;
    const state = this.#state;
    return {
      memberId: this.#self.id,
      ensembleId: zab.replica.ensembleId,
      leaderId: this.#driver.shown.leader,
      epoch: zab.replica.currentEpoch,
      zxids: {
        logged: zab.replica.history.durable,
        committed: zab.replica.committed,
        applied: state.lastZxid,
      },
      treeBytes: state.bytes,
      treeBytesMax: treeBound.bytesMax,
      diskFreeBytes: diskSpace.freeBytes,
      refusedForDisk: diskSpace.refused,
      backups: backups.figures,
      counters,
      waitingClients: this.#waitingClients,
      checkpoint: counters.checkpoint,
    };
  }

  get #waitingClients(): WaitingClients {
    const { logins, rates } = this.#parts.pipeline;
    return {
      logins: logins.waiting.count,
      loginsDelayed: logins.delayed,
      loginsFailed: logins.failures,
      limited: rates.waiting,
      limitPauses: rates.pauses,
    };
  }

  /** Counted at intervals, because the system lists them with an entry for each connection. */
  get openFiles(): { readonly count: number; readonly max: number } {
    const nowMs = this.#parts.timers.nowMs();
    if (nowMs - this.#openFilesAtMs >= OPEN_FILES_MS) {
      this.#openFilesAtMs = nowMs;
      const max = openFilesMax();
      this.#openFiles = { count: openFilesCount(), max: Number.isFinite(max) ? max : 0 };
    }
    return this.#openFiles;
  }

  summaries(): readonly (readonly [name: string, summary: SummaryView])[] {
    const { counters, pipeline } = this.#parts;
    const { created, deleted, dataChanged, childrenChanged } = pipeline.watches.fanOut;
    return [
      ['dbinittime', counters.starts],
      ['startup_txns_loaded', counters.startTransactions],
      ['fsynctime', counters.syncs],
      ['snapshottime', counters.checkpoints],
      ['election_time', counters.elections],
      ['unavailable_time', counters.outages],
      ['leader_unavailable_time', counters.leaderOutages],
      ['follower_sync_time', counters.learnerSyncs],
      ['inflight_snap_count', counters.snapshotsUnderWay],
      ['node_created_watch_count', created],
      ['node_deleted_watch_count', deleted],
      ['node_changed_watch_count', dataChanged],
      ['node_children_watch_count', childrenChanged],
      ['propagation_latency', counters.propagation],
      ['proposal_latency', counters.proposalsApplied],
      ['quorum_ack_latency', counters.quorumAcks],
      ['jvm_pause_time_ms', counters.pauses],
    ];
  }

  get ephemeralOwners(): number {
    return this.#state.tree.ephemeralOwnerCount;
  }

  *ephemerals(): Generator<SessionPaths> {
    const { tree } = this.#state;
    for (const session of atMost(tree.ephemeralOwnerCount, tree.ephemeralOwners())) {
      yield { session, paths: listedEphemerals(tree, session) };
    }
  }

  *watchedPaths(): Generator<PathWatch | null> {
    for (const one of watchedPaths(this.#parts.pipeline.watches)) {
      yield one && { path: one.path, sessions: this.#sessionsOf(one.watchers) };
    }
  }

  *watchingSessions(): Generator<SessionPaths | null> {
    for (const one of watchers(this.#parts.pipeline.watches)) {
      yield one && { session: this.sessionOf(one.watcher), paths: one.paths };
    }
  }

  environment(): readonly (readonly [name: string, value: string])[] {
    return readEnvironment();
  }

  *#sessionsOf(those: Iterable<WatcherId | null>): Generator<SessionId | null> {
    for (const watcher of those) yield watcher === null ? null : this.sessionOf(watcher);
  }
}

/** Across a change of epochs it counts only those of the newer epoch. */
function transactionsBetween(before: Zxid, after: Zxid): number {
  if (after <= before) return 0;
  return epochOf(after) === epochOf(before) ? after - before : counterOf(after);
}

function* timeoutsOf(sessions: SessionTable): Generator<{ id: SessionId; timeoutMs: number }> {
  for (const [id, { timeoutMs }] of atMost(sessions.count, sessions.all())) {
    yield { id, timeoutMs };
  }
}
