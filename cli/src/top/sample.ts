/**
 * Reads what one server, of Rookery or ZooKeeper, reports at one moment: its answers to `srvr`, and
 * to `mntr` where its configuration allows that word. Pure.
 */
import { linesOf } from '../status/word-answers.js';

export interface Sample {
  /** As the server prints it: leader, follower, observer, standalone, read-only. */
  readonly role: string;
  readonly zxid: bigint;
  readonly connections: number;
  /** Requests that wait for an answer. */
  readonly outstanding: number;
  readonly znodes: number;
  /** Requests since the server started, or since its counters were reset. */
  readonly received: number;
  /** The average latency in ms over the same time. */
  readonly avgMs: number;
  readonly maxMs: number;
  /** Null for what the server does not report. */
  readonly details: Details | null;
}

/** Figures that only `mntr` has. */
export interface Details {
  readonly watches: number | null;
  /** The worse one of reads and writes, in ms. */
  readonly p99Ms: number | null;
  /** Reads and writes that were measured since the start, and the sum of their latencies. */
  readonly measured: { readonly count: number; readonly sumMs: number } | null;
  /** The memory that the tree takes; only Rookery reports it. */
  readonly treeBytes: number | null;
}

const ROLE_LENGTH_MAX = 20;

/** Returns null unless `srvr` is the answer of a server that serves. */
export function parseSample(srvr: string, mntr: string | null): Sample | null {
  const lines = linesOf(srvr, ':');
  const role = lines?.get('Mode');
  const zxid = lines?.get('Zxid');
  if (role === undefined || !/^[a-z-]+$/.test(role) || role.length > ROLE_LENGTH_MAX) return null;
  if (zxid === undefined || !/^0x[\da-f]{1,16}$/i.test(zxid)) return null;
  const [, avg, max] = (lines?.get('Latency min/avg/max') ?? '').split('/');
  const count = (name: string): number => figure(lines?.get(name)) ?? 0;
  return {
    role,
    zxid: BigInt(zxid),
    connections: count('Connections'),
    outstanding: count('Outstanding'),
    znodes: count('Node count'),
    received: count('Received'),
    avgMs: figure(avg) ?? 0,
    maxMs: figure(max) ?? 0,
    details: mntr === null ? null : detailsOf(mntr),
  };
}

/** Returns null for another answer, such as the sentence that the word is not allowed. */
function detailsOf(mntr: string): Details | null {
  const lines = linesOf(mntr, '\t');
  if (lines?.has('zk_server_state') !== true) return null;
  const of = (name: string): number | null => figure(lines.get(`zk_${name}`));
  const p99s = [of('p99_readlatency'), of('p99_updatelatency')].filter((ms) => ms !== null);
  const counts = [of('cnt_readlatency'), of('cnt_updatelatency')];
  const sums = [of('sum_readlatency'), of('sum_updatelatency')];
  const isMeasured = counts[0] !== null && sums[0] !== null;
  return {
    watches: of('watch_count'),
    p99Ms: p99s.length === 0 ? null : Math.max(...p99s),
    measured: isMeasured ? { count: total(counts), sumMs: total(sums) } : null,
    treeBytes: of('tree_bytes'),
  };
}

function total(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

function figure(text: string | undefined): number | null {
  if (text === undefined || !/^\d+(\.\d+)?(e\d+)?$/i.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
