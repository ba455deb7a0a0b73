/**
 * Decides whether a write stays within the quota for which it counts.
 *
 * It compares with the statistics as applied, like ZooKeeper: what is in flight is not counted yet.
 * A hard limit refuses if the operator has set `enforceQuota`. Whatever is exceeded is noted for
 * the driver to log: the newest note of each path, for a bounded number of paths. Called by
 * prepare-op.
 */

import type { WithPath } from '../state/memory/path-view.js';
import { limitsPathOf, readLimits, readStats, statsPathOf } from '../state/quotas.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';

export interface QuotaChange {
  readonly count: number;
  readonly bytes: number;
}

/**
 * A subtree that has more than its quota allows, or would have if the write were not refused;
 * `value` includes that write.
 */
export interface QuotaExcess {
  readonly path: string;
  readonly what: 'count' | 'bytes';
  readonly value: number;
  readonly limit: number;
  /** A hard limit refuses changes where quotas are enforced. */
  readonly isHard: boolean;
}

interface Limit {
  readonly what: 'count' | 'bytes';
  readonly value: number;
  readonly soft: number;
  readonly hard: number;
}

const EXCESSES_MAX = 100;
/**
 * A longer text counts as unreadable. It would be read for each write below its path, and a client
 * may have made it as long as a request; what setquota writes has less than 150 bytes.
 */
const TEXT_BYTES_MAX = 1024;
const NO_EXCESSES: readonly QuotaExcess[] = [];

export class QuotaGuard {
  readonly #state: ReplicatedState;
  readonly #enforce: boolean;
  /** The newest excess of each path. */
  readonly #excesses = new Map<string, QuotaExcess>();

  constructor(state: ReplicatedState, enforce: boolean) {
    this.#state = state;
    this.#enforce = enforce;
  }

  /** Returns true if the change must be refused: -125. */
  refuses(op: WithPath, change: QuotaChange): boolean {
    if (this.#state.quotas.isEmpty) return false;
    const prefix = this.#state.quotas.governing(op.path);
    if (prefix === null) return false;
    const { tree } = this.#state;
    const limitsNode = tree.find(limitsPathOf(prefix));
    const statsNode = tree.find(statsPathOf(prefix));
    if (limitsNode === NO_NODE || statsNode === NO_NODE) return false;
    if (tree.dataLength(limitsNode) > TEXT_BYTES_MAX) return false;
    if (tree.dataLength(statsNode) > TEXT_BYTES_MAX) return false;
    const limits = readLimits(tree.data(limitsNode));
    const stats = readStats(tree.data(statsNode));
    const { count, bytes } = change;
    const counted = { soft: limits.count, hard: limits.countHard, value: stats.count + count };
    const sized = { soft: limits.bytes, hard: limits.bytesHard, value: stats.bytes + bytes };
    if (count !== 0 && this.#exceeds(prefix, { what: 'count', ...counted })) return true;
    return bytes !== 0 && this.#exceeds(prefix, { what: 'bytes', ...sized });
  }

  /** Returns the excesses since the last call, for the log; the newest one of each path. */
  takeExcesses(): readonly QuotaExcess[] {
    if (this.#excesses.size === 0) return NO_EXCESSES;
    const excesses = [...this.#excesses.values()];
    this.#excesses.clear();
    return excesses;
  }

  /** A hard limit replaces the soft one of the same kind. */
  #exceeds(prefix: string, { what, value, soft, hard }: Limit): boolean {
    const isHard = hard > -1;
    const limit = isHard ? hard : soft;
    if (limit < 0 || value <= limit) return false;
    if (this.#excesses.size < EXCESSES_MAX || this.#excesses.has(prefix)) {
      this.#excesses.set(prefix, { path: prefix, what, value, limit, isHard });
    }
    return isHard && this.#enforce;
  }
}
