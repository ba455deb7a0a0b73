/**
 * What the chaos run asks of a workload, and gives to it. Types only.
 *
 * Life of a workload: `setup`, with a calm ensemble; then `run` once for each of its clients, all
 * at once, under faults, until the signal is aborted; then everything is healed and `finish` is
 * called; then its whole history is read back from the file and given to `check`, a pure function.
 * A method that rejects is an error of the run itself, not a verdict: trouble with the ensemble is
 * recorded in the history and never thrown out of `run`.
 */
import type { ConnectOptions } from '@rookery/client';
import type { Random } from '../../simulation/random.js';
import type { HistoryEntry } from '../history/entry.js';
import type { HistoryWriter } from '../history/history-writer.js';

export interface Workload {
  readonly name: string;
  /** How many clients it wants: `run` is called with 0 to `clients - 1`. */
  readonly clients: number;
  /** Prepares znodes; called once. */
  setup(context: WorkloadContext): Promise<void>;
  /**
   * One client, with a session of its own or several, doing operations until the signal aborts;
   * each is recorded. Resolves soon after that, at most an operation timeout later.
   */
  run(client: number, context: WorkloadContext, signal: AbortSignal): Promise<void>;
  /**
   * Final reads; all is healed and every `run` has resolved. All sessions are closed in the end.
   */
  finish(context: WorkloadContext): Promise<void>;
  /** `history`: the entries of this workload, in the order of the file. */
  check(history: readonly HistoryEntry[]): Verdict;
}

export interface WorkloadContext {
  /**
   * A path of this workload alone, such as `/chaos/register`; neither it nor its parent is made.
   */
  readonly prefix: string;
  readonly history: HistoryWriter;
  /** Fork it for each client. */
  readonly random: Random;
  /** Where and how client `client` connects; setup and finish ask for client 0. */
  connect(client: number): ConnectTarget;
}

export interface ConnectTarget {
  /** Members' addresses, separated by commas, without a chroot. */
  readonly connectString: string;
  /** The run's own choices, such as session and operation timeouts. */
  readonly options: ConnectOptions;
}

export interface Verdict {
  /** 'unknown': the check gave up at a bound on its work, or there was too little to judge. */
  readonly valid: boolean | 'unknown';
  /** What is wrong, or why it is unknown: sentences, at most a few dozen. */
  readonly problems: readonly string[];
  /** What it saw, such as how many writes were acknowledged, for the report. */
  readonly counts: Readonly<Record<string, number>>;
}
