/**
 * What the four-letter words may know of this member, read from its parts at the moment of asking.
 */
import type { Config, ServerAddress } from '../config.js';
import { electionPortOf, memberDirectories } from '../config.js';
import { readEnvironment } from '../net/four-letter/envi.js';
import type {
  ConfigurationView,
  DigestAt,
  LeaderView,
  MemberView,
  Metric,
  PathWatch,
  QuorumView,
  ServerMode,
  SessionPaths,
  SessionsView,
  WatchSummary,
} from '../net/member-view.js';
import { openFilesCount, openFilesMax } from '../net/open-files.js';
import type { Summary } from '../net/summary.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import { atMost } from '../state/at-most.js';
import { listedEphemerals } from '../state/ephemeral-listing.js';
import type { SessionTable } from '../state/session-table.js';
import type { SessionId } from '../state/txn.js';
import { watchedPaths, watchers } from '../state/watch-listing.js';
import type { WatcherId } from '../state/watches.js';
import { VERSION } from '../version.js';
import type { Zab } from '../zab/index.js';
import type { Counters } from './counters.js';
import type { Driver } from './driver.js';
import type { TreeBound } from './tree-bound.js';

export interface MemberViewParts {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly membership: string;
  readonly driver: Driver;
  readonly pipeline: Pipeline;
  readonly zab: Zab;
  readonly counters: Counters;
  readonly treeBound: TreeBound;
  /** Monotonic ms. */
  readonly nowMs: () => number;
  /** Bytes of the two directories, as last measured. */
  readonly diskBytes: () => { readonly data: number; readonly log: number };
}

export class MemberStatus implements MemberView {
  readonly version = VERSION;
  readonly #parts: MemberViewParts;
  readonly #startedMs: number;

  constructor(parts: MemberViewParts) {
    this.#parts = parts;
    this.#startedMs = parts.nowMs();
  }

  get serving(): boolean {
    return this.#parts.driver.role !== 'looking' || this.#parts.pipeline.isReadOnly;
  }
  get mode(): ServerMode {
    if (this.#parts.config.servers.length === 1) return 'standalone';
    if (this.#parts.pipeline.isReadOnly) return 'read-only';
    return this.#parts.driver.role === 'leading' ? 'leader' : 'follower';
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

  get sessions(): SessionsView {
    const { config, driver, pipeline } = this.#parts;
    const { isReadOnly, localSessions } = pipeline;
    return {
      expiries: driver.desk?.sessionExpiries() ?? null,
      all: timeoutsOf(driver.keeper.state.sessions),
      local: config.localSessions || isReadOnly ? localSessions.expiries() : null,
    };
  }

  get quorum(): QuorumView | null {
    const { config, self, driver, membership } = this.#parts;
    if (config.servers.length === 1) return null;
    return {
      peerState: driver.role === 'looking' ? 'looking' : `${driver.role} - broadcast`,
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
    if (driver.desk === null || config.servers.length === 1) return null;
    const synced = zab.activeLearners;
    return {
      learners: synced,
      syncedFollowers: synced,
      syncedObservers: 0,
      pendingSyncs: driver.desk.pendingSyncs,
      uptimeMs: driver.roleForMs,
      proposalSizes: driver.desk.proposalSizes,
    };
  }

  get configuration(): ConfigurationView {
    const { config, self, diskBytes } = this.#parts;
    const directories = memberDirectories(config, self.id);
    const bytes = diskBytes();
    return {
      serverId: self.id,
      clientPort: self.clientPort,
      dataDir: directories.data,
      dataDirBytes: bytes.data,
      dataLogDir: directories.log,
      dataLogBytes: bytes.log,
      tickTimeMs: config.tickTimeMs,
      maxClientCnxns: config.maxClientCnxns,
      minSessionTimeoutMs: config.minSessionTimeoutMs,
      maxSessionTimeoutMs: config.maxSessionTimeoutMs,
    };
  }

  get digests(): readonly DigestAt[] {
    const { state } = this.#parts.driver.keeper;
    return [{ zxid: state.lastZxid, digest: state.digest() }];
  }

  get extraMetrics(): readonly Metric[] {
    const { counters, driver, pipeline, treeBound, zab } = this.#parts;
    return [
      { name: 'auth_failed_count', value: pipeline.authFailures, decimal: false },
      { name: 'request_throttle_wait_count', value: pipeline.pauses, decimal: false },
      { name: 'proposal_count', value: counters.proposals, decimal: false },
      { name: 'stale_sessions_expired', value: counters.expiredSessions, decimal: false },
      { name: 'connection_revalidate_count', value: counters.resumes, decimal: false },
      { name: 'commit_count', value: counters.commits, decimal: false },
      { name: 'snap_count', value: counters.snapshotsSent, decimal: false },
      { name: 'diff_count', value: counters.diffsSent, decimal: false },
      { name: 'trunc_count', value: counters.truncationsSent, decimal: false },
      { name: 'diverged_history_count', value: counters.divergences, decimal: false },
      { name: 'digest_mismatches_count', value: counters.digestMismatches, decimal: false },
      { name: 'discarded_txn_count', value: counters.discardedTransactions, decimal: false },
      { name: 'looking_count', value: counters.looked, decimal: false },
      { name: 'accepted_epoch', value: zab.acceptedEpoch, decimal: false },
      { name: 'current_epoch', value: zab.currentEpoch, decimal: false },
      { name: 'ensemble_level', value: driver.keeper.state.level, decimal: false },
      { name: 'tree_bytes', value: driver.keeper.state.bytes, decimal: false },
      { name: 'tree_bytes_max', value: treeBound.bytesMax, decimal: false },
    ];
  }

  get openFiles(): { readonly count: number; readonly max: number } {
    const max = openFilesMax();
    return { count: openFilesCount(), max: Number.isFinite(max) ? max : 0 };
  }

  summaries(): readonly (readonly [name: string, summary: Summary])[] {
    const { counters } = this.#parts;
    return [
      ['election_time', counters.elections],
      ['unavailable_time', counters.elections],
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

  *watchedPaths(): Generator<PathWatch> {
    for (const { path, watchers: those } of watchedPaths(this.#parts.pipeline.watches)) {
      yield { path, sessions: this.#sessionsOf(those) };
    }
  }

  *watchingSessions(): Generator<SessionPaths> {
    for (const { watcher, paths } of watchers(this.#parts.pipeline.watches)) {
      yield { session: this.#sessionOf(watcher), paths };
    }
  }

  environment(): readonly (readonly [name: string, value: string])[] {
    return readEnvironment();
  }

  *#sessionsOf(those: Iterable<WatcherId>): Generator<SessionId> {
    for (const watcher of those) yield this.#sessionOf(watcher);
  }

  #sessionOf(watcher: WatcherId): SessionId {
    return this.#parts.pipeline.view(watcher)?.session ?? 0;
  }
}

function* timeoutsOf(sessions: SessionTable): Generator<{ id: SessionId; timeoutMs: number }> {
  for (const [id, { timeoutMs }] of atMost(sessions.count, sessions.all())) {
    yield { id, timeoutMs };
  }
}
