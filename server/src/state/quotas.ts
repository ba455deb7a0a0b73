/**
 * Knows which paths have a quota, and maintains the size of what is below each in its
 * zookeeper_stats.
 *
 * A node counts for the longest path above it (or itself) that has a limits node, the node of that
 * path included. Creating the stats node measures the subtree, which needs no walk over it. The
 * stats are part of the replicated state but are not a write: neither version nor times change, and
 * no watch fires. Every change is made while a transaction is applied, so it is the same on every
 * member. Called by ReplicatedState; `governing` by the leader's prepare too.
 *
 * The text of a quota is `count=N,bytes=M`, and with hard limits
 * `count=N,bytes=M=;byteHardLimit=B;countHardLimit=C`: the odd `=` keeps old parsers working. -1
 * stands for no limit, as does anything that cannot be parsed, because clients may write anything
 * there.
 */
import { bufferOf } from '@rookery/protocol';
import type { Capture } from './capture.js';
import { beginsWith, type WithPath } from './memory/path-view.js';
import { type Family, NO_NODE, type Tree } from './tree.js';

export class Quotas {
  readonly #tree: Tree;
  readonly #capture: Capture;
  readonly #prefixes = new QuotaPrefixes();

  constructor(tree: Tree, capture: Capture) {
    this.#tree = tree;
    this.#capture = capture;
  }

  get isEmpty(): boolean {
    return this.#prefixes.count === 0;
  }

  /**
   * The path whose quota `path` counts for, or null. It costs nothing while there is no quota at
   * all.
   */
  governing(path: string): string | null {
    return this.#prefixes.count === 0 ? null : this.#prefixes.governing(path);
  }

  /** Called after the create. */
  created(op: WithPath, node: number): void {
    if (beginsWith(op, QUOTA_ROOT)) {
      this.#learn(limitedBy(op.path));
      this.#measure(measuredAt(op.path));
    }
    if (this.#prefixes.count > 0)
      this.#count(op.path, { count: 1, bytes: this.#tree.dataLength(node) });
  }

  /**
   * Called before everything that one operation deletes, in whatever order it does so: each node
   * counts for the quotas that existed before, and each quota's stats are written once.
   */
  deleting(families: readonly Family[]): void {
    if (this.#prefixes.count === 0) {
      return;
    }
    const lost = new Map<string, { count: number; bytes: number }>();
    const unlimited: string[] = [];
    for (const { parent, children } of families) {
      const before = this.#tree.pathPrefix(parent);
      for (const node of children) {
        const path = before + this.#tree.name(node);
        const prefix = this.governing(path);
        if (prefix !== null) {
          const sum = lost.get(prefix) ?? { count: 0, bytes: 0 };
          sum.count -= 1;
          sum.bytes -= this.#tree.dataLength(node);
          lost.set(prefix, sum);
        }
        const limited = path.startsWith(QUOTA_ROOT) ? limitedBy(path) : null;
        if (limited !== null) {
          unlimited.push(limited);
        }
      }
    }
    for (const prefix of unlimited) {
      this.#prefixes.delete(prefix);
    }
    for (const [prefix, by] of lost) {
      this.#countFor(prefix, by);
    }
  }

  dataGrew(op: WithPath, bytes: number): void {
    if (this.#prefixes.count > 0) this.#count(op.path, { count: 0, bytes });
  }

  /** Called after recovery: the tree says which paths have a quota. */
  rebuild(): void {
    this.#prefixes.clear();
    for (const path of this.#paths()) this.#learn(limitedBy(path));
  }

  /**
   * Called after a restore: the stats of the source may be older than what is below their paths,
   * and some of that may not be restored. ZooKeeper measures again, too, whenever it reads a tree.
   */
  measureAll(): void {
    for (const path of this.#paths()) this.#measure(measuredAt(path));
  }

  /** All znodes below the root of quotas, and the root. */
  *#paths(): Generator<string> {
    const pending = [QUOTA_ROOT];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      yield path;
      for (const name of this.#tree.children(this.#tree.find(path))) {
        pending.push(`${path}/${name}`);
      }
    }
  }

  #learn(prefix: string | null): void {
    if (prefix !== null) {
      this.#prefixes.add(prefix);
    }
  }

  #count(path: string, by: QuotaStats): void {
    const prefix = this.governing(path);
    if (prefix !== null && (by.count !== 0 || by.bytes !== 0)) {
      this.#countFor(prefix, by);
    }
  }

  #countFor(prefix: string, by: QuotaStats): void {
    const node = this.#tree.find(statsPathOf(prefix));
    if (node !== NO_NODE) {
      const { count, bytes } = readStats(this.#tree.data(node));
      this.#store(prefix, node, { count: count + by.count, bytes: bytes + by.bytes });
    }
  }

  #measure(prefix: string | null): void {
    if (prefix === null) {
      return;
    }
    const top = this.#tree.find(prefix);
    const stats =
      top === NO_NODE
        ? { count: 0, bytes: 0 }
        : { count: 1 + this.#tree.descendantCount(top), bytes: this.#tree.subtreeDataBytes(top) };
    this.#store(prefix, this.#tree.find(statsPathOf(prefix)), stats);
  }

  #store(prefix: string, node: number, stats: QuotaStats): void {
    const before = this.#tree.dataLength(node);
    this.#capture.beforeChange(node);
    this.#tree.setQuotaStats(node, { path: statsPathOf(prefix), data: writeStats(stats) });
    this.#capture.grew(this.#tree.dataLength(node) - before);
  }
}

interface Directory {
  hasQuota: boolean;
  readonly below: Map<string, Directory>;
}

