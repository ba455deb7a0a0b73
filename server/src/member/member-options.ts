/**
 * How a member is started, and what its core and driver get of that, of its configuration and disk.
 *
 * Owns the defaults that no configuration sets. Only translates: it starts and reads nothing.
 */
import {
  assert,
  longAddressText,
  type PeerId,
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
import { SCRUB_BYTES_PER_SECOND, SCRUB_REST_MS } from '../driver/scrub.js';
import { CLIENT_PORT_DEFAULTS, type ClientPortOptions } from '../net/client-port.js';
import { FourLetterWhitelist } from '../net/four-letter/words.js';
import type { PeerSecurity, PeerWay } from '../net/peer-admission.js';
import type { OwnVersions } from '../net/peer-hello.js';
import { PEER_PORT_DEFAULTS, type PeerPortOptions } from '../net/peer-port-parts.js';
import type { Address } from '../net/transport.js';
import { EPHEMERALS_PER_PART_MAX } from '../pipeline/session-ends.js';
import { LEVEL_MAX } from '../state/level.js';
import type { Recovered } from '../storage/index.js';
import type { ZabOptions, ZabStart } from '../zab/index.js';
import type { FileBudget } from './file-budget.js';
import { type DerivedLimits, firstPartsOf } from './limits.js';
import type { MemoryBudget } from './memory-budget.js';
import { aclSchemesOf, rootAclOf } from './root-acl.js';
import type { ServingPlan } from './served-with.js';
import { sharedSettings } from './shared-settings.js';

export interface MemberOptions {
  /** Which of the config's servers this is. */
  readonly id: PeerId;
  readonly logger: Logger;
  /** Whether a quorum may found an ensemble although not every configured member is reachable. */
  readonly found: boolean;
  readonly tuning?: Tuning;
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

export function zabOptions(
  config: Config,
  options: MemberOptions,
  given: Pick<ServingPlan, 'former' | 'abstainMs'> &
    Pick<ZabOptions, 'windowBytesMax' | 'learnerWindowBytesMax' | 'newEnsembleId' | 'newIdentity'>,
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
    windowBytesMax: given.windowBytesMax,
    learnerWindowBytesMax: given.learnerWindowBytesMax,
    newEnsembleId: given.newEnsembleId,
    newIdentity: given.newIdentity,
    foundWithQuorum: options.found,
    formerMembers: given.former,
    abstainMs: given.abstainMs,
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
  config: Config,
  options: MemberOptions,
  given: {
    readonly limits: DerivedLimits;
    readonly files: FileBudget;
    readonly instance: string;
    readonly budget: MemoryBudget;
  },
): PeerPortOptions {
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
    unprovenMax: given.files.peerStrangersMax,
    frameBytesMax: given.limits.peerFrameBytesMax,
    queueBytesMax: given.limits.peerQueueBytesMax,
    id: options.id,
    instance: given.instance,
    address,
    peers,
    peerTimeoutMs: config.peerTimeoutMs,
    versions: { ...versionsOf(config, options), treeBytes: given.budget.treeBytesMax },
    shared: sharedSettings(config),
  };
}

/** The ways in which other members may connect, and what they prove themselves by. */
export function peerSecurity(
  { peerAuth, servers }: Pick<Config, 'peerAuth' | 'servers'>,
  given: {
    readonly peerSecrets?: () => readonly Uint8Array[];
    readonly randomBytes: (count: number) => Uint8Array;
    readonly peerTls?: PeerSecurity['tls'];
  },
): PeerSecurity {
  const { peerSecrets: secrets = () => [], peerTls = null, randomBytes } = given;
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
  config: Config,
  options: MemberOptions,
  { membership, budget }: { readonly membership: string; readonly budget: MemoryBudget },
) {
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
    writeRules: {
      skipAcl: config.skipACL,
      extendedTypes: config.extendedTypes,
      aclSchemes: aclSchemesOf(config),
      enforceQuota: config.enforceQuota,
      ephemeralsPerSessionMax: config.ephemeralsPerSessionMax,
      multiOpsMax: config.multiOpsMax,
      pathDepthMax: config.pathDepthMax,
      reconfigEnabled: config.reconfigEnabled,
    },
    rootAcl: rootAclOf(config),
    levels: {
      max: levelsOf(config, options).levelMax,
      agreed: levelsOf(config, options).levelAgreed,
      others: config.servers.map(({ id }) => id).filter((id) => id !== options.id),
    },
    reaper: {
      intervalMs: options.tuning?.containerCheckMs ?? CONTAINER_CHECK_MS,
      perMinuteMax: CONTAINERS_PER_MINUTE,
      neverUsedMs: config.neverUsedContainersMs,
    },
    ephemeralsPerPartMax: options.tuning?.ephemeralsPerPart ?? EPHEMERALS_PER_PART_MAX,
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

/** What the client port needs besides the configuration, derived or measured. */
interface ClientPortFacts {
  readonly self: ServerAddress;
  readonly options: MemberOptions;
  readonly budget: Pick<MemoryBudget, 'outputBytesMax'>;
  readonly files: FileBudget;
  readonly limits: DerivedLimits;
}

export function clientPortOptions(config: Config, facts: ClientPortFacts): ClientPortOptions {
  const { self, options, budget, files, limits } = facts;
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
