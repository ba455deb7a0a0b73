/**
 * The metrics of a member by Prometheus's own rules: `rookery_*`, in seconds and bytes, counters
 * with `_total`, durations as histograms, which can be aggregated over members.
 *
 * They stand beside the metrics under ZooKeeper's names, and cover what it has no name for. No
 * label has more values than there are roles, kinds or directories.
 */
import { memoryUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Durations } from '../measures/summary.js';
import type { WordContext } from '../net/four-letter/context.js';
import type { MemberDetails, MemberView } from '../net/member-view.js';
import { TLS_FAILURES, type TlsFigures } from '../net/server-stats.js';
import type { AuditFigures } from '../pipeline/audit.js';
import type { DirectorySpaces, Space } from './free-space.js';
import { counter, counters, gauge, gauges, type Metric, metric, type Sample } from './metric.js';

const ROLES = ['looking', 'following', 'leading'] as const;
const MICROS_PER_SECOND = 1e6;

export function rookeryMetrics(
  { view, stats }: WordContext,
  { free, ready }: { readonly free: DirectorySpaces; readonly ready: boolean },
): Metric[] {
  const { details } = view;
  const plainRefused = stats.tls?.plainRefused ?? 0;
  return [
    ...identity(view, ready),
    ...replication(details),
    ...filesOnDisk(details.counters),
    histogram(
      'rookery_request_duration_seconds',
      'Time from a request of a client to its answer.',
      [
        [{ class: 'read' }, stats.readLatency],
        [{ class: 'write' }, stats.updateLatency],
      ],
    ),
    counters('rookery_connections_rejected_total', 'Clients that were not let in, by the reason.', [
      [{ reason: 'limit' }, stats.connectionsRejected - stats.tokenDeficit.count - plainRefused],
      [{ reason: 'rate' }, stats.tokenDeficit.count],
      [{ reason: 'plain' }, plainRefused],
    ]),
    counter(
      'rookery_sessionless_evicted_total',
      'Connections without a session that made room for others, because there were too many.',
      stats.sessionlessEvicted,
    ),
    ...waitingClients(details),
    counter('rookery_received_bytes_total', 'Bytes from clients.', stats.bytesReceived),
    counter('rookery_sent_bytes_total', 'Bytes to clients.', stats.bytesSent),
    counter(
      'rookery_watch_event_bytes_total',
      'Bytes of watch events, which rookery_sent_bytes_total includes.',
      stats.watchBytes,
    ),
    gauge(
      'rookery_tree_bytes',
      'Estimated bytes of memory that the tree takes.',
      details.treeBytes,
    ),
    gauge(
      'rookery_tree_bytes_max',
      'Bytes of memory above which writes that add to the tree are refused.',
      details.treeBytesMax,
    ),
    ...tlsMetrics(stats.tls),
    ...peerTlsMetrics(stats.peerTls),
    ...auditMetrics(stats.audit),
    ...disks(view, free),
    ...backups(details),
    ...processMetrics(),
  ];
}

function identity({ version, details, health }: MemberView, ready: boolean): Metric[] {
  const { memberId, ensembleId } = details;
  const member = { id: String(memberId), ensemble_id: ensembleId };
  return [
    gauges('rookery_build_info', 'The release, in a label.', [[{ version }, 1]]),
    gauges('rookery_member_info', 'Which member of which ensemble this is.', [[member, 1]]),
    gauges(
      'rookery_role',
      '1 for the role that the member shows.',
      ROLES.map((name) => [{ role: name }, name === health.role ? 1 : 0]),
    ),
    gauge('rookery_ready', 'Whether /readyz is true.', ready ? 1 : 0),
  ];
}

function waitingClients({ waitingClients: waiting }: MemberDetails): Metric[] {
  return [
    counter(
      'rookery_logins_failed_total',
      'Attempts of clients to log in that were refused.',
      waiting.loginsFailed,
    ),
    counter(
      'rookery_logins_delayed_total',
      'Attempts to log in, at any port, that had to wait because earlier ones as their user failed.',
      waiting.loginsDelayed,
    ),
    gauge(
      'rookery_logins_waiting',
      'Attempts of clients to log in that wait at present.',
      waiting.logins,
    ),
    gauge(
      'rookery_rate_limited_connections',
      'Connections whose requests wait at present because of requestsPerSecondMax.',
      waiting.limited,
    ),
    counter(
      'rookery_rate_limit_pauses_total',
      'How often a connection had to wait because of requestsPerSecondMax.',
      waiting.limitPauses,
    ),
  ];
}