/**
 * Stores the paths that have a quota, and finds the one for which a path counts: the longest
 * prefix.
 *
 * They are stored by segments, like directories, so a path is read once from its beginning, however
 * deep it is, and only as far as there are quotas. It is as large as the tree of quotas. Called by
 * Quotas.
 */
export class QuotaPrefixes {
  readonly #root: Directory = newDirectory();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(prefix: string): void {
    let at = this.#root;
    for (const name of prefix.slice(1).split('/')) {
      let next = at.below.get(name);
      if (next === undefined) {
        next = newDirectory();
        at.below.set(name, next);
      }
      at = next;
    }
    if (!at.hasQuota) this.#count += 1;
    at.hasQuota = true;
  }

  delete(prefix: string): void {
    const names = prefix.slice(1).split('/');
    const passed = [this.#root];
    for (const name of names) {
      const next = passed.at(-1)?.below.get(name);
      if (next === undefined) return;
      passed.push(next);
    }
    const last = passed.at(-1);
    if (last === undefined || !last.hasQuota) return;
    last.hasQuota = false;
    this.#count -= 1;
    for (let depth = names.length; depth > 0; depth--) {
      const directory = passed[depth];
      if (directory === undefined || directory.hasQuota || directory.below.size > 0) return;
      passed[depth - 1]?.below.delete(names[depth - 1] ?? '');
    }
  }

  clear(): void {
    this.#root.below.clear();
    this.#root.hasQuota = false;
    this.#count = 0;
  }

  /** The longest one that is the path itself or above it; null if there is none. */
  governing(path: string): string | null {
    let directory = this.#root;
    let longest = 0;
    for (let start = 1; start <= path.length; ) {
      const slash = path.indexOf('/', start);
      const end = slash === -1 ? path.length : slash;
      const next = directory.below.get(path.slice(start, end));
      if (next === undefined) break;
      if (next.hasQuota) longest = end;
      directory = next;
      start = end + 1;
    }
    return longest === 0 ? null : path.slice(0, longest);
  }
}

function newDirectory(): Directory {
  return { hasQuota: false, below: new Map() };
}

const QUOTA_ROOT = '/zookeeper/quota';
const SYSTEM_ROOT = '/zookeeper';
const LIMITS_NAME = 'zookeeper_limits';
const STATS_NAME = 'zookeeper_stats';
const NONE = -1;

const NO_TEXT = new Uint8Array(0);
const DIGITS_MAX = 15;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;

interface QuotaLimits {
  readonly count: number;
  readonly bytes: number;
  readonly countHard: number;
  readonly bytesHard: number;
}
interface QuotaStats {
  readonly count: number;
  readonly bytes: number;
}

export function limitsPathOf(prefix: string): string {
  return `${QUOTA_ROOT}${prefix}/${LIMITS_NAME}`;
}
export function statsPathOf(prefix: string): string {
  return `${QUOTA_ROOT}${prefix}/${STATS_NAME}`;
}

/** The path whose limits are stored at `path`, or null; the root and system nodes have no quota. */
export function limitedBy(path: string): string | null {
  return prefixOf(path, LIMITS_NAME);
}
/** The path whose statistics are stored at `path`; null for every other node. */
export function measuredAt(path: string): string | null {
  return prefixOf(path, STATS_NAME);
}

export function readLimits(data: Uint8Array | null): QuotaLimits {
  return {
    count: numberOf(data, 'count'),
    bytes: numberOf(data, 'bytes'),
    countHard: numberOf(data, 'countHardLimit'),
    bytesHard: numberOf(data, 'byteHardLimit'),
  };
}

export function readStats(data: Uint8Array | null): QuotaStats {
  return { count: numberOf(data, 'count'), bytes: numberOf(data, 'bytes') };
}

function writeStats({ count, bytes }: QuotaStats): Uint8Array {
  return Buffer.from(`count=${count},bytes=${bytes}`);
}

function prefixOf(path: string, name: string): string | null {
  const end = path.length - name.length - 1;
  if (end <= QUOTA_ROOT.length || !path.endsWith(name) || path[end] !== '/') {
    return null;
  }
  if (!path.startsWith(`${QUOTA_ROOT}/`)) {
    return null;
  }
  const prefix = path.slice(QUOTA_ROOT.length, end);
  // The data of /zookeeper/config is each member's own, so it must not be in a replicated sum.
  return prefix === SYSTEM_ROOT || prefix.startsWith(`${SYSTEM_ROOT}/`) ? null : prefix;
}

/**
 * The last whole number that the text gives for a key. It is read in place, because a client may
 * have made the text as long as a request.
 */
function numberOf(data: Uint8Array | null, key: string): number {
  const text = bufferOf(data ?? NO_TEXT);
  const name = Buffer.from(`${key}=`);
  for (let at = text.length - name.length; at >= 0; at--) {
    if (text[at] !== name[0] || !(at === 0 || isSeparator(text[at - 1]))) continue;
    if (name.compare(text, at, at + name.length) !== 0) continue;
    const end = endOfNumber(text, at + name.length);
    if (end >= 0) return Number(text.toString('latin1', at + name.length, end));
  }
  return NONE;
}

/** -1 if there is no number, or one of more than 15 digits. */
function endOfNumber(text: Uint8Array, start: number): number {
  const first = text[start] === MINUS ? start + 1 : start;
  let end = first;
  while (isDigit(text[end])) end += 1;
  const isWhole = end === text.length || text[end] === EQUALS || isSeparator(text[end]);
  return isWhole && end > first && end - first <= DIGITS_MAX ? end : -1;
}

function isSeparator(byte: number | undefined): boolean {
  return byte === COMMA || byte === SEMICOLON;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}
