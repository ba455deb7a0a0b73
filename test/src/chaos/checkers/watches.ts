/**
 * Checks watches, each client by itself, along its reads and events in their order.
 *
 * The recursive watch reports every change between two events, except over a resync. It reports
 * none twice or late, and no value is read before its change was reported. A one-shot watch fires
 * once, with the first change after the value that was read, before any newer value is shown. No
 * value that is read is older than anything that was read or reported before.
 */
import { checkPrefixReads, type PrefixStep } from '../../checking/prefix-reads.js';
import type { HistoryEntry, Json } from '../history/entry.js';
import { type HistoryOperation, operationsOf } from '../history/history-reader.js';
import type { Verdict } from '../workloads/workload.js';
import { countsOf, listOf, numberOf, textOf, verdictOf } from './verdicts.js';

export function checkWatches(history: readonly HistoryEntry[]): Verdict {
  const operations = operationsOf(history);
  const seen = operations
    .filter(({ outcome }) => outcome === 'ok')
    .sort((a, b) => a.endedAt - b.endedAt);
  const changes = new Changes(seen);
  const followers = new Map<number, Follower>();
  const problems: string[] = [];
  const steps: PrefixStep[] = [];
  for (const one of seen) {
    const follower = followers.get(one.client) ?? new Follower(one.client, changes, problems);
    followers.set(one.client, follower);
    follower.take(one);
    const step = stepOf(one);
    if (step !== null) steps.push(step);
  }
  problems.push(...checkPrefixReads(steps));
  const unknown = seen.some(({ f }) => f === 'told') ? [] : ['the end was not looked into'];
  return verdictOf(operations, { problems, unknown, counts: countsOf(operations) });
}

/** All known changes by their zxids, those of each key and those of all keys. */
class Changes {
  readonly #all: readonly number[];
  readonly #byKey = new Map<number, readonly number[]>();

  constructor(seen: readonly HistoryOperation[]) {
    const sets = new Map<number, Set<number>>();
    for (const one of seen) {
      const change = changeOf(one);
      if (change === null) continue;
      const set = sets.get(change.key) ?? new Set();
      sets.set(change.key, set.add(change.zxid));
    }
    for (const [key, set] of sets)
      this.#byKey.set(
        key,
        [...set].sort((a, b) => a - b),
      );
    this.#all = [...this.#byKey.values()].flat().sort((a, b) => a - b);
  }

  /** Returns the first change after `low` and before `high`, of the key if one is given. */
  between(low: number, high: number, key?: number): number | undefined {
    const zxids = key === undefined ? this.#all : (this.#byKey.get(key) ?? []);
    const zxid = zxids[firstAbove(zxids, low)];
    return zxid !== undefined && zxid < high ? zxid : undefined;
  }
}

/** What one client has read so far, and which events it has received. */
class Follower {
  readonly #name: string;
  readonly #changes: Changes;
  readonly #problems: string[];
  /** The recursive watch has reported all changes up to this zxid; null if that is not known. */
  #toldUpTo: number | null = null;
  /** The zxid of the last event of any watch. */
  #last = 0;
  /** For each key, the zxid of the value that was read with a watch that has not fired. */
  readonly #armed = new Map<number, number>();

  constructor(client: number, changes: Changes, problems: string[]) {
    this.#name = `client ${client}`;
    this.#changes = changes;
    this.#problems = problems;
  }

  take(one: HistoryOperation): void {
    const { f, value, zxid, endedAt } = one;
    switch (f) {
      case 'follow':
        this.#toldUpTo = zxid;
        return;
      case 'resync':
        this.#toldUpTo = null;
        return;
      case 'event':
        this.#checkOrder(eventOf(value), endedAt);
        return this.#onEvent(eventOf(value), endedAt);
      case 'fired':
        this.#checkOrder(eventOf(value), endedAt);
        return this.#onFired(eventOf(value), endedAt);
      case 'arm':
      case 'look':
        return this.#onShown(one, f === 'arm');
      case 'untold':
        this.#problem(endedAt, textOf(value));
        return;
      default:
    }
  }

