/**
 * What applications import. Values, interfaces and errors are in api/; errors that cross the wire
 * come from @rookery/protocol and are given on from here.
 */
// Declarations use Node's types, which TypeScript 6 and later include only where they are named.
/// <reference types="node" preserve="true" />
export {
  Acl,
  AddWatchMode,
  ApiError,
  AuthFailedError,
  BadArgumentsError,
  BadVersionError,
  type ClientInfo,
  ClosingError,
  ConnectionLossError,
  DataInconsistencyError,
  EphemeralOnLocalSessionError,
  ErrorCode,
  InvalidAclError,
  InvalidCallbackError,
  InvalidStateError,
  KeeperError,
  MarshallingFailedError,
  NewConfigNoQuorumError,
  NoAuthError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  NothingError,
  NotReadOnlyError,
  NoWatcherError,
  OperationTimeoutError,
  Perms,
  QuotaExceededError,
  ReconfigDisabledError,
  ReconfigInProgressError,
  RequestTimeoutError,
  RuntimeInconsistencyError,
  SessionClosedRequireSaslAuthError,
  SessionExpiredError,
  SessionMovedError,
  SslConnectionError,
  SystemError,
  ThrottledOpError,
  TTL_MAX_MS,
  UnimplementedError,
  UnknownSessionError,
  WatcherType,
} from '@rookery/protocol';
export type * from './api/client.js';
export type * from './api/codec.js';
export * from './api/errors.js';
export type * from './api/lease.js';
export type * from './api/logger.js';
export type * from './api/options.js';
export {
  type BackoffOptions,
  exponentialBackoff,
  noRetry,
  type RetryPolicy,
  retryForever,
  retryUntilElapsed,
} from './api/retry-policy.js';
export type * from './api/surroundings.js';
export type * from './api/transaction.js';
export type * from './api/values.js';
export type * from './api/views.js';
export { OPEN_ACL } from './client/multi.js';
export { connect, createClient } from './connect.js';
export { bytes, json, text } from './helpers/codecs.js';
export { type CreateRecursiveOptions, createRecursive } from './helpers/create-recursive.js';
export { type DeleteRecursiveOptions, deleteRecursive } from './helpers/delete-recursive.js';
export { type EnsurePathOptions, ensurePath, type ParentMode } from './helpers/ensure-path.js';
export {
  idempotentCreate,
  idempotentDelete,
  idempotentSet,
  type Patience,
} from './helpers/idempotent.js';
export { type Attempt, type RetryingClient, type RetryOptions, retry } from './helpers/retry.js';
export { type Upserted, type UpsertOptions, upsert } from './helpers/upsert.js';
export { waitForData, waitForDeletion, waitForExistence } from './helpers/wait-for.js';
export {
  ClientMetrics,
  type MetricRegistry,
  type RegistryMetric,
} from './metrics/client-metrics.js';
export { AtomicLong, type AtomicLongOptions, type AtomicResult } from './recipes/atomic-long.js';
export { Barrier, type BarrierOptions } from './recipes/barrier.js';
export { BoundedQueue, type BoundedQueueOptions } from './recipes/bounded-queue.js';
export { ChildrenCache, type ChildrenCacheOptions } from './recipes/children-cache.js';
export {
  Configuration,
  type ConfigurationOptions,
  type ConfigurationState,
} from './recipes/configuration.js';
export { DelayQueue, type DelayQueueOptions } from './recipes/delay-queue.js';
export { DoubleBarrier, type DoubleBarrierOptions } from './recipes/double-barrier.js';
export {
  type ElectedLeader,
  Election,
  type ElectionOptions,
  type Term,
} from './recipes/election.js';
export {
  Group,
  GroupMember,
  type GroupMemberOptions,
  type GroupMembers,
} from './recipes/group-membership.js';
export { IdQueue } from './recipes/id-queue.js';
export {
  type EnqueuedState,
  IdempotentQueue,
  type IdempotentQueueOptions,
} from './recipes/idempotent-queue.js';
export {
  type LatchCloseOptions,
  LeaderLatch,
  type LeaderLatchOptions,
  type LeadershipListener,
  type Participant,
} from './recipes/leader-latch.js';
export { type AcquireOptions, Lock, type LockOptions } from './recipes/lock.js';
export {
  type LockingPutOptions,
  LockingQueue,
  type LockingQueueOptions,
} from './recipes/locking-queue.js';
export { type MultiLease, MultiLock } from './recipes/multi-lock.js';
export { Mutex, type MutexOptions } from './recipes/mutex.js';
export { NameService, type NameServiceOptions } from './recipes/name-service.js';
export { NodeCache, type NodeCacheOptions } from './recipes/node-cache.js';
export {
  MultiNonBlockingLease,
  NonBlockingLease,
  type NonBlockingLeaseOptions,
  type ObtainedLease,
} from './recipes/non-blocking-lease.js';
export { Party, type PartyOptions, ShallowParty } from './recipes/party.js';
export {
  PersistentNode,
  type PersistentNodeMode,
  type PersistentNodeOptions,
} from './recipes/persistent-node.js';
export { PersistentWatcher, type PersistentWatcherOptions } from './recipes/persistent-watcher.js';
export {
  type PriorityPutOptions,
  PriorityQueue,
  type PriorityQueueOptions,
} from './recipes/priority-queue.js';
export { Queue } from './recipes/queue.js';
export type { AttemptOptions } from './recipes/queues/attempts.js';
export type { ConsumeOptions } from './recipes/queues/consume.js';
export type { QueueOptions, TakeOptions } from './recipes/queues/entry-queue.js';
export type { HeldEntry } from './recipes/queues/held-entry.js';
export { IdempotentEntry } from './recipes/queues/idempotent-entry.js';
export { QueueFormatError, type RawItem } from './recipes/queues/item-format.js';
export type { QueueEntry } from './recipes/queues/queue-entry.js';
export { type LockSide, ReadWriteLock } from './recipes/read-write-lock.js';
export { type Meeting, Rendezvous, type RendezvousOptions } from './recipes/rendezvous.js';
export {
  RevocableLock,
  type RevocableLockOptions,
  type RevocationAnswer,
  requestRevocation,
} from './recipes/revocable-lock.js';
export { type LeaderRunOptions, type Leadership, runAsLeader } from './recipes/run-as-leader.js';
export {
  type JobRunOptions,
  type JobTurn,
  ScheduledJob,
  type ScheduledJobOptions,
} from './recipes/scheduled-job.js';
export { Semaphore, type SemaphoreOptions } from './recipes/semaphore.js';
export {
  ServiceCache,
  ServiceProvider,
  type ServiceProviderOptions,
} from './recipes/service-cache.js';
export {
  ServiceDiscovery,
  type ServiceDiscoveryOptions,
  type ServiceInstanceInit,
} from './recipes/service-discovery.js';
export {
  everyNth,
  type Partition,
  type PartitionFunction,
  type PartitionState,
  SetPartitioner,
  type SetPartitionerOptions,
} from './recipes/set-partitioner.js';
export { ShardedQueue, type ShardedQueueOptions } from './recipes/sharded-queue.js';
export { BackgroundRecipe, type Supervised } from './recipes/shared/background-recipe.js';
export {
  type CachedNode,
  type CacheEvent,
  replayCacheEvent,
} from './recipes/shared/cache-values.js';
export type { Contestant } from './recipes/shared/contestants.js';
export type { DecodingOptions } from './recipes/shared/decoder.js';
export {
  BarrierLeaveError,
  LockTimeoutError,
  LockUpgradeError,
  RecipeStateError,
  WaitTimeoutError,
} from './recipes/shared/errors.js';
export type { BackgroundStatus, FailureListener } from './recipes/shared/failures.js';
export { every, type JobOutcome, type JobRun, type Schedule } from './recipes/shared/job-runs.js';
export type { SharedMaximum } from './recipes/shared/lease-count.js';
export type { NumberFormat } from './recipes/shared/number-format.js';
export type { PayloadOptions } from './recipes/shared/payloads.js';
export {
  type DownInstancePolicy,
  type ProviderStrategy,
  randomly,
  roundRobin,
  sticky,
} from './recipes/shared/provider-strategy.js';
export type { Acquirable, RunOptions } from './recipes/shared/run.js';
export type {
  Json,
  ServiceInstance,
  ServiceType,
  UriSpec,
} from './recipes/shared/service-instance.js';
export type { StreamOptions } from './recipes/shared/stream.js';
export type { Decision } from './recipes/shared/two-phase-state.js';
export {
  CorruptDataError,
  IllegalVersionError,
  NumberRangeError,
} from './recipes/shared/value-errors.js';
export type { WaitOptions } from './recipes/shared/wait-scope.js';
export type { SessionLossOptions } from './recipes/shared/waiting-line.js';
export { SharedCount, type VersionedCount } from './recipes/shared-count.js';
export {
  SharedValue,
  type SharedValueOptions,
  type VersionedValue,
} from './recipes/shared-value.js';
export { SimpleLock, type SimpleLockOptions } from './recipes/simple-lock.js';
export { SimpleQueue, type SimpleQueueOptions } from './recipes/simple-queue.js';
export { TransactionSite, type TransactionSiteOptions } from './recipes/transaction-site.js';
export { TreeCache, type TreeCacheOptions, type TreeSelector } from './recipes/tree-cache.js';
export { TtlNode, type TtlNodeOptions } from './recipes/ttl-node.js';
export { TwoPhaseCommit, type TwoPhaseCommitOptions } from './recipes/two-phase-commit.js';
export type {
  AttemptMessage,
  LagMessage,
  OperationMessage,
  OperationTrace,
  StateMessage,
} from './session/diagnostics.js';
export {
  type ParsedConnectString,
  parseConnectString,
  type ServerName,
} from './wire/connect-string.js';
