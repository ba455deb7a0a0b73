/**
 * Sets up all workloads of a run, runs them under faults, finishes them and checks them.
 *
 * Each workload has its own path and history file. A workload that throws is an error of the run,
 * and is reported as one beside the verdicts of the others. Called by run.ts.
 */
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import type { Random } from '../simulation/random.js';
import type { HistoryEntry } from './history/entry.js';
import { readHistory } from './history/history-reader.js';
import { HistoryWriter } from './history/history-writer.js';
import type { ConnectTarget, Verdict, Workload, WorkloadContext } from './workloads/workload.js';

/** How many operations ended in each way. */
export interface Outcomes {
  ok: number;
  fail: number;
  info: number;
}

export interface Checked {
  readonly name: string;
  readonly verdict: Verdict;
  readonly outcomes: Outcomes;
  readonly byOperation: Readonly<Record<string, Outcomes>>;
  readonly historyFile: string;
}

export interface WorkloadRunsOptions {
  readonly workloads: readonly Workload[];
  readonly directory: string;
  readonly random: Random;
  readonly nowNs: () => number;
  readonly target: ConnectTarget;
  readonly onFinding: (finding: string) => void;
}

interface Run {
  readonly workload: Workload;
  readonly context: WorkloadContext;
  readonly historyFile: string;
}

export class WorkloadRuns {
  readonly #runs: readonly Run[];
  readonly #onFinding: (finding: string) => void;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: WorkloadRunsOptions) {
    this.#onFinding = options.onFinding;
    this.#runs = options.workloads.map((workload) => {
      const { name } = workload;
      const historyFile = join(options.directory, `history-${name}.jsonl`);
      const context: WorkloadContext = {
        prefix: `/chaos/${name}`,
        history: HistoryWriter.open(historyFile, options.nowNs),
        random: options.random.fork(name),
        connect: () => options.target,
      };
      return { workload, context, historyFile };
    });
  }

  /** Sets up all workloads. Rejects if one cannot be set up although there are no faults yet. */
  async setup(): Promise<void> {
    for (const { workload, context } of this.#runs) await workload.setup(context);
  }

  /** Starts all clients of all workloads; they run until `stop`. */
  start(): void {
    // Every client listens to this signal, often more than once.
    setMaxListeners(0, this.#stop.signal);
    this.#running = Promise.all(
      this.#runs.flatMap(({ workload, context }) =>
        Array.from({ length: workload.clients }, (_, client) =>
          this.#told(`client ${client} of ${workload.name}`, () =>
            workload.run(client, context, this.#stop.signal),
          ),
        ),
      ),
    );
  }

  /** Stops the clients; resolves when all of them have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Makes the final reads while all members are well; the histories are on disk afterwards. */
  async finish(): Promise<void> {
    for (const { workload, context } of this.#runs) {
      await this.#told(`the end of ${workload.name}`, () => workload.finish(context));
      await context.history.close();
    }
  }

  /** Checks the workloads one after the other, because each history may be large. */
  async check(): Promise<Checked[]> {
    const checked: Checked[] = [];
    for (const { workload, historyFile } of this.#runs) {
      const history = await readHistory(historyFile);
      const verdict = verdictOf(workload, history);
      checked.push({ name: workload.name, verdict, historyFile, ...countsOf(history) });
    }
    return checked;
  }

  async #told(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#onFinding(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
}

function verdictOf(workload: Workload, history: readonly HistoryEntry[]): Verdict {
  try {
    return workload.check(history);
  } catch (error) {
    const text = error instanceof Error ? error.stack : String(error);
    return { valid: false, problems: [`the check itself failed: ${text}`], counts: {} };
  }
}

export function countsOf(history: readonly HistoryEntry[]) {
  const outcomes: Outcomes = { ok: 0, fail: 0, info: 0 };
  const byOperation: Record<string, Outcomes> = {};
  for (const { type, f } of history) {
    if (type === 'invoke') continue;
    byOperation[f] ??= { ok: 0, fail: 0, info: 0 };
    byOperation[f][type] += 1;
    outcomes[type] += 1;
  }
  return { outcomes, byOperation };
}