  /** Several watches may report one change, but changes are reported in their order. */
  #checkOrder({ zxid }: WatchTold, at: number): void {
    if (zxid === null) return;
    if (zxid < this.#last) this.#problem(at, `an event of ${zxid} after one of ${this.#last}`);
    this.#last = Math.max(this.#last, zxid);
  }

  #onEvent({ type, zxid }: WatchTold, at: number): void {
    if (type !== 'dataChanged') this.#problem(at, `an event of ${type}`);
    if (zxid !== null && this.#toldUpTo !== null) {
      const missed = this.#changes.between(this.#toldUpTo, zxid);
      if (missed !== undefined) {
        this.#problem(at, `an event of ${zxid}, but none of ${missed} before it`);
      }
      if (zxid <= this.#toldUpTo) {
        this.#problem(at, `an event of ${zxid}, after all up to ${this.#toldUpTo} were told`);
      }
    }
    this.#toldUpTo = zxid;
  }

  #onFired({ key, type, zxid }: WatchTold, at: number): void {
    const armed = this.#armed.get(key);
    this.#armed.delete(key);
    if (armed === undefined) this.#problem(at, `a one-shot watch of ${key} fired, none was set`);
    if (zxid === null || armed === undefined) return;
    if (type !== 'dataChanged') this.#problem(at, `a one-shot watch fired for ${type}`);
    const missed = this.#changes.between(armed, zxid, key);
    if (missed !== undefined || zxid <= armed) {
      this.#problem(
        at,
        `a watch of ${key} set at ${armed} fired for ${zxid}, not ${missed ?? 'a later one'}`,
      );
    }
  }

  #onShown({ value, endedAt }: HistoryOperation, isArmed: boolean): void {
    const [key, zxid] = listOf(value).map(numberOf);
    if (key === undefined || zxid === undefined) throw new Error('a read of nothing');
    if (this.#toldUpTo !== null && zxid > this.#toldUpTo) {
      this.#problem(endedAt, `saw ${zxid} of ${key} before its event`);
    }
    const armed = this.#armed.get(key);
    if (armed !== undefined && zxid > armed) {
      this.#problem(endedAt, `saw ${zxid} of ${key} before the watch set at ${armed} fired`);
    }
    if (isArmed) this.#armed.set(key, zxid);
  }

  #problem(at: number, what: string): void {
    this.#problems.push(`${this.#name} at ${at}: ${what}`);
  }
}

interface WatchTold {
  readonly key: number;
  readonly type: string;
  readonly zxid: number | null;
}

function eventOf(value: Json): WatchTold {
  const [key, type, zxid] = listOf(value);
  const known = zxid === null || zxid === undefined ? null : numberOf(zxid);
  return { key: numberOf(key), type: textOf(type), zxid: known };
}

/** Returns the change that a write made, a read showed or an event reported. */
function changeOf({ f, value }: HistoryOperation): { key: number; zxid: number } | null {
  switch (f) {
    case 'write': {
      const [key, , zxid] = listOf(value);
      return { key: numberOf(key), zxid: numberOf(zxid) };
    }
    case 'arm':
    case 'look': {
      const [key, zxid] = listOf(value);
      return { key: numberOf(key), zxid: numberOf(zxid) };
    }
    case 'event':
    case 'fired': {
      const { key, zxid } = eventOf(value);
      return zxid === null ? null : { key, zxid };
    }
    default:
      return null;
  }
}

/** Returns the step of a read or of an event, since both show a change to the client. */
function stepOf(one: HistoryOperation): PrefixStep | null {
  const change = changeOf(one);
  if (change === null) return null;
  return {
    reader: one.client,
    register: change.key,
    zxid: change.zxid,
    at: one.endedAt,
    kind: one.f === 'write' ? 'wrote' : 'read',
    reached: one.zxid,
  };
}

function firstAbove(zxids: readonly number[], limit: number): number {
  let low = 0;
  let high = zxids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((zxids[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
