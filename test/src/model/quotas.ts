/**
 * The model's quotas: whose limits apply to a path, what the statistics say, and what is refused.
 *
 * The longest path at or above that has a limits node governs; whoever changes the tree updates its
 * stats node as well. As in ZooKeeper, writes in flight do not count, so a multi is measured
 * against the tree before it. These are pure functions over a lookup of data.
 */
import { parentOf } from './watches.js';

export const QUOTA_ROOT = '/zookeeper/quota';
const LIMITS = '/zookeeper_limits';
const STATS = '/zookeeper_stats';

/** The text of a znode; undefined if there is none. */
export type DataAt = (path: string) => string | null | undefined;

export interface Growth {
  readonly count: number;
  readonly bytes: number;
}

/** The path of the stats node that counts `path`, or undefined. */
export function statsOf(path: string, dataAt: DataAt): string | undefined {
  const prefix = governing(path, dataAt);
  if (prefix === undefined) return undefined;
  const stats = `${QUOTA_ROOT}${prefix}${STATS}`;
  return dataAt(stats) === undefined ? undefined : stats;
}

export function isOverQuota(path: string, growth: Growth, dataAt: DataAt): boolean {
  const stats = statsOf(path, dataAt);
  if (stats === undefined) return false;
  const limits = dataAt(`${stats.slice(0, -STATS.length)}${LIMITS}`) ?? '';
  const now = readStats(dataAt(stats) ?? '');
  const exceeds = (limit: number, size: number, by: number) =>
    limit > -1 && by !== 0 && size + by > limit;
  return (
    exceeds(numberIn(limits, 'countHardLimit'), now.count, growth.count) ||
    exceeds(numberIn(limits, 'byteHardLimit'), now.bytes, growth.bytes)
  );
}

/** The path that is measured when this node is created, or undefined. */
export function measuredBy(path: string): string | undefined {
  const isStats = path.startsWith(`${QUOTA_ROOT}/`) && path.endsWith(STATS);
  return isStats ? path.slice(QUOTA_ROOT.length, -STATS.length) : undefined;
}

export function readStats(text: string): Growth {
  return { count: numberIn(text, 'count'), bytes: numberIn(text, 'bytes') };
}

export function statsText({ count, bytes }: Growth): string {
  return `count=${count},bytes=${bytes}`;
}

function governing(path: string, dataAt: DataAt): string | undefined {
  for (let at = path; at !== '/'; at = parentOf(at)) {
    if (dataAt(`${QUOTA_ROOT}${at}${LIMITS}`) !== undefined) return at;
  }
  return undefined;
}

function numberIn(text: string, key: string): number {
  const [, value = '-1'] = new RegExp(`(?:^|[,;])${key}=(-?\\d+)`).exec(text) ?? [];
  return Number(value);
}
