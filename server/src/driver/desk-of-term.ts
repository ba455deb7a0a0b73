/**
 * A leader's desk at the beginning of its term: what the member's options mean for what it may
 * prepare. Never keeps anything.
 */
import type { Zxid } from '@rookery/protocol';
import { Leadership } from '../pipeline/leadership.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { NodeAges } from '../state/tree-reads.js';
import { type DeskHooks, LeaderDesk } from './leader-desk.js';
import type { DriverParts } from './parts.js';

export interface Term {
  readonly epoch: number;
  /** The last that was proposed before it. */
  readonly lastZxid: Zxid;
  readonly state: ReplicatedState;
  readonly ages: NodeAges;
}

/** What only the driver can do for it. */
export type DriverHooks = Omit<DeskHooks, 'note' | 'noRoom'>;

export function deskOfTerm(parts: DriverParts, term: Term, hooks: DriverHooks) {
  const { options, random16, logger, treeBound } = parts;
  const leadership = new Leadership(
    {
      state: term.state,
      ages: term.ages,
      options: {
        id: options.id,
        epoch: term.epoch,
        lastZxid: term.lastZxid,
        firstCounter: options.firstCounter,
        leaseSlackMs: 2 * options.timeoutMs,
        ...options.writeRules,
        treeBound,
        reaper: options.reaper,
        ephemeralsPerPartMax: options.ephemeralsPerPartMax,
      },
      random16,
    },
    hooks.time(),
  );
  const deskHooks: DeskHooks = {
    ...hooks,
    note: (text) => logger.warn({ detail: text }, 'quota.exceeded'),
    noRoom: (refusals) => treeBound.onRefused(refusals),
  };
  return new LeaderDesk(leadership, deskHooks, options.inFlightMax);
}
