/** Computes the row of each member in `top` from two looks at all of them. Pure. */
import { LEADING } from '../status/server-status.js';
import type { Sample } from './sample.js';

/** One member at one look. */
export interface Asked {
  readonly address: string;
  /** The time of the answer, in ms of a clock that never goes back. */
  readonly atMs: number;
  /** Null unless it serves. */
  readonly sample: Sample | null;
  /** Why it does not serve; null if it does. */
  readonly problem: string | null;
}

/** Null stands for what is not known. */
export interface Row {
  readonly address: string;
  readonly role: string | null;
  readonly problem: string | null;
  readonly zxid: bigint | null;
  /** Transactions behind the leader; null without one, and before the first of its epoch. */
  readonly lag: number | null;
  readonly connections: number | null;
  readonly outstanding: number | null;
  /** Between the two looks, if the member reports sums; otherwise since it started. */
  readonly avgMs: number | null;
  readonly p99Ms: number | null;
  /** Since the member started. */
  readonly maxMs: number | null;
  readonly requestsPerS: number | null;
  readonly watches: number | null;
  readonly znodes: number | null;
  readonly treeBytes: number | null;
}

const COUNTER_BITS = 32n;

/** `before` is the look before, with the same members in the same order; null at the first one. */
export function rowsOf(before: readonly Asked[] | null, now: readonly Asked[]): readonly Row[] {
  const leading = zxidOfLeader(now);
  return now.map((asked, at) => rowOf(before?.[at] ?? null, asked, leading));
}

export function leadersOf(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ role }) => role !== null && LEADING.has(role));
}

/** While an old leader has not noticed a new one, the one of the later epoch counts. */
function zxidOfLeader(asked: readonly Asked[]): bigint | null {
  let greatest: bigint | null = null;
  for (const { sample } of asked) {
    if (sample === null || !LEADING.has(sample.role)) continue;
    if (greatest === null || sample.zxid > greatest) greatest = sample.zxid;
  }
  return greatest;
}

function rowOf(before: Asked | null, now: Asked, leading: bigint | null): Row {
  const { address, problem, sample } = now;
  if (sample === null) return { ...EMPTY, address, problem: problem ?? 'it does not serve' };
  const { role, zxid, connections, outstanding, znodes, maxMs, details } = sample;
  const last = before?.sample ?? null;
  // Counters that went back belong to another process, or were reset.
  const isSame = last !== null && last.received <= sample.received;
  return {
    address,
    problem: null,
    role,
    zxid,
    connections,
    outstanding,
    znodes,
    maxMs,
    lag: lagOf(zxid, leading),
    avgMs: averageMs(isSame ? last : null, sample),
    p99Ms: details?.p99Ms ?? null,
    requestsPerS: isSame ? perSecond(sample.received - last.received, before, now) : null,
    watches: details?.watches ?? null,
    treeBytes: details?.treeBytes ?? null,
  };
}

const EMPTY = {
  role: null,
  zxid: null,
  lag: null,
  connections: null,
  outstanding: null,
  avgMs: null,
  p99Ms: null,
  maxMs: null,
  requestsPerS: null,
  watches: null,
  znodes: null,
  treeBytes: null,
} as const;

/** Members are not asked at the very same moment, so one may seem to be ahead: that is no lag. */
function lagOf(zxid: bigint, leading: bigint | null): number | null {
  if (leading === null || zxid >> COUNTER_BITS !== leading >> COUNTER_BITS) return null;
  return Math.max(0, Number(leading - zxid));
}

function averageMs(last: Sample | null, sample: Sample): number | null {
  const [from, to] = [last?.details?.measured ?? null, sample.details?.measured ?? null];
  if (from === null || to === null || to.count < from.count) return sample.avgMs;
  const count = to.count - from.count;
  return count === 0 ? null : Math.max(0, to.sumMs - from.sumMs) / count;
}

function perSecond(count: number, before: Asked | null, { atMs }: Asked): number | null {
  const spanMs = atMs - (before?.atMs ?? atMs);
  return spanMs > 0 ? (1000 * count) / spanMs : null;
}
