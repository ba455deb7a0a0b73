/**
 * Makes the service of a leader at the beginning of its term, with the rules for writes that follow
 * from the member's options. Keeps nothing.
 */
import type { Zxid } from '@rookery/protocol';
import { prefixedHex } from '../net/four-letter/format.js';
import { RequestPreparer } from '../pipeline/request-preparer.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { NodeAges } from '../state/tree-reads.js';
import { LeaderService, type LeaderServiceHooks } from './leader-service.js';
import type { DriverParts } from './parts.js';
import { ProposalBatcher } from './proposal-batcher.js';

export interface Term {
  readonly epoch: number;
  /** The zxid of the last proposal before the term. */
  readonly lastZxid: Zxid;
  readonly state: ReplicatedState;
  readonly ages: NodeAges;
}

/** What only the driver can do for the service. */
export interface DriverHooks
  extends Omit<LeaderServiceHooks, 'onExpired' | 'onQuotaExceeded' | 'onTreeFull'> {
  /** Runs a turn. */
  wake(): void;
}

export function newLeaderService(parts: DriverParts, term: Term, hooks: DriverHooks) {
  const { options, random16, logger, treeBound } = parts;
  const batcher = new ProposalBatcher(term.lastZxid, parts.timers, () => hooks.wake());
  const preparer = new RequestPreparer(
    {
      state: term.state,
      ages: term.ages,
      options: {
        epoch: term.epoch,
        lastZxid: term.lastZxid,
        firstCounter: options.firstCounter,
        leaseSlackMs: 2 * options.peerTimeoutMs,
        ...options.writeRules,
        treeBound,
        reaper: options.reaper,
        ephemeralsPerPartMax: options.ephemeralsPerPartMax,
      },
      random16,
      sink: batcher,
    },
    hooks.time(),
  );
  const serviceHooks: LeaderServiceHooks = {
    ...hooks,
    onExpired: ({ count, sessions }) => {
      const named = sessions.map((one) => ({ ...one, session: prefixedHex(one.session) }));
      logger.info({ count, sessions: named }, 'sessions.expired');
    },
    onQuotaExceeded: (excess) => logger.warn({ ...excess }, 'quota.exceeded'),
    onTreeFull: (refusals) => treeBound.onRefused(refusals),
  };
  const { leaderShareMsMax: shareMs, overlaySizeMax } = options;
  const limits = { shareMs, overlaySizeMax };
  const service = new LeaderService({ preparer, batcher }, serviceHooks, parts.timers, limits);
  const { rootAcl } = options;
  // Nothing was ever proposed, so nobody was served by an open root. If this leader is lost before
  // a quorum has its proposal, the next one finds the history as empty, and proposes it again.
  if (term.lastZxid === 0 && rootAcl !== null) {
    preparer.foundEnsemble(rootAcl, hooks.time());
    logger.info({ entries: rootAcl.length }, 'ensemble.root_acl');
  }
  return service;
}
