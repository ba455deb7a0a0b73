/**
 * How a member is started, and what its core and driver get of that, of its configuration and disk.
 *
 * Owns the defaults that no configuration sets. Only translates: it starts and reads nothing.
 */
import type { PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { BACKLOG_LIMITS, firstPartsOf } from './limits.js';
import type { Recovered } from './storage/index.js';
import { checkpointTuning, type Tuning } from './tuning.js';
import type { ZabOptions, ZabStart } from './zab/index.js';

export interface MemberOptions {
  /** Which of the config's servers this is. */
  readonly id: PeerId;
  readonly logger: Logger;
  /** Found an ensemble although not every configured member is reachable. */
  readonly found: boolean;
  readonly tuning?: Tuning;
}

/** Votes settle for this long when not all reachable voters agree, ms. */
const SETTLE_MS = 200;
const CHUNK_BYTES = 256 << 10;
/** Some two hundred proposals of 100 B: about a ms, and some when nothing ran before. */
const DELIVERY_BYTES = 32 << 10;
/** Of a turn; it ends with the part that it is at. */
const DELIVERY_MS = 10;
/** Containers and TTL znodes are looked through this often, and reaped at most this fast. */
const CONTAINER_CHECK_MS = 60_000;
const CONTAINERS_PER_MINUTE = 10_000;

export function zabOptions(
  config: Config,
  options: MemberOptions,
  given: Pick<ZabOptions, 'windowBytesMax' | 'newEnsembleId'>,
): ZabOptions {
  return {
    id: options.id,
    voters: config.servers.map((server) => server.id),
    heartbeatMs: config.peerHeartbeatMs,
    timeoutMs: config.peerTimeoutMs,
    settleMs: SETTLE_MS,
    initTimeoutMs: config.initLimit * config.tickTimeMs,
    syncTimeoutMs: config.syncLimit * config.tickTimeMs,
    chunkBytesMax: options.tuning?.chunkBytes ?? CHUNK_BYTES,
    deliveryBytesMax: options.tuning?.deliveryBytes ?? DELIVERY_BYTES,
    windowBytesMax: given.windowBytesMax,
    newEnsembleId: given.newEnsembleId,
    foundWithQuorum: options.found,
  };
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
  };
}

export function driverOptions(config: Config, options: MemberOptions, membership: string) {
  return {
    id: options.id,
    tickMs: config.peerHeartbeatMs / 2,
    heartbeatMs: config.peerHeartbeatMs,
    timeoutMs: config.peerTimeoutMs,
    deliveryMsMax: options.tuning?.deliveryMs ?? DELIVERY_MS,
    transferTimeoutMs: config.initLimit * config.tickTimeMs,
    unwrittenBytesMax: options.tuning?.unwrittenBytes ?? BACKLOG_LIMITS.unwrittenBytesMax,
    behindBytesMax: options.tuning?.behindBytes ?? BACKLOG_LIMITS.behindBytesMax,
    firstCounter: options.tuning?.firstCounter ?? 1,
    checkpoint: {
      ...checkpointTuning(options.tuning),
      firstPart: firstPartsOf(config.servers, options.id).checkpoint,
    },
    writeRules: {
      skipAcl: config.skipACL,
      extendedTypes: config.extendedTypes,
      enforceQuota: config.enforceQuota,
      reconfigEnabled: config.reconfigEnabled,
    },
    reaper: {
      intervalMs: options.tuning?.containerCheckMs ?? CONTAINER_CHECK_MS,
      perMinuteMax: CONTAINERS_PER_MINUTE,
    },
    membership,
    readOnlyAfterMs: config.readOnlyMode ? 2 * config.peerTimeoutMs : null,
  };
}
