/**
 * A leader's desk at the beginning of its term: what the member's options mean for what it may
 * prepare. Never keeps anything.
 */
import type { Zxid } from '@rookery/protocol';
import { Leadership } from '../pipeline/leadership.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { type DeskHooks, LeaderDesk } from './leader-desk.js';
import type { DriverParts } from './parts.js';

export interface Term {
  readonly epoch: number;
  /** The last that was proposed before it. */
  readonly lastZxid: Zxid;
  readonly state: ReplicatedState;
}

export function deskOfTerm({ options, random16 }: DriverParts, term: Term, hooks: DeskHooks) {
  const leadership = new Leadership(
    {
      state: term.state,
      options: {
        id: options.id,
        epoch: term.epoch,
        lastZxid: term.lastZxid,
        firstCounter: options.firstCounter,
        leaseSlackMs: 2 * options.timeoutMs,
        ...options.writeRules,
        reaper: options.reaper,
      },
      random16,
    },
    hooks.time(),
  );
  return new LeaderDesk(leadership, hooks);
}
