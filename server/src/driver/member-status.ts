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
import type { Pipeline } from '../pipeline/pipeline.js';
import { atMost } from '../state/at-most.js';
import { listedEphemerals } from '../state/ephemeral-listing.js';
import type { SessionTable } from '../state/session-table.js';
import type { SessionId } from '../state/txn.js';
import { watchedPaths, watchers } from '../state/watch-listing.js';
import type { WatcherId, WatchTable } from '../state/watches.js';
import type { Zab } from '../zab/index.js';
import type { BackupSchedule } from './backup-schedule.js';
import type { Counters } from './counters.js';
import type { Driver } from './driver.js';
import type { DiskSpace, TreeBound } from './write-bounds.js';

interface MemberViewParts {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly membership: string;
  readonly driver: Driver;
  readonly pipeline: Pipeline;
  readonly zab: Zab;
  readonly counters: Counters;
  readonly treeBound: TreeBound;
  readonly diskSpace: DiskSpace;
  readonly backups: BackupSchedule;
  /** The monotonic clock, in ms. */
  readonly nowMs: () => number;
  /** Bytes of the two directories, as they were last measured. */
  readonly diskBytes: () => { readonly data: number; readonly log: number };
}

/** The time between two counts of open files. */
const OPEN_FILES_MS = 10_000;

export class MemberStatus implements MemberView {
  readonly version = VERSION;
  readonly #parts: MemberViewParts;
  readonly #startedMs: number;
  #openFiles = { count: 0, max: 0 };
  #openFilesAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: MemberViewParts) {
    this.#parts = parts;
    this.#startedMs = parts.nowMs();
  }

  get serving(): boolean {
    return this.#parts.driver.shown.role !== 'looking' || this.#parts.pipeline.isReadOnly;
  }
  get mode(): ServerMode {
    if (this.#parts.config.servers.length === 1) return 'standalone';
    if (this.#parts.pipeline.isReadOnly) return 'read-only';
    return this.#parts.driver.shown.role === 'leading' ? 'leader' : 'follower';
  }
  get lastZxid(): number {
    return this.#parts.driver.keeper.state.lastZxid;
  }
  get nodeCount(): number {
    return this.#parts.driver.keeper.state.tree.nodeCount + 1;
  }
  get ephemeralCount(): number {
    return this.#parts.driver.keeper.state.tree.ephemeralCount;
  }
  get approximateDataBytes(): number {
    return this.#parts.driver.keeper.state.tree.approximateDataSize;
  }
  get globalSessions(): number {
    return this.#parts.driver.keeper.state.sessions.count;
  }
  get localSessions(): number {
    return this.#parts.pipeline.localSessions.count;
  }
  get outstandingRequests(): number {
    return this.#parts.pipeline.outstanding;
  }
  get uptimeMs(): number {
    return this.#parts.nowMs() - this.#startedMs;
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
    return this.#parts.pipeline.hot.look(this.#parts.nowMs(), limit);
  }

  get sessions(): SessionsView {
    const { config, driver, pipeline } = this.#parts;
    const { isReadOnly, localSessions } = pipeline;
    return {
      expiries: driver.leaderService?.sessionExpiries() ?? null,
      all: timeoutsOf(driver.keeper.state.sessions),
      local: config.localSessions || isReadOnly ? localSessions.expiries() : null,
    };
  }

  get quorum(): QuorumView | null {
    const { config, self, driver, membership } = this.#parts;
    if (config.servers.length === 1) return null;
    return {
      peerState: driver.shown.role === 'looking' ? 'looking' : `${driver.shown.role} - broadcast`,
      quorumSize: config.servers.length,
      initLimitTicks: config.initLimit,
      syncLimitTicks: config.syncLimit,
      peerPort: self.peerPort,
      electionPort: electionPortOf(self),
      participant: true,
      membership,
    };
  }

  get leader(): LeaderView | null {
    const { config, driver, zab } = this.#parts;
    if (driver.leaderService === null || config.servers.length === 1) return null;
    return {
      learners: zab.learnerCount,
      syncedFollowers: zab.syncedLearnerCount,
      syncedObservers: 0,
      pendingSyncs: driver.leaderService.confirmed.pending,
      leadsForMs: driver.shown.forMs,
      proposalSizes: driver.leaderService.batcher.sizes,
    };
  }

  get configuration(): ConfigurationView {
    const { config, self, diskBytes } = this.#parts;
    const directories = memberDirectories(config, self.id);
    const bytes = diskBytes();
    return {
      serverId: self.id,
      clientPort: self.clientPort,
      secureClientPort: self.secureClientPort ?? null,
      dataDir: directories.data,
      dataDirBytes: bytes.data,
      dataLogDir: directories.log,
      dataLogBytes: bytes.log,
      tickTimeMs: config.tickTimeMs,
      maxClientCnxns: clientsPerAddressMax(config),
      minSessionTimeoutMs: config.minSessionTimeoutMs,
      maxSessionTimeoutMs: config.maxSessionTimeoutMs,
    };
  }

  get digests(): readonly DigestAt[] {
    const { state } = this.#parts.driver.keeper;
    return [{ zxid: state.lastZxid, digest: state.digest() }];
  }

  get extraMetrics(): readonly Figure[] {
    const { counters, driver, pipeline, treeBound, zab } = this.#parts;
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
      gauge('accepted_epoch', zab.acceptedEpoch),
      gauge('current_epoch', zab.currentEpoch),
      gauge('ensemble_level', driver.keeper.state.level),
      gauge('tree_bytes', driver.keeper.state.bytes),
      gauge('tree_bytes_max', treeBound.bytesMax),
    ];
  }

  get health(): HealthView {
    const { config, driver, pipeline, zab, counters, diskSpace, nowMs } = this.#parts;
    return {
      role: driver.shown.role,
      roleForMs: driver.shown.forMs,
      waitsFor: zab.waitsFor,
      isReadOnly: pipeline.isReadOnly,
      writeWaitMs: counters.writeWaitMs(nowMs()),
      writeWaitMsMax: config.syncLimit * config.tickTimeMs,
      unapplied: transactionsBetween(zab.delivered, zab.committed),
      diskShortage: diskSpace.shortage,
      sparedBy: zab.sparedBy,
      damage: driver.keeper.repair.damage,
      checkpointGivenUp: driver.keeper.repair.checkpointGivenUp,
    };
  }

  get details(): MemberDetails {
    const { self, driver, zab, counters, treeBound, diskSpace, backups } = this.#parts;
    const { state } = driver.keeper;
    return {
      memberId: self.id,
      ensembleId: zab.ensembleId,
      leaderId: driver.shown.leader,
      epoch: zab.currentEpoch,
      zxids: { logged: zab.durable, committed: zab.committed, applied: state.lastZxid },
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
    const nowMs = this.#parts.nowMs();
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
    return this.#parts.driver.keeper.state.tree.ephemeralOwnerCount;
  }

  *ephemerals(): Generator<SessionPaths> {
    const { tree } = this.#parts.driver.keeper.state;
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
