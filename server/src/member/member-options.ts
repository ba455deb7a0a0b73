/**
 * Translates a member's configuration and disk into the options of its core, pipeline, ports and
 * driver.
 *
 * Owns the defaults that no configuration sets, the limits that follow from others, and the
 * settings that members compare. Starts and reads nothing.
 */
import { createHash } from 'node:crypto';
import {
  assert,
  longAddressText,
  type PeerId,
  SHARED_CHARACTERS_MAX,
  WIRE_VERSION_MAX,
  WIRE_VERSION_MIN,
} from '@rookery/protocol';
import type { Logger } from 'pino';
import {
  clientAddressOf,
  type ListenAddress,
  peerAddressOf,
  secureClientAddressOf,
} from '../config/addresses.js';
import {
  type Config,
  clientsPerAddressMax,
  electionPortOf,
  type ServerAddress,
} from '../config/config.js';
import { checkpointTuning, type Tuning } from '../config/tuning.js';
import { RELEASE } from '../config/version.js';
import type { Counters } from '../driver/counters.js';
import type { DriverOptions } from '../driver/parts.js';
import { SCRUB_BYTES_PER_SECOND, SCRUB_REST_MS } from '../driver/scrub.js';
import { CLIENT_PORT_DEFAULTS, type ClientPortOptions } from '../net/client-port.js';
import { FourLetterWhitelist } from '../net/four-letter/words.js';
import type { PeerSecurity, PeerWay } from '../net/peer-admission.js';
import type { OwnVersions, SharedSettings } from '../net/peer-hello.js';
import { PEER_PORT_DEFAULTS } from '../net/peer-port.js';
import type { Address } from '../net/transport.js';
import { IDENTITY_BYTES_MAX } from '../pipeline/identities.js';
import type { PipelineOptions } from '../pipeline/options.js';
import { EPHEMERALS_PER_PART_MAX } from '../pipeline/request-preparer.js';
import { LEVEL_MAX } from '../state/level.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Recovered, Storage } from '../storage/index.js';
import type { ZabOptions, ZabStart } from '../zab/index.js';
import type { FileBudget, MemoryBudget } from './budgets.js';
import type { ServingPlan } from './last-configuration.js';
import { aclSchemesOf, rootAclOf } from './root-acl.js';
import type { Surroundings } from './surroundings.js';

export interface MemberOptions {
  /** Which of the config's servers this is. */
  readonly id: PeerId;
  readonly logger: Logger;
  /** Whether a quorum may found an ensemble although not every configured member is reachable. */
  readonly found: boolean;
  readonly tuning?: Tuning;
}