function replication({ epoch, zxids, counters: counted }: MemberDetails): Metric[] {
  return [
    gauge('rookery_epoch', 'The newest epoch whose history was taken over whole.', epoch),
    gauges('rookery_zxid', 'The newest zxid at each stage, as epoch * 2^32 + counter.', [
      [{ stage: 'logged' }, zxids.logged],
      [{ stage: 'committed' }, zxids.committed],
      [{ stage: 'applied' }, zxids.applied],
    ]),
    counter(
      'rookery_elections_total',
      'How often it began to look for a leader, at its start too.',
      counted.looked,
    ),
    counters(
      'rookery_learner_syncs_total',
      'Learners that it brought up to date as the leader, by kind of synchronization.',
      [
        [{ kind: 'diff' }, counted.diffsSent],
        [{ kind: 'snap' }, counted.snapshotsSent],
        [{ kind: 'trunc' }, counted.truncationsSent],
      ],
    ),
    counter(
      'rookery_proposals_total',
      'Transactions that it has proposed as the leader.',
      counted.proposals,
    ),
    counter(
      'rookery_log_appended_bytes_total',
      'Bytes of transactions that it has appended to its log; checkpoints come in addition.',
      counted.appendedBytes,
    ),
    counter('rookery_commits_total', 'Transactions that it has applied.', counted.commits),
    counter(
      'rookery_sessions_expired_total',
      'Sessions that it has ended as the leader: silent for too long, or ended by an operator.',
      counted.expiredSessions,
    ),
    counter(
      'rookery_digest_mismatches_total',
      'Digests of one zxid that differed between members, seen as the leader.',
      counted.digestMismatches,
    ),
    counter(
      'rookery_slow_fsyncs_total',
      'Groups of writes that took a second or longer to be durable.',
      counted.slowSyncs,
    ),
    ...durations(counted),
  ];
}

/** What was found on the disk, and what could not be written to it. */
function filesOnDisk(counted: MemberDetails['counters']): Metric[] {
  return [
    counter(
      'rookery_disk_damages_found_total',
      'Damage of its disk that it has found by reading while it served.',
      counted.damagesFound,
    ),
    counter(
      'rookery_disk_damages_repaired_total',
      'Damage that is repaired; what is found and not repaired waits.',
      counted.damagesRepaired,
    ),
    counter(
      'rookery_checkpoints_given_up_total',
      'Checkpoints that met a full disk; nothing is damaged by that.',
      counted.checkpointsGivenUp,
    ),
    counter(
      'rookery_scrubs_total',
      'How often it has read all of its checkpoint and log in the background, to find damage.',
      counted.scrubs,
    ),
    counter(
      'rookery_scrubbed_bytes_total',
      'Bytes that it has read in the background to find damage.',
      counted.scrubbedBytes,
    ),
  ];
}

function durations(counted: MemberDetails['counters']): Metric[] {
  const of = (name: string, help: string, measured: typeof counted.syncs) =>
    histogram(`rookery_${name}_seconds`, help, [[{}, measured]]);
  return [
    of(
      'fsync_duration',
      'Time to write a group of proposals to the log and sync it.',
      counted.syncs,
    ),
    of(
      'commit_duration',
      'Time from a proposal until a quorum has it, on the leader.',
      counted.quorumAcks,
    ),
    of(
      'propagation_duration',
      'Time from a proposal on the leader until it is applied here, by the clocks of both.',
      counted.propagation,
    ),
    of('checkpoint_duration', 'Time that a checkpoint takes.', counted.checkpoints),
    of(
      'outage_duration',
      'Time from the end of a role, or the start, until the member serves again.',
      counted.outages,
    ),
    of('event_loop_pause', 'How late the event loop came to its periodic tick.', counted.pauses),
  ];
}

