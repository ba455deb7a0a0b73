/**
 * Writes a history: JSON lines, streamed to a file as things happen.
 *
 * One writer a file; `recorder()` gives each client of a workload its own pen, which allots process
 * numbers. Nothing is kept in memory but what the disk has not taken yet. Called by workloads; the
 * run opens and closes it. Entries are written in the order of the calls, so `index` and `time`
 * never go back within a file.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { HistoryEntry, Json } from './entry.js';

/** What is known of an operation's end besides its value. */
export interface Ending {
  readonly session?: string;
  readonly zxid?: number;
  /** Of a `fail` or `info`: what it was about, when that was not known at the call. */
  readonly about?: Json;
}

/** An operation under way: exactly one of the three ends it. */
export interface Pending {
  ok(value: Json, ending?: Ending): void;
  /** It certainly took no effect. */
  fail(error: string, ending?: Ending): void;
  /** Nobody knows. */
  info(error: string, ending?: Ending): void;
}

/** One client's pen. */
export interface Recorder {
  readonly client: number;
  invoke(f: string, value: Json): Pending;
}

export interface HistoryWriterOptions {
  /** Takes each line, with its newline. */
  readonly write: (line: string) => void;
  /** ns from the start of the run, monotonic. */
  readonly nowNs: () => number;
  /** Resolves when all that was written is safe. */
  readonly close?: () => Promise<void>;
}

export class HistoryWriter {
  readonly #options: HistoryWriterOptions;
  #count = 0;
  #processes = 0;

  constructor(options: HistoryWriterOptions) {
    this.#options = options;
  }

  /** A new file; an old one of that name is replaced. `nowNs`: by default ns from now. */
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

  /** How many entries were written. */
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

  /** Resolves when all is in the file. */
  async close(): Promise<void> {
    await this.#options.close?.();
  }

  #enter(entry: Omit<HistoryEntry, 'index' | 'time'>): void {
    const stamped: HistoryEntry = { index: this.#count++, time: this.#options.nowNs(), ...entry };
    this.#options.write(`${JSON.stringify(stamped)}\n`);
  }
}

/** ns since the call, by the machine's monotonic clock. */
export function nsFromNow(): () => number {
  const originNs = process.hrtime.bigint();
  return () => Number(process.hrtime.bigint() - originNs);
}
