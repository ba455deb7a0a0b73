/**
 * The values of the model's symbols in one run, learned as it proceeds, and the comparison itself.
 *
 * A transaction's zxid is learned from the reply to its request, and must be greater than all
 * before it; a time is learned from the first Stat that shows it, and must then be the same
 * everywhere; a session's id is learned from the connect response. So zxids, times and owners are
 * compared exactly, whatever their values are.
 */
import type { Int64 } from '@rookery/protocol';
import { Anything, IdOf, TimeOf, ZxidOf } from './symbols.js';

export class Bindings {
  readonly #zxids = new Map<number, Int64>([[0, 0]]);
  readonly #times = new Map<number, Int64>();
  readonly #ids = new Map<number, Int64>([[0, 0]]);
  #lastTxn = 0;

  bindSession(session: number, id: Int64): void {
    this.#ids.set(session, id);
  }

  /** Returns what is wrong with the zxid, if anything is. */
  bindZxid(txn: number, zxid: Int64): string | undefined {
    const last = this.zxidOf(this.#lastTxn);
    this.#zxids.set(txn, zxid);
    if (txn > this.#lastTxn && !(zxid > last)) {
      return `write ${txn} has zxid ${zxid}, write ${this.#lastTxn} before it ${last}`;
    }
    this.#lastTxn = Math.max(txn, this.#lastTxn);
    return undefined;
  }

  zxidOf(txn: number): Int64 {
    const zxid = this.#zxids.get(txn);
    if (zxid === undefined) throw new Error(`write ${txn} has no zxid yet`);
    return zxid;
  }

  knownZxidOf(txn: number): Int64 | undefined {
    return this.#zxids.get(txn);
  }

  /** Returns the first difference between the two as a sentence; undefined if they agree. */
  difference(expected: unknown, actual: unknown, at = ''): string | undefined {
    if (expected instanceof Anything) return undefined;
    if (expected instanceof ZxidOf) {
      return expected.txn === 0 ? undefined : same(this.zxidOf(expected.txn), actual, at);
    }
    if (expected instanceof IdOf) return same(this.#ids.get(expected.session), actual, at);
    if (expected instanceof TimeOf) return this.#time(expected.txn, actual, at);
    if (Array.isArray(expected) && Array.isArray(actual)) {
      const length = same(expected.length, actual.length, `${at}.length`);
      return (
        length ??
        first(
          expected.map((_, i) => [String(i), expected[i], actual[i]]),
          this,
          at,
        )
      );
    }
    if (!isRecord(expected) || !isRecord(actual)) return same(expected, actual, at);
    const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    return first(
      names.map((name) => [name, expected[name], actual[name]]),
      this,
      at,
    );
  }

  #time(txn: number, actual: unknown, at: string): string | undefined {
    if (txn === 0) return undefined;
    const known = this.#times.get(txn);
    if (known !== undefined) return same(known, actual, at);
    if (typeof actual !== 'number') return `${at} is not a time: ${String(actual)}`;
    this.#times.set(txn, actual);
    const wrong = [...this.#times].find(
      ([other, time]) => other < txn !== time <= actual && time !== actual,
    );
    return wrong && `${at}: write ${txn} was at ${actual}, write ${wrong[0]} at ${wrong[1]}`;
  }
}

function first(
  fields: readonly (readonly [string, unknown, unknown])[],
  bindings: Bindings,
  at: string,
): string | undefined {
  for (const [name, expected, actual] of fields) {
    const difference = bindings.difference(expected, actual, `${at}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function same(expected: unknown, actual: unknown, at: string): string | undefined {
  if (expected === actual) return undefined;
  return `${at.slice(1)} should be ${text(expected)} and is ${text(actual)}`;
}

function text(value: unknown): string {
  if (typeof value === 'bigint' || value === undefined) return String(value);
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