function disks({ configuration, health, details }: MemberView, free: DirectorySpaces): Metric[] {
  const known = (values: readonly (readonly [string, number | null])[]) =>
    values.flatMap(([dir, value]) => (value === null ? [] : [[{ dir }, value] as const]));
  const left = (of: (space: Space) => number | null) =>
    known([
      ['data', free.data && of(free.data)],
      ['log', free.log && of(free.log)],
    ]);
  return [
    gauges(
      'rookery_disk_free_bytes',
      'Bytes that may still be written to the file system of a directory.',
      left(({ bytes }) => bytes),
    ),
    gauges(
      'rookery_disk_free_files',
      'Files that the file system of a directory can still hold, its free inodes.',
      left(({ files }) => files),
    ),
    gauge(
      'rookery_disk_full',
      'Whether less is free than diskReserveBytes.',
      health.diskShortage === null ? 0 : 1,
    ),
    gauge(
      'rookery_checkpoint_given_up',
      'Whether a checkpoint was given up because the disk was full, and is not written again yet.',
      health.checkpointGivenUp === null ? 0 : 1,
    ),
    gauge(
      'rookery_disk_stepped_out',
      'Whether it serves no clients because its disk is full and the others go on without it.',
      health.sparedBy === 0 ? 0 : 1,
    ),
    counter(
      'rookery_disk_refused_writes_total',
      'Writes that it has refused as the leader, because too few members had room on their disks.',
      details.refusedForDisk,
    ),
    gauges(
      'rookery_disk_used_bytes',
      'Bytes that a directory of the member takes, measured twice a minute.',
      known([
        ['data', configuration.dataDirBytes],
        ['log', configuration.dataLogBytes],
      ]),
    ),
  ];
}

/** Only where they are configured. */
function backups({ backups: figures }: MemberDetails): Metric[] {
  if (figures === null) return [];
  return [
    gauge(
      'rookery_backup_failing',
      'Whether the last scheduled backup that it tried to take failed.',
      figures.isFailing ? 1 : 0,
    ),
    gauge(
      'rookery_backup_prune_failing',
      'Whether it could not remove old backups the last time; new ones are taken meanwhile.',
      figures.isPruneFailing ? 1 : 0,
    ),
    gauge(
      'rookery_backup_running',
      'Whether it takes a scheduled backup now.',
      figures.isUnderWay ? 1 : 0,
    ),
    gauge(
      'rookery_backup_saved_time_seconds',
      'When the newest backup in its directory was taken, in seconds since 1970; 0 for none.',
      Math.floor(figures.lastSavedWallMs / 1000),
    ),
    gauge(
      'rookery_backup_duration_seconds',
      'How long its last scheduled backup took.',
      figures.lastDurationMs / 1000,
    ),
    gauge('rookery_backup_bytes', 'The size of its last scheduled backup.', figures.lastBytes),
    counters('rookery_backups_total', 'Scheduled backups that it took, or tried to.', [
      [{ result: 'saved' }, figures.saved],
      [{ result: 'failed' }, figures.failed],
      [{ result: 'not_pruned' }, figures.pruneFailed],
    ]),
  ];
}

function processMetrics(): Metric[] {
  const { user, system } = process.cpuUsage();
  const heap = getHeapStatistics();
  const seconds = (user + system) / MICROS_PER_SECOND;
  // Not the present time less the uptime, which a clock that is adjusted would change: alerts count
  // restarts by it.
  const startedAt = Math.floor(performance.timeOrigin / 1000);
  return [
    counter('process_cpu_seconds_total', 'Processor time in seconds.', seconds),
    gauge('process_resident_memory_bytes', 'Resident memory.', memoryUsage.rss()),
    gauge('process_start_time_seconds', 'Start of the process in seconds since 1970.', startedAt),
    gauge(
      'nodejs_heap_size_used_bytes',
      'Bytes of the V8 heap that are in use.',
      heap.used_heap_size,
    ),
    gauge('nodejs_heap_size_total_bytes', 'Bytes of the V8 heap.', heap.total_heap_size),
    gauge(
      'nodejs_external_memory_bytes',
      'Bytes outside the V8 heap that belong to its objects.',
      heap.external_memory,
    ),
  ];
}

/**
 * The figures of the audit log, for Prometheus. There are none without an audit log.
 */
function auditMetrics(audit: AuditFigures | null): Metric[] {
  if (audit === null) return [];
  return [
    counter('rookery_audit_lines_total', 'Lines that are in the audit log.', audit.written),
    counter(
      'rookery_audit_lines_dropped_total',
      'Lines that the audit log could not keep.',
      audit.dropped,
    ),
    counter(
      'rookery_audit_refusals_left_out_total',
      'Refusals that have no line of their own, but are counted in another one.',
      audit.leftOut,
    ),
  ];
}

/**
 * The figures of TLS at the client port and between members, for Prometheus. There are none without
 * TLS.
 */