/** A member that is being put together: its configuration, its world, and what its disk has. */
export interface OpenedMember {
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

/** Votes settle for this long when not all reachable voters agree, ms. */
const SETTLE_MS = 200;
/**
 * The number of operations in a leader's overlay, each of 500 to 650 bytes: several times what nine
 * members with the usual limits may ask for at once, and 33 MB at most.
 */
const OVERLAY_SIZE_MAX = 50_000;
const CHUNK_BYTES = 256 << 10;
/**
 * Some two hundred proposals of 100 B, which take about 1 ms, and more in a process just started.
 */
const DELIVERY_BYTES = 32 << 10;
/** The time of a turn that deliveries may take; the part that is under way is completed. */
const DELIVERY_MS = 10;
/** The time of a turn that requests may take; the one that is under way is completed. */
const LEADER_SHARE_MS = 10;
/** Containers and TTL znodes are looked through this often, and reaped at most this fast. */
const CONTAINER_CHECK_MS = 60_000;
const CONTAINERS_PER_MINUTE = 10_000;
/** More than well-kept clocks differ by, and less than an error that a person would overlook. */
const CLOCK_TOLERANCE_MS = 10_000;

/** Draws the id and the identity that the member has if it founds an ensemble, or leads. */
export function zabOptions(
  { config, options, surroundings, budget, plan }: OpenedMember,
  limits: DerivedLimits,
): ZabOptions {
  return {
    id: options.id,
    members: config.servers.map((server) => server.id),
    heartbeatMs: config.peerHeartbeatMs,
    peerTimeoutMs: config.peerTimeoutMs,
    settleMs: SETTLE_MS,
    initTimeoutMs: config.initLimit * config.tickTimeMs,
    syncTimeoutMs: config.syncLimit * config.tickTimeMs,
    chunkBytesMax: options.tuning?.chunkBytes ?? CHUNK_BYTES,
    deliveryBytesMax: options.tuning?.deliveryBytes ?? DELIVERY_BYTES,
    windowBytesMax: limits.windowBytesMax,
    learnerWindowBytesMax: budget.learnerWindowBytesMax,
    newEnsembleId: surroundings.uuid(),
    // 0 says that an identity is not known.
    newIdentity: Math.max(1, randomNumber(surroundings)),
    foundWithQuorum: options.found,
    formerMembers: plan.former,
    abstainMs: plan.abstainMs,
  };
}

/** Random in [0, 2^48): no number of an earlier run of this member comes again. */
function randomNumber({ randomBytes }: Surroundings): number {
  return randomBytes(6).reduce((number, byte) => number * 256 + byte, 0);
}

export function pipelineOptions(
  { config, self, surroundings, budget }: OpenedMember,
  limits: DerivedLimits,
): PipelineOptions {
  return {
    id: self.id,
    minSessionTimeoutMs: config.minSessionTimeoutMs,
    maxSessionTimeoutMs: config.maxSessionTimeoutMs,
    outstandingMax: config.globalOutstandingLimit,
    outstandingBytesMax: limits.outstandingBytesMax,
    leftSessionsMax: LEFT_SESSIONS_MAX,
    watchLimits: { watcherBytesMax: budget.watcherBytesMax, bytesMax: budget.watchBytesMax },
    firstRequest: randomNumber(surroundings),
    skipAcl: config.skipACL,
    admission: new Set(config.enforceAuth),
    superIdentities: new Set(config.superIdentities),
    multiOpsMax: config.multiOpsMax,
    superDigest: config.superDigest,
    digestAlgs: config.digestAlgs,
    requestsPerSecondMax: config.requestsPerSecondMax,
    localSessions: config.localSessions,
    tickMs: config.peerHeartbeatMs / 2,
  };
}

/** The versions of this release, or of the older one that a test makes of it. */
function versionsOf(config: Config, options: MemberOptions): Omit<OwnVersions, 'treeBytes'> {
  const max = options.tuning?.wireVersionMax ?? WIRE_VERSION_MAX;
  const wire = { min: Math.min(WIRE_VERSION_MIN, max), max };
  return { wire, release: RELEASE, ...levelsOf(config, options) };
}

function levelsOf({ holdLevel }: Config, { tuning }: MemberOptions) {
  const levelMax = tuning?.levelMax ?? LEVEL_MAX;
  return { levelMax, levelAgreed: Math.min(levelMax, holdLevel ?? levelMax) };
}

export function peerPortOptions(
  { config, options, files, instance, budget }: OpenedMember,
  limits: DerivedLimits,
) {
  const peers = new Map<PeerId, Address>();
  let address: ListenAddress | null = null;
  for (const server of config.servers) {
    const { id, host, peerPort: port } = server;
    if (id === options.id) address = peerAddressOf(server);
    else peers.set(id, { host, port });
  }
  assert(address !== null, `no server in the config has id ${options.id}`);
  return {
    ...PEER_PORT_DEFAULTS,
    unprovenMax: files.peerStrangersMax,
    frameBytesMax: limits.peerFrameBytesMax,
    queueBytesMax: limits.peerQueueBytesMax,
    id: options.id,
    instance,
    address,
    peers,
    peerTimeoutMs: config.peerTimeoutMs,
    versions: { ...versionsOf(config, options), treeBytes: budget.treeBytesMax },
    shared: sharedSettings(config),
  };
}

/** The ways in which other members may connect, and what they prove themselves by. */
export function peerSecurity({ config, surroundings }: OpenedMember): PeerSecurity {
  const { peerAuth, servers } = config;
  const { peerSecrets: secrets = () => [], peerTls = null, randomBytes } = surroundings;
  const parts = { secrets, randomBytes, tls: peerTls };
  if (peerAuth === null || peerAuth === 'none') return { ...parts, ways: ['none'] };
  const { secretFile, tls, required } = peerAuth;
  const isAlone = servers.length === 1;
  const hasSecret = secretFile !== undefined;
  assert(isAlone || !hasSecret || secrets().length > 0, 'members with a secret know one');
  assert(isAlone || tls === undefined || peerTls !== null, 'members with TLS have a certificate');
  const ways: PeerWay[] = tls === undefined ? [] : ['tls'];
  if (hasSecret) ways.push('secret');
  if (!required) ways.push('none');
  return { ...parts, ways };
}

export function zabStart(recovered: Recovered): ZabStart {
  return {
    acceptedEpoch: recovered.acceptedEpoch,
    currentEpoch: recovered.currentEpoch,
    ensembleId: recovered.ensembleId,
    founded: recovered.founded,
    sound: recovered.damaged === null,
    applied: recovered.checkpointZxid,
    history: recovered.history,
    suffix: recovered.suffix,
    lineage: recovered.lineage,
  };
}

/**
 * What members' wall clocks may differ by. What a member knows of another one's clock is behind by
 * the time until the heartbeat with it was read, which is at most `peerTimeoutMs`. Two members'
 * clocks are compared, so two of these delays must fit into half of the tolerance; the other half
 * is for the clocks themselves.
 */
function clockToleranceOf(config: Config, { tuning }: MemberOptions): number {
  const floorMs = tuning?.clockToleranceMs ?? CLOCK_TOLERANCE_MS;
  return Math.max(floorMs, 4 * config.peerTimeoutMs);
}

export function driverOptions(
  { config, options, budget }: OpenedMember,
  membership: string,
): DriverOptions {
  const { levelMax, levelAgreed } = levelsOf(config, options);
  const leaseSlackMs = 2 * config.peerTimeoutMs;
  return {
    id: options.id,
    members: config.servers.length,
    clockToleranceMs: clockToleranceOf(config, options),
    tickMs: config.peerHeartbeatMs / 2,
    heartbeatMs: config.peerHeartbeatMs,
    peerTimeoutMs: config.peerTimeoutMs,
    deliveryMsMax: options.tuning?.deliveryMs ?? DELIVERY_MS,
    leaderShareMsMax: options.tuning?.leaderShareMs ?? LEADER_SHARE_MS,
    overlaySizeMax: options.tuning?.inFlight ?? OVERLAY_SIZE_MAX,
    transferTimeoutMs: config.initLimit * config.tickTimeMs,
    unwrittenBytesMax: options.tuning?.unwrittenBytes ?? budget.unwrittenBytesMax,
    behindBytesMax: options.tuning?.behindBytes ?? budget.behindBytesMax,
    snapshotWaitingBytesMax: budget.snapshotWaitingBytesMax,
    firstCounter: options.tuning?.firstCounter ?? 1,
    scrubBytesPerSecond: options.tuning?.scrubBytesPerSecond ?? SCRUB_BYTES_PER_SECOND,
    scrubRestMs: options.tuning?.scrubRestMs ?? SCRUB_REST_MS,
    checkpoint: {
      dirtyBytesMax: budget.checkpointBytesMax,
      ...checkpointTuning(options.tuning),
      firstPart: firstPartsOf(config.servers, options.id).checkpoint,
    },
    leader: {
      leaseSlackMs,
      ephemeralsPerPartMax: options.tuning?.ephemeralsPerPart ?? EPHEMERALS_PER_PART_MAX,
      skipAcl: config.skipACL,
      extendedTypes: config.extendedTypes,
      aclSchemes: aclSchemesOf(config),
      enforceQuota: config.enforceQuota,
      ephemeralsPerSessionMax: config.ephemeralsPerSessionMax,
      multiOpsMax: config.multiOpsMax,
      pathDepthMax: config.pathDepthMax,
      reconfigEnabled: config.reconfigEnabled,
      reaper: {
        intervalMs: options.tuning?.containerCheckMs ?? CONTAINER_CHECK_MS,
        perMinuteMax: CONTAINERS_PER_MINUTE,
        neverUsedMs: config.neverUsedContainersMs,
      },
    },
    rootAcl: rootAclOf(config),
    levels: {
      max: levelMax,
      agreed: levelAgreed,
      others: config.servers.map(({ id }) => id).filter((id) => id !== options.id),
    },
    membership,
    readOnlyAfterMs: config.readOnlyMode ? 2 * config.peerTimeoutMs : null,
  };
}

/** The text of /zookeeper/config: empty for a standalone server. */
export function membershipOf(config: Config): string {
  if (config.servers.length === 1) return '';
  const lines = config.servers.map((server) => {
    const { id, host, clientHost = host, peerPort, clientPort } = server;
    const election = electionPortOf(server);
    const quorum = `${longAddressText(host, peerPort)}:${election}:participant`;
    return `server.${id}=${quorum};${longAddressText(clientHost, clientPort)}`;
  });
  return [...lines, 'version=0'].join('\n');
}

export function clientPortOptions(
  { config, self, options, budget, files }: OpenedMember,
  limits: DerivedLimits,
): ClientPortOptions {
  return {
    ...CLIENT_PORT_DEFAULTS,
    inputBytesMax: limits.heldInputBytesMax,
    outputBytesMax: budget.outputBytesMax,
    streamsMax: files.clientStreamsMax,
    outputSoftBytes: options.tuning?.clientOutputBytes ?? CLIENT_PORT_DEFAULTS.outputSoftBytes,
    address: clientAddressOf(self),
    secureAddress: secureClientAddressOf(self),
    frameBytesMax: config.frameBytesMax,
    connectionsPerAddressMax: clientsPerAddressMax(config),
    boundsLoopback: config.maxClientCnxns !== null,
    offersLogins: config.sasl !== null,
    connectionTokens: {
      max: config.connectionTokensMax,
      perSecond: config.connectionTokensPerSecond,
    },
    whitelist: new FourLetterWhitelist(config.fourLetterWords),
  };
}

/** What a message, a transaction or a record adds to what a client sent, an ACL list included. */
const OVERHEAD_BYTES = 2 << 20;
/** Proposals or requests that the driver gathers before one more that may be of any size. */
const GATHERED_BYTES = 1 << 20;
const PEER_FRAME_BYTES_MIN = 32 << 20;
const PEER_QUEUE_BYTES_MIN = 64 << 20;
/**
 * The number of a snapshot's chunks in flight, each of which may have a znode of the largest size.
 */
const CHUNKS_QUEUED = 8;
/**
 * Recent proposals kept in memory, for learners that lost their link; tuning may say otherwise.
 * With so few, most batches are garbage by the next collection of the young generation. With more
 * they would survive it; then only a full collection frees their memory, which is outside the heap,
 * and that memory makes full collections more frequent.
 */
const WINDOW_BYTES = 1 << 20;
const OUTSTANDING_BYTES_MIN = 1 << 20;
/**
 * The unanswered requests of all members together: the leader may have to queue so much for one
 * follower at once. Pings overtake it, but all other messages to that follower wait behind it, so
 * it must pass in a fraction of the peer timeout.
 */
const OUTSTANDING_BYTES = 12 << 20;

/**
 * Sessions per address and member that have lost their connection and not yet expired. By the
 * tree's estimate they take 8 MB on each member. A hundred clients a second that never close their
 * sessions of 40 s leave 4,000.
 */
const LEFT_SESSIONS_MAX = 10_000;

/**
 * All members write the same log. So that they do not all take a checkpoint, or begin a new log
 * segment, at the same moment (a quorum that is fast should be left), each takes its first one
 * after a part of the usual way, by its place among the members: checkpoints 1/n, 2/n ... 1,
 * segments in between. (ZooKeeper draws each member's snapCount at random for the same reason.)
 */
export function firstPartsOf(members: readonly { readonly id: number }[], id: number) {
  const place = 1 + members.filter((member) => member.id < id).length;
  return { checkpoint: place / members.length, segment: (place - 0.5) / members.length };
}

export interface DerivedLimits {
  /** The size of a message between members. */
  readonly peerFrameBytesMax: number;
  /** What may wait to be sent on one link; with more, the link is dropped. */
  readonly peerQueueBytesMax: number;
  /** Requests of a member's clients, identities included, that it took in and did not answer. */
  readonly outstandingBytesMax: number;
  /** The bytes that all connections of a member may have read and not delivered. */
  readonly heldInputBytesMax: number;
  /** Proposals kept in memory for learners; more while one is brought up from disk. */
  readonly windowBytesMax: number;
}

/**
 * Limits that follow from others, so that what is admitted always fits all that is behind it.
 *
 * A client's frame becomes a request to the leader, a transaction in peer messages and log records,
 * and a znode record in checkpoints and snapshots. All sizes are in bytes.
 */
export function derivedLimits(given: {
  readonly frameBytesMax: number;
  readonly members: number;
  readonly inputBytesMax: number;
  readonly windowBytes?: number | undefined;
}): DerivedLimits {
  const { frameBytesMax, members, inputBytesMax } = given;
  const { windowBytes: windowBytesMax = WINDOW_BYTES } = given;
  // Paths, data and ids may each be repeated in UTF-8 that is longer than what came.
  const itemBytesMax = 2 * frameBytesMax + IDENTITY_BYTES_MAX + OVERHEAD_BYTES;
  const peerFrameBytesMax = Math.max(PEER_FRAME_BYTES_MIN, GATHERED_BYTES + itemBytesMax);
  const outstandingBytesMax = Math.max(
    OUTSTANDING_BYTES_MIN,
    Math.floor(OUTSTANDING_BYTES / members),
  );
  // A member that is full has still taken the whole request that made it so. Twice, because a link
  // to a slow member may still hold all of these requests as proposals when a quorum without that
  // member has logged them, so that they are answered and as many new ones come.
  const inFlight = 2 * members * (outstandingBytesMax + frameBytesMax + IDENTITY_BYTES_MAX);
  return {
    peerFrameBytesMax,
    peerQueueBytesMax: Math.max(PEER_QUEUE_BYTES_MIN, inFlight + CHUNKS_QUEUED * itemBytesMax),
    outstandingBytesMax,
    // `inputBytesMax` is also for unanswered requests. At least half of it is for what connections
    // hold, however small it is.
    heldInputBytesMax: Math.max(inputBytesMax - outstandingBytesMax, inputBytesMax / 2),
    windowBytesMax,
  };
}

/**
 * What members must share, for the hello: unequal members refuse each other and name both values.
 *
 * To add a setting, add a line. It belongs here if a quorum, a lease, or the outcome of a
 * transaction depends on it. A member of a release that does not name it is not compared in it.
 * Never a secret: any host that reaches the port for members can read it.
 *
 * Their order is that of the sentence in which a refusal names them.
 */
export function sharedSettings(config: Config): SharedSettings {
  const values: Readonly<Record<string, number | boolean | string | null>> = {
    servers: serversText(config),
    // Leases: how long members serve without contact, how long sessions live.
    peerTimeoutMs: config.peerTimeoutMs,
    tickTimeMs: config.tickTimeMs,
    minSessionTimeoutMs: config.minSessionTimeoutMs,
    maxSessionTimeoutMs: config.maxSessionTimeoutMs,
    // What a leader accepts, so that the next one goes by the same rules.
    frameBytesMax: config.frameBytesMax,
    extendedTypes: config.extendedTypes,
    skipACL: config.skipACL,
    enforceQuota: config.enforceQuota,
    ephemeralsPerSessionMax: config.ephemeralsPerSessionMax,
    multiOpsMax: config.multiOpsMax,
    pathDepthMax: config.pathDepthMax,
    neverUsedContainersMs: config.neverUsedContainersMs,
    treeBytesMax: config.treeBytesMax,
  };
  return Object.entries(values).map(([name, value]) => [name, shortened(String(value))]);
}

/**
 * Ids with their hosts, whatever the order of the file. Not the ports: one may be mapped on the way
 * to some members, and who answers there says its id in its hello.
 */
function serversText({ servers }: Config): string {
  const sorted = [...servers].sort((a, b) => a.id - b.id);
  return sorted.map(({ id, host }) => `${id}=${host}`).join(' ');
}

/** Cuts a long text. Distinct texts stay distinct. */
function shortened(text: string): string {
  if (text.length <= SHARED_CHARACTERS_MAX) return text;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, SHARED_CHARACTERS_MAX - 100)}... (SHA-256 ${digest})`;
}
