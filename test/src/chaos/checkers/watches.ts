/**
 * Judges watches, each client by itself, along what it was shown and told in its order.
 *
 * The recursive watch: from one event to the next no change is left out, but over a resync; none
 * comes twice or late; and no value is read whose change has not been told. One-shot watches: once
 * for each that was set, with the first change behind the value read, before any newer value is
 * shown. And nothing read is older than anything seen or told.
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

/** All changes that anybody knows of: by their zxids, all together and of each key. */
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

  /** The first one behind `low` and before `high`, of the key if one is given. */
  between(low: number, high: number, key?: number): number | undefined {
    const zxids = key === undefined ? this.#all : (this.#byKey.get(key) ?? []);
    const zxid = zxids[firstAbove(zxids, low)];
    return zxid !== undefined && zxid < high ? zxid : undefined;
  }
}

/** What one client has been shown and told so far. */
class Follower {
  readonly #name: string;
  readonly #changes: Changes;
  readonly #problems: string[];
  /** The recursive watch has told of all changes up to here; null where that is not known. */
  #toldUpTo: number | null = null;
  /** Of the last event of any watch. */
  #last = 0;
  /** Of each key, the zxid of the value read with a watch that has not fired. */
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

  /** A change may be told by several watches, but changes are told in their order. */
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

/** The change that a write made, a read showed or an event told. */
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

/** What an event tells has been seen like what a read shows. */
function stepOf(one: HistoryOperation): PrefixStep | null {
  const change = changeOf(one);
  if (change === null) return null;
  return {
    ...{ reader: one.client, register: change.key, zxid: change.zxid, at: one.endedAt },
    ...{ kind: one.f === 'write' ? 'wrote' : 'read', reached: one.zxid },
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
