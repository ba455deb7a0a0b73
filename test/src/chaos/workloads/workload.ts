/**
 * What the chaos run calls of a workload, and what it passes to it. This file has types only.
 *
 * `setup` is called first, without faults. Then `run` is called once for each client of the
 * workload, all at the same time and under faults, until the signal is aborted. Then everything is
 * healed, and `finish` is called. Last, the whole history is read from the file and passed to
 * `check`, which is pure. A method that rejects is an error of the run itself and not a verdict:
 * errors of the ensemble are recorded in the history and never thrown by `run`.
 */
import type { ConnectOptions } from '@rookery/client';
import type { Random } from '../../simulation/random.js';
import type { HistoryEntry } from '../history/entry.js';
import type { HistoryWriter } from '../history/history-writer.js';

export interface Workload {
  readonly name: string;
  /** The number of its clients; `run` is called with 0 to `clients - 1`. */
  readonly clients: number;
  /** Prepares znodes. It is called once. */
  setup(context: WorkloadContext): Promise<void>;
  /**
   * Runs one client, with a session of its own or several. It records its operations until the
   * signal aborts, and resolves at most an operation timeout later.
   */
  run(client: number, context: WorkloadContext, signal: AbortSignal): Promise<void>;
  /**
   * Makes the final reads, after all is healed and every `run` has resolved. Closes all sessions.
   */
  finish(context: WorkloadContext): Promise<void>;
  /** Checks the entries of this workload, which are in the order of the file. */
  check(history: readonly HistoryEntry[]): Verdict;
}

export interface WorkloadContext {
  /**
   * A path of this workload alone, such as `/chaos/register`. Neither it nor its parent exists yet.
   */
  readonly prefix: string;
  readonly history: HistoryWriter;
  /** The source of random choices; fork it for each client. */
  readonly random: Random;
  /** Returns where and how a client connects; `setup` and `finish` are client 0. */
  connect(client: number): ConnectTarget;
}

export interface ConnectTarget {
  /** The members' addresses, separated by commas, without a chroot. */
  readonly connectString: string;
  /** The run's choices, such as session and operation timeouts. */
  readonly options: ConnectOptions;
}

export interface Verdict {
  /** 'unknown' if the check gave up at a bound on its work, or if there was too little to check. */
  readonly valid: boolean | 'unknown';
  /** What is wrong, or why the verdict is unknown, in at most a few dozen sentences. */
  readonly problems: readonly string[];
  /** Counts for the report, such as the number of acknowledged writes. */
  readonly counts: Readonly<Record<string, number>>;
}
