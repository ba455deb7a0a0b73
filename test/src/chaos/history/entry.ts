/**
 * One line of a recorded history: an operation begins (`invoke`) or ends (`ok`, `fail`, `info`).
 *
 * The keys are Jepsen's, so that other checkers can read the files with little glue. Always holds:
 * a `process` does one operation at a time; `fail` means that it certainly took no effect, `info`
 * that nobody knows (it may take effect at any later time, or never), and the process number is not
 * used again after an `info`, so that to other checkers it crashed there. Types only.
 */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export interface HistoryEntry {
  /** Its place in the file, from 0: the order in which things were recorded. */
  readonly index: number;
  /** ns of a monotonic clock, from the start of the run. */
  readonly time: number;
  readonly workload: string;
  readonly process: number;
  /** Who does it: stays the same when `process` changes. */
  readonly client: number;
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** The operation's name, such as read, write, cas, add, enqueue. */
  readonly f: string;
  /** What was asked for, and in an `ok` what came of it; each workload says which. */
  readonly value: Json;
  /** The session it ran in, hexadecimal; of an end, where there is one. */
  readonly session?: string;
  /**
   * Of an `ok`, where known: the highest zxid that the client had seen when it ended. A safe
   * integer, epoch * 2^32 + counter.
   */
  readonly zxid?: number;
  /** Of a `fail` or `info`: the error's name and message. */
  readonly error?: string;
}
