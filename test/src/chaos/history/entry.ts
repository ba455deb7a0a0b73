/**
 * One line of a recorded history: an operation begins (`invoke`) or ends (`ok`, `fail`, `info`).
 *
 * The keys are Jepsen's, so that other checkers can read the files with little work. A `process`
 * does one operation at a time. `fail` means that the operation certainly took no effect; `info`
 * means that nobody knows: it may take effect at any later time, or never. A process number is not
 * used again after an `info`, so to other checkers the process crashed there. This file has types
 * only.
 */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export interface HistoryEntry {
  /** The position in the file, from 0, which is the order in which entries were recorded. */
  readonly index: number;
  /** The time in ns since the start of the run, by a monotonic clock. */
  readonly time: number;
  readonly workload: string;
  readonly process: number;
  /** The client that does it; it stays the same when `process` changes. */
  readonly client: number;
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** The operation's name, such as read, write, cas, add, enqueue. */
  readonly f: string;
  /** The argument; in an `ok` the result. Each workload documents its own values. */
  readonly value: Json;
  /** The session in which it ran, in hex, at its end, if it has one. */
  readonly session?: string;
  /**
   * The highest zxid that the client had seen at the end of an `ok`, if it is known: a safe
   * integer, epoch * 2^32 + counter.
   */
  readonly zxid?: number;
  /** The name and the message of the error of a `fail` or `info`. */
  readonly error?: string;
}
