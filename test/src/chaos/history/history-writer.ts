/**
 * Writes a history as JSON lines, which are streamed to a file while the run goes on.
 *
 * There is one writer for each file; `recorder()` gives each client of a workload a recorder of its
 * own, which assigns process numbers. Memory holds only what the disk has not taken yet. Called by
 * workloads; the run opens and closes it. Entries are written in the order of the calls, so `index`
 * and `time` never go back within a file.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { HistoryEntry, Json } from './entry.js';

/** What is known about an operation's end besides its value. */
export interface Ending {
  readonly session?: string;
  readonly zxid?: number;
  /** The argument of a `fail` or `info`, if it was not known at the call. */
  readonly about?: Json;
}

/** An operation in progress; exactly one of the three methods ends it. */
export interface Pending {
  ok(value: Json, ending?: Ending): void;
  /** The operation certainly took no effect. */
  fail(error: string, ending?: Ending): void;
  /** Nobody knows whether the operation took effect. */
  info(error: string, ending?: Ending): void;
}

/** Records the operations of one client. */
export interface Recorder {
  readonly client: number;
  invoke(f: string, value: Json): Pending;
}

export interface HistoryWriterOptions {
  /** Called with each line, including its newline. */
  readonly write: (line: string) => void;
  /** Returns the ns since the start of the run, by a monotonic clock. */
  readonly nowNs: () => number;
  /** Resolves when everything that was written is in the file. */
  readonly close?: () => Promise<void>;
}

export class HistoryWriter {
  readonly #options: HistoryWriterOptions;
  #count = 0;
  #processes = 0;

  constructor(options: HistoryWriterOptions) {
    this.#options = options;
  }

  /** Makes a new file, in place of an old one of that name. By default time begins now. */
  static open(path: string, nowNs: () => number = nsFromNow()): HistoryWriter {
    const stream = createWriteStream(path);
    let failure: unknown = null;
    stream.on('error', (error) => {
      failure ??= error;
    });
    return new HistoryWriter({
      nowNs,
      write: (line) => {
        if (failure !== null) throw failure;
        stream.write(line);
      },
      close: async () => {
        stream.end();
        await finished(stream);
      },
    });
  }

  /** The number of entries that were written. */
  get count(): number {
    return this.#count;
  }

  recorder(workload: string, client: number): Recorder {
    let process = this.#processes++;
    const enter = (entry: Omit<HistoryEntry, 'index' | 'time' | 'workload' | 'client'>) =>
      this.#enter({ ...entry, workload, client });
    return {
      client,
      invoke: (f, value) => {
        const of = { process, f };
        let isOpen = true;
        const end = (type: 'ok' | 'fail' | 'info', ended: Json, rest: object) => {
          if (!isOpen) throw new Error(`an operation ended twice: ${workload} ${f}`);
          isOpen = false;
          enter({ ...of, type, value: ended, ...rest });
        };
        enter({ ...of, type: 'invoke', value });
        return {
          ok: (result, ending = {}) => end('ok', result, ending),
          fail: (error, { about = value, ...ending } = {}) =>
            end('fail', about, { ...ending, error }),
          info: (error, { about = value, ...ending } = {}) => {
            end('info', about, { ...ending, error });
            process = this.#processes++;
          },
        };
      },
    };
  }

  /** Resolves when everything is in the file. */
  async close(): Promise<void> {
    await this.#options.close?.();
  }

  #enter(entry: Omit<HistoryEntry, 'index' | 'time'>): void {
    const stamped: HistoryEntry = { index: this.#count++, time: this.#options.nowNs(), ...entry };
    this.#options.write(`${JSON.stringify(stamped)}\n`);
  }
}

/** Returns a clock that tells the ns since this call, by the machine's monotonic clock. */
export function nsFromNow(): () => number {
  const originNs = process.hrtime.bigint();
  return () => Number(process.hrtime.bigint() - originNs);
}
