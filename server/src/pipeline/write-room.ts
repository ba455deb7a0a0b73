/**
 * Decides whether a write has room: in the tree (TreeRoom), and within the quota for which it
 * counts (QuotaGuard).
 *
 * The leader decides here, before anything is proposed. What adds nothing (deletes, smaller data,
 * sessions, checks) always passes, so there is a way back. Both keep what they refuse, or would,
 * for the log of LeaderService. Called by TxnPreparer and prepare-op.
 */
import { Fifo, type Zxid } from '@rookery/protocol';
import type { WithPath } from '../state/memory/path-view.js';
import { limitsPathOf, readLimits, readStats, statsPathOf } from '../state/quotas.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';
import { nameBytesIn, payloadBytes, znodeBytes } from '../state/tree-bytes.js';
import type { Acl } from '../state/txn.js';

export interface TreeBound {
  /** The bound of `ReplicatedState.bytes`; it may fall below what exists. */
  readonly bytesMax: number;
  /** A disk is full: whatever carries data is refused, whether it adds to the tree or not. */
  readonly isDiskFull: boolean;
}

/** For tests that are about something else. */
export const NO_BOUND: TreeBound = { bytesMax: Number.POSITIVE_INFINITY, isDiskFull: false };

/** What was refused since the last question, for the log. */
export interface TreeRefusals {
  /** Because the tree is full, and because a disk is. */
  readonly count: number;
  readonly forDisk: number;
  readonly bytes: number;
  readonly bytesMax: number;
}

/**
 * A transaction that would take the state beyond its bound is refused, so a load never ends members
 * with less memory than it needs. A full disk is another thing: it refuses whatever carries data.
 *
 * The growth of each transaction in flight is kept until it is applied, when the state's own count
 * includes it. What a decision leaves out (quota statistics, an ACL list that is no longer used,
 * what a closing session takes with it) is therefore missing only until then.
 */
export class TreeRoom {
  readonly #state: ReplicatedState;
  readonly #bound: TreeBound;
  /** What each transaction in flight adds or takes, if anything, and the sum. */
  readonly #inFlight = new Fifo<{ readonly zxid: Zxid; readonly growth: number }>();
  #inFlightBytes = 0;
  /** The growth of the transaction that is being decided. */
  #growth = 0;
  #isMulti = false;
  #refused = 0;
  #refusedForDisk = 0;

  constructor(state: ReplicatedState, bound: TreeBound) {
    this.#state = state;
    this.#bound = bound;
  }

  /** The bytes of the state once everything in flight is applied, as far as that is known. */
  get bytes(): number {
    return this.#state.bytes + this.#inFlightBytes;
  }

  begin(): void {
    this.#growth = 0;
    this.#isMulti = false;
  }

  /** The operations of one transaction follow: `refusesMulti` says whether all of it fits. */
  beginMulti(): void {
    this.#isMulti = true;
  }

  /** The transaction since `begin` will be applied; one that failed does not get here. */
  commit(zxid: Zxid): void {
    if (this.#growth === 0) return;
    this.#inFlight.push({ zxid, growth: this.#growth });
    this.#inFlightBytes += this.#growth;
  }

  /** The transaction is in the state now. */
  applied(zxid: Zxid): void {
    const { first } = this.#inFlight;
    if (first?.zxid !== zxid) return;
    this.#inFlightBytes -= first.growth;
    this.#inFlight.shift();
  }

  /** Whether a disk is full. For an operation that needs room only in the log. */
  refusesForDisk(): boolean {
    if (!this.#bound.isDiskFull) return false;
    this.#refusedForDisk += 1;
    return true;
  }

  refusesCreate(op: WithPath, dataBytes: number, acl: readonly Acl[]): boolean {
    if (this.refusesForDisk()) return true;
    const aclBytes = this.#state.tree.aclGrowth(acl);
    return this.#refuses(znodeBytes(nameBytesIn(op), dataBytes) + aclBytes);
  }

  /** `before` and `after` are bytes of data. */
  refusesData(op: WithPath, before: number, after: number): boolean {
    if (this.refusesForDisk()) return true;
    if (before === after) return false;
    const nameBytes = nameBytesIn(op);
    return this.#refuses(payloadBytes(nameBytes, after) - payloadBytes(nameBytes, before));
  }

  refusesAcl(acl: readonly Acl[]): boolean {
    if (this.refusesForDisk()) return true;
    return this.#refuses(this.#state.tree.aclGrowth(acl));
  }

  deletes(op: WithPath, dataBytes: number): void {
    this.#growth -= znodeBytes(nameBytesIn(op), dataBytes);
  }

  /** Whether all operations since `beginMulti` together add more than there is room for. */
  refusesMulti(): boolean {
    return this.#exceeds(this.#growth);
  }

  /** The refusals since the last call; null if nothing was refused. */
  takeRefusals(): TreeRefusals | null {
    if (this.#refused + this.#refusedForDisk === 0) return null;
    const [count, forDisk] = [this.#refused, this.#refusedForDisk];
    this.#refused = 0;
    this.#refusedForDisk = 0;
    return { count, forDisk, bytes: this.bytes, bytesMax: this.#bound.bytesMax };
  }

  #refuses(growth: number): boolean {
    if (!this.#isMulti && this.#exceeds(growth)) return true;
    this.#growth += growth;
    return false;
  }

  #exceeds(growth: number): boolean {
    if (growth <= 0 || this.bytes + growth <= this.#bound.bytesMax) return false;
    this.#refused += 1;
    return true;
  }
}

interface QuotaChange {
  readonly count: number;
  readonly bytes: number;
}

/**
 * A subtree that has more than its quota allows, or would have if the write were not refused;
 * `value` includes that write.
 */
interface QuotaExcess {
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

/**
 * It compares with the statistics as applied, like ZooKeeper: what is in flight is not counted yet.
 * A hard limit refuses if the operator has set `enforceQuota`. Anything that is exceeded is noted
 * for the log: the newest note of each path, for a bounded number of paths.
 */
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
