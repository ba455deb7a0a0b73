/**
 * The names of `mntr` in their order, as in ZooKeeper 3.8.0.
 *
 * It contains only what is measured: a figure that could never be anything but 0 would mislead an
 * alert. Left out are therefore ZooKeeper's own processors, the queues between them, its caches of
 * answers and its cleaner of watches, Netty, the authentication of members, and what it counts by
 * top-level znode or by learner. There are no observers, so their number 0 is true. A figure whose
 * name is not listed here, such as those of TLS, is printed after the listed ones.
 */

/** Single values, which follow the version and the states in this order. */
export const VALUE_NAMES: readonly string[] = [
  'ephemerals_count',
  'num_alive_connections',
  'avg_latency',
  'min_proposal_size',
  'outstanding_requests',
  'znode_count',
  'global_sessions',
  'last_client_response_size',
  'packets_sent',
  'packets_received',
  'max_proposal_size',
  'max_client_response_size',
  'synced_followers',
  'watch_count',
  'synced_non_voting_followers',
  'synced_observers',
  'auth_failed_count',
  'min_latency',
  'max_file_descriptor_count',
  'approximate_data_size',
  'open_file_descriptor_count',
  'last_proposal_size',
  'pending_syncs',
  'leader_uptime',
  'local_sessions',
  'uptime',
  'max_latency',
  'learners',
  'min_client_response_size',
  'proposal_count',
  'watch_bytes',
  'large_requests_rejected',
  'connection_rejected',
  'sessionless_connections_expired',
  'looking_count',
  'connection_drop_count',
  'learner_proposal_received_count',
  'digest_mismatches_count',
  'bytes_received_count',
  'request_throttle_wait_count',
  'learner_commit_received_count',
  'connection_request_count',
  'response_bytes',
  'diff_count',
  'connection_revalidate_count',
  'snap_count',
  'commit_count',
  'stale_sessions_expired',
];

/** Each has average, minimum, maximum, count and sum. */
export const SUMMARY_NAMES: readonly string[] = [
  'startup_txns_loaded',
  'dbinittime',
  'fsynctime',
  'snapshottime',
  'election_time',
  'unavailable_time',
  'leader_unavailable_time',
  'follower_sync_time',
  'inflight_snap_count',
  'connection_token_deficit',
  'node_created_watch_count',
  'node_deleted_watch_count',
  'node_changed_watch_count',
  'node_children_watch_count',
];

/** Each has what SUMMARY_NAMES have, and percentiles. */
export const PERCENTILE_NAMES: readonly string[] = [
  'readlatency',
  'updatelatency',
  'propagation_latency',
  'proposal_latency',
  'quorum_ack_latency',
  'jvm_pause_time_ms',
];
