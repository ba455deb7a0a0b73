/**
 * The pipeline of a member, made of its configuration, its bounds and its randomness.
 */
import type { Config, ServerAddress } from './config.js';
import { digestOf } from './digest-of.js';
import type { DerivedLimits } from './limits.js';
import type { MemoryBudget } from './memory-budget.js';
import { Pipeline } from './pipeline/pipeline.js';
import type { ReplicatedState } from './state/replicated-state.js';

export function newPipeline(
  config: Config,
  self: ServerAddress,
  state: ReplicatedState,
  given: {
    readonly surroundings: { randomBytes(count: number): Uint8Array };
    readonly limits: DerivedLimits;
    readonly budget: MemoryBudget;
  },
): Pipeline {
  const { surroundings, limits, budget } = given;
  return new Pipeline({
    state,
    options: {
      id: self.id,
      minSessionTimeoutMs: config.minSessionTimeoutMs,
      maxSessionTimeoutMs: config.maxSessionTimeoutMs,
      outstandingMax: config.globalOutstandingLimit,
      outstandingBytesMax: limits.outstandingBytesMax,
      watchLimits: {
        watcherBytesMax: budget.watcherBytesMax,
        bytesMax: budget.watchBytesMax,
      },
      firstRequest: firstRequestOf(surroundings.randomBytes(6)),
      skipAcl: config.skipACL,
      multiOpsMax: config.multiOpsMax,
      superDigest: config.superDigest,
      localSessions: config.localSessions,
      tickMs: config.peerHeartbeatMs / 2,
    },
    digestOf,
    random16: () => surroundings.randomBytes(16),
  });
}

/** Random in [1, 2^48): 0 says that an identity is not known. */
export function identityOf(bytes: Uint8Array): number {
  return Math.max(1, firstRequestOf(bytes));
}

/** Random in [0, 2^48): no number of an earlier run of this member comes again. */
function firstRequestOf(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0);
}
