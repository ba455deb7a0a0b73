/**
 * Compares the config file with the settings that a data directory last served with, and plans how
 * the member starts if the list of servers or `peerTimeoutMs` has changed.
 *
 * A quorum of one list of members need not meet a quorum of another, so a member whose file has
 * another list keeps the former one, durably and before it says anything, and counts a majority of
 * both until a leader has its quorum by both. Members of unequal files refuse each other, so that
 * quorum has the new file. With a shorter peerTimeoutMs it takes no part in elections until no
 * member serves by the longer one any more: a leader serves for H after its quorum last answered,
 * its followers for H after that, and none of that quorum answers it once it was started again.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import type { Recovered, ServedWith } from '../storage/contract.js';
import type { Storage } from '../storage/index.js';
import { majorityOf } from '../zab/quorum.js';

export interface ServingPlan {
  /** It must be durable before the member takes part in anything. */
  readonly kept: ServedWith;
  readonly configured: ServedWith;
  /** Lists of which each quorum needs a majority, besides the configured one. */
  readonly former: readonly (readonly number[])[];
  /** The member takes no part in elections for this time after its start, ms. */
  readonly abstainMs: number;
}

/** The number of changes of the file that are not settled. */
const FORMER_LISTS_MAX = 8;

/** The plan, durable where it must be. Throws OperatorError, and closes the storage then. */
export async function beginServing(
  storage: Storage,
  recovered: Recovered,
  { config, logger }: { readonly config: Config; readonly logger: Logger },
): Promise<ServingPlan> {
  let plan: ServingPlan;
  try {
    plan = planServing(recovered, config);
  } catch (error) {
    await storage.close();
    throw error;
  }
  const { kept, configured, former, abstainMs } = plan;
  if (former.length > 0) {
    const facts = { before: former, now: configured.lists[0] };
    logger.warn(facts, 'server.list_changed: a majority of each must be here with the new list');
  }
  if (abstainMs > 0) {
    const facts = { before: kept.peerTimeoutMs, now: configured.peerTimeoutMs, abstainMs };
    logger.warn(facts, 'server.peer_timeout_shortened: no part in elections for this time');
  }
  await storage.beginServing(kept, configured);
  return plan;
}

/** Throws OperatorError for a list that can never be served with here. */
export function planServing(
  found: { readonly servedWith: ServedWith | null; readonly ensembleId: string },
  config: Config,
): ServingPlan {
  const { peerTimeoutMs } = config;
  const list = config.servers.map(({ id }) => id).sort((a, b) => a - b);
  const configured = { lists: [list], peerTimeoutMs };
  // Without an ensemble it has never acknowledged anything.
  const before = found.ensembleId === '' ? null : found.servedWith;
  if (before === null) return { kept: configured, configured, former: [], abstainMs: 0 };
  const former = before.lists.filter((one) => one.join() !== list.join());
  for (const one of former) refuseImpossible(one, list);
  if (former.length > FORMER_LISTS_MAX) {
    throw new OperatorError(
      `the list of servers was changed ${former.length} times without ever being served with: ` +
        `start all members with one of these lists: ${former.map(textOf).join('; ')}`,
    );
  }
  const longerMs = Math.max(before.peerTimeoutMs, peerTimeoutMs);
  const isAlone = list.length === 1 && former.length === 0;
  return {
    kept: { lists: [...former, list], peerTimeoutMs: longerMs },
    configured,
    former,
    abstainMs: longerMs > peerTimeoutMs && !isAlone ? 2 * longerMs : 0,
  };
}

function refuseImpossible(former: readonly number[], list: readonly number[]): void {
  const needed = majorityOf(former.length);
  const stay = former.filter((id) => list.includes(id));
  if (stay.length >= needed) return;
  throw new OperatorError(
    `the file lists servers ${textOf(list)}, this data directory last served with ` +
      `${textOf(former)}: at least ${needed} of those must stay in the list, and ` +
      `${stay.length === 0 ? 'none' : `only ${textOf(stay)}`} would; change it in steps that ` +
      'each keep a majority of the list before',
  );
}

function textOf(list: readonly number[]): string {
  return list.join(', ');
}
