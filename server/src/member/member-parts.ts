/**
 * The parts of a member that need nothing but its configuration and what was recovered: its core
 * and its pipeline. Called by member.ts, which puts them together with ports and driver.
 */
import type { Config, ServerAddress } from '../config/config.js';
import { digestOf } from '../config/digest-of.js';
import type { Counters } from '../driver/counters.js';
import { PeerPort } from '../net/peer-port.js';
import type { PeerPortParts } from '../net/peer-port-parts.js';
import { ServerStats } from '../net/server-stats.js';
import { Pipeline } from '../pipeline/pipeline.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Recovered, Storage } from '../storage/index.js';
import { Zab } from '../zab/index.js';
import type { FileBudget } from './file-budget.js';
import { type DerivedLimits, derivedLimits, LEFT_SESSIONS_MAX } from './limits.js';
import {
  type MemberOptions,
  peerPortOptions,
  peerSecurity,
  zabOptions,
  zabStart,
} from './member-options.js';
import type { MemoryBudget } from './memory-budget.js';
import type { ServingPlan } from './served-with.js';
import type { Surroundings } from './surroundings.js';

/** What a member is made of, as `Member.open` found it. */
export interface MemberParts {
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

export function newZab(parts: MemberParts, limits: DerivedLimits): Zab {
  const { config, options, surroundings, budget, recovered, plan } = parts;
  const newEnsembleId = surroundings.uuid();
  const newIdentity = identityOf(surroundings.randomBytes(6));
  const given = { ...limits, ...budget, ...plan, newEnsembleId, newIdentity };
  return new Zab(zabOptions(config, options, given), zabStart(recovered));
}

/** Random in [1, 2^48): 0 says that an identity is not known. */
function identityOf(bytes: Uint8Array): number {
  return Math.max(1, firstRequestOf(bytes));
}

export function newPeerPort(
  parts: MemberParts,
  {
    limits,
    ...given
  }: Pick<PeerPortParts, 'starts' | 'handler' | 'identity'> & {
    readonly limits: DerivedLimits;
  },
): PeerPort {
  const { config, options, surroundings } = parts;
  return new PeerPort({
    ...given,
    options: peerPortOptions(config, options, { ...parts, limits }),
    transport: surroundings.transport,
    timers: surroundings.timers,
    random: () => surroundings.random(),
    logger: options.logger,
    security: peerSecurity(config, surroundings),
  });
}

export function statsOf({ clientTls, peerTls, audit }: Surroundings): ServerStats {
  const tls = { tls: clientTls?.figures, peerTls: peerTls?.figures };
  return new ServerStats({ ...tls, audit: audit?.figures });
}

export function limitsOf({ config, options, budget }: MemberParts): DerivedLimits {
  const { windowBytes } = options.tuning ?? {};
  return derivedLimits({ ...config, ...budget, members: config.servers.length, windowBytes });
}

export function newPipeline(
  { config, self, surroundings, budget }: MemberParts,
  state: ReplicatedState,
  limits: DerivedLimits,
): Pipeline {
  return new Pipeline({
    state,
    options: {
      id: self.id,
      minSessionTimeoutMs: config.minSessionTimeoutMs,
      maxSessionTimeoutMs: config.maxSessionTimeoutMs,
      outstandingMax: config.globalOutstandingLimit,
      outstandingBytesMax: limits.outstandingBytesMax,
      leftSessionsMax: LEFT_SESSIONS_MAX,
      watchLimits: {
        watcherBytesMax: budget.watcherBytesMax,
        bytesMax: budget.watchBytesMax,
      },
      firstRequest: firstRequestOf(surroundings.randomBytes(6)),
      skipAcl: config.skipACL,
      admission: new Set(config.enforceAuth),
      superIdentities: new Set(config.superIdentities),
      multiOpsMax: config.multiOpsMax,
      superDigest: config.superDigest,
      digestAlgs: config.digestAlgs,
      requestsPerSecondMax: config.requestsPerSecondMax,
      localSessions: config.localSessions,
      tickMs: config.peerHeartbeatMs / 2,
    },
    digestOf,
    random16: () => surroundings.randomBytes(16),
    sasl: surroundings.sasl ?? null,
    logins: surroundings.logins,
    superPassword: surroundings.passwords?.judgeOf(config.superDigest) ?? null,
    audit: surroundings.audit ?? null,
  });
}

/** Random in [0, 2^48): no number of an earlier run of this member comes again. */
function firstRequestOf(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}