function tlsMetrics(tls: TlsFigures | null): Metric[] {
  if (tls === null) return [];
  return [
    gauge(
      'rookery_tls_certificate_expiry_seconds',
      'When the certificate that clients are shown, or its chain, expires, in seconds since 1970.',
      Math.floor(tls.expiresWallMs / 1000),
    ),
    ...authorityMetrics('rookery_tls_authority_expiry_seconds', tls),
    ...revocationMetrics('rookery_tls_revocation_list_expiry_seconds', tls),
    gauge(
      'rookery_tls_certificate_stale',
      'Whether the files of the certificate have changed into something that cannot be used.',
      tls.isStale ? 1 : 0,
    ),
    counters('rookery_tls_handshakes_total', 'TLS handshakes of clients that succeeded.', [
      [{ resumed: 'no' }, tls.secured - tls.resumed],
      [{ resumed: 'yes' }, tls.resumed],
    ]),
    counters(
      'rookery_tls_handshake_failures_total',
      'TLS handshakes of clients that failed, by the reason.',
      TLS_FAILURES.map((reason) => [{ reason }, tls.failures(reason)]),
    ),
    counter(
      'rookery_tls_plain_refused_total',
      'Connections of clients without TLS that were refused because TLS is required.',
      tls.plainRefused,
    ),
  ];
}

function peerTlsMetrics(tls: TlsFigures | null): Metric[] {
  if (tls === null) return [];
  return [
    gauge(
      'rookery_peer_tls_certificate_expiry_seconds',
      'When the certificate that members are shown, or its chain, expires, in seconds since 1970.',
      Math.floor(tls.expiresWallMs / 1000),
    ),
    ...authorityMetrics('rookery_peer_tls_authority_expiry_seconds', tls),
    ...revocationMetrics('rookery_peer_tls_revocation_list_expiry_seconds', tls),
    gauge(
      'rookery_peer_tls_certificate_stale',
      "Whether the files of the members' certificate have changed into something unusable.",
      tls.isStale ? 1 : 0,
    ),
    counters(
      'rookery_peer_tls_handshake_failures_total',
      'TLS handshakes of those who connect as members that failed, by the reason.',
      TLS_FAILURES.map((reason) => [{ reason }, tls.failures(reason)]),
    ),
  ];
}

function authorityMetrics(name: string, { authorityExpiresWallMs }: TlsFigures): Metric[] {
  if (authorityExpiresWallMs === null) return [];
  const help = 'When the first of the authorities in caFile expires, in seconds since 1970.';
  return [gauge(name, help, Math.floor(authorityExpiresWallMs / 1000))];
}

function revocationMetrics(name: string, { listsEndWallMs }: TlsFigures): Metric[] {
  if (listsEndWallMs === null) return [];
  const help = 'When the first of the revocation lists expires, in seconds since 1970.';
  return [gauge(name, help, Math.floor(listsEndWallMs / 1000))];
}

const FIRST_EXPONENT = 6;
const LAST_EXPONENT = 26;
const MS_PER_SECOND = 1000;

type Labelled = readonly [labels: Sample['labels'], durations: Durations];

/**
 * A histogram in seconds of durations that a member keeps, which can be aggregated over members.
 *
 * Its bounds are powers of two of a microsecond, where the buckets of `Durations` end, so that each
 * count is exact: from 64 microseconds to 67 seconds.
 */
export function histogram(name: string, help: string, all: readonly Labelled[]): Metric {
  const values = all.flatMap(([labels, durations]) => samplesOf(name, labels, durations));
  return metric({ name, help, type: 'histogram', values });
}

function samplesOf(name: string, labels: Sample['labels'], durations: Durations): Sample[] {
  const samples: Sample[] = [];
  const metricName = `${name}_bucket`;
  for (let exponent = FIRST_EXPONENT; exponent <= LAST_EXPONENT; exponent++) {
    const ms = 2 ** exponent / 1000;
    const le = String(ms / MS_PER_SECOND);
    samples.push({ metricName, labels: { ...labels, le }, value: durations.countBelowMs(ms) });
  }
  const { count, sum } = durations;
  samples.push({ metricName, labels: { ...labels, le: '+Inf' }, value: count });
  samples.push({ metricName: `${name}_sum`, labels, value: sum / MS_PER_SECOND });
  samples.push({ metricName: `${name}_count`, labels, value: count });
  return samples;
}
