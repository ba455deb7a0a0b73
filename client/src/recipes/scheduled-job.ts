/**
 * ScheduledJob: work at certain times, each time done by one of many processes, with a history.
 *
 * **Guarantee.** Each due time is begun by one process, once: the beginning is written before the
 * work is called, and only while its process leads. Work whose process dies is 'interrupted', and
 * is called again only with `onInterrupted: 'again'`. Of several times that passed while no process
 * was there, only the last one is caught up. There is one run at a time: a due time waits until the
 * work of the previous one has settled.
 *
 * **Znodes.** `<path>/runs/<due>`, persistent, for each run: its name is the due time in
 * milliseconds since 1970, 16 digits, and its data is a JobRun as JSON. Beyond `historyMax` the
 * oldest are deleted. `<path>/leader` is that of a LeaderLatch. Times are by the clock of the
 * process that leads there. Clocks that differ shift runs by the difference, but never make one run
 * twice.
 *
 * **Suspended.** The work continues, and its result is written later. **Lost.** The signal of the
 * work is aborted; another process takes over and marks the run as interrupted.
 */
import { joinPath, NodeExistsError, NoNodeError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { InvalidDataError, OptionError, TransactionError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import type { RetryPolicy } from '../api/retry-policy.js';
import type { Acl, OperationOptions, Session } from '../api/values.js';
import { delay } from '../helpers/delay.js';
import { ensurePath } from '../helpers/ensure-path.js';
import { type Leadership, runAsLeader } from './run-as-leader.js';
import { reasonOf } from './shared/failures.js';
import { readChildren } from './shared/follow-children.js';
import {
  dueOf,
  type JobRun,
  nextDue,
  runCodec,
  runName,
  type Schedule,
} from './shared/job-runs.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { CorruptDataError } from './shared/value-errors.js';

export interface ScheduledJobOptions {
  /** The due times: every(ms), or a function of a cron library. All processes must use the same. */
  readonly schedule: Schedule;
  /** Identifies this process in the history; empty by default. */
  readonly id?: string | undefined;
  /** How many runs the history keeps, at least 1; 20 by default. */
  readonly historyMax?: number | undefined;
  /** What happens to work whose process died: 'skip', the default, or 'again', from its start. */
  readonly onInterrupted?: 'skip' | 'again' | undefined;
  readonly acl?: readonly Acl[] | undefined;
  /** The clock, in milliseconds since 1970; Date.now by default. */
  readonly now?: (() => number) | undefined;
}

/** The argument of the work: that of runAsLeader, and which run it is. */
export interface JobTurn extends Leadership {
  readonly dueMs: number;
  /** 1, or more after interruptions. */
  readonly attempt: number;
}

export interface JobRunOptions {
  /** Aborting it ends the participation, once the current work has settled. */
  readonly signal?: AbortSignal | undefined;
  /** The pauses after problems with the znodes of the job, such as NoAuthError; see runAsLeader. */
  readonly backoff?: RetryPolicy | undefined;
}

const HISTORY_MAX = 20;
/** Node's timers are limited to 24 days, so a longer wait uses several timers. */
const TIMER_MS_MAX = 86_400_000;

export class ScheduledJob {
  readonly path: string;
  readonly #client: Client;
  readonly #options: ScheduledJobOptions;
  readonly #historyMax: number;
  readonly #now: () => number;
  readonly #runs: string;

  /** Throws OptionError. */
  constructor(client: Client, path: string, options: ScheduledJobOptions) {
    const { schedule, historyMax = HISTORY_MAX, now = Date.now } = options;
    if (typeof schedule !== 'function') throw new OptionError('schedule', 'must be a function');
    if (!Number.isSafeInteger(historyMax) || historyMax < 1) {
      throw new OptionError('historyMax', `must be an integer of at least 1, is ${historyMax}`);
    }
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#historyMax = historyMax;
    this.#now = now;
    this.#runs = joinPath(path, 'runs');
  }

  /**
   * Takes part until the signal is aborted, and does the work whenever this process leads and a
   * time is due. An error of the work goes into the history and the log and ends nothing. Also ends
   * when the schedule has no further time. Rejects with the errors of runAsLeader, and with
   * OptionError for a schedule that does not advance.
   */
  async run(work: (run: JobTurn) => unknown, options: JobRunOptions = {}): Promise<void> {
    const { signal, backoff } = options;
    const finished = new AbortController();
    const stop =
      signal === undefined ? finished.signal : AbortSignal.any([signal, finished.signal]);
    const { acl, id } = this.#options;
    let mistake: OptionError | null = null;
    const lead = async (leadership: Leadership) => {
      try {
        if (await this.#lead(leadership, work)) finished.abort();
      } catch (error) {
        // Such a schedule would fail in any other process too.
        if (!(error instanceof OptionError)) throw error;
        mistake = error;
        finished.abort();
      }
    };
    await runAsLeader(this.#client, joinPath(this.path, 'leader'), lead, {
      acl,
      id,
      backoff,
      signal: stop,
    });
    if (mistake !== null) throw mistake;
  }

  /** Reads its runs once, the newest first. What is no run is left out, and logged. */
  async history(options: OperationOptions = {}): Promise<JobRun[]> {
    const found = await readChildren(this.#client, this.#runs, true, options);
    return [...found]
      .filter(([name]) => dueOf(name) !== null)
      .sort(([left], [right]) => (left < right ? 1 : -1))
      .flatMap(([name, data]) => this.#readable(joinPath(this.#runs, name), data));
  }

  /** Returns no run for data that is none: one faulty znode must not stop the job for good. */
  #readable(path: string, data: Buffer | null): readonly JobRun[] {
    try {
      return [runCodec.parse(data, path)];
    } catch (error) {
      if (!(error instanceof CorruptDataError || error instanceof InvalidDataError)) throw error;
      const message = `a run is left out, as it cannot be read: ${path}`;
      this.#client.log.warn('job.invalid_run', message, { path, err: error });
      return [];
    }
  }

  /**
   * Runs until the lease is lost or the runner is stopped. True if nothing will be due any more.
   */
  async #lead(leadership: Leadership, work: (run: JobTurn) => unknown): Promise<boolean> {
    const { signal, lease } = leadership;
    const { schedule, onInterrupted = 'skip' } = this.#options;
    const within = { session: this.#sessionOf(lease), signal };
    const startMs = this.#now();
    await this.#ensureRuns(within);
    const [newest] = await persist(this.#client, within, async () => {
      // The runs of the previous leader must be visible.
      await this.#client.sync(this.#runs, bounds(within));
      return await this.history(bounds(within));
    });
    if (newest?.outcome === 'running') {
      await this.#write(leadership, { ...newest, outcome: 'interrupted', endedMs: startMs });
      if (onInterrupted === 'again') {
        await this.#attempt(leadership, work, newest.dueMs, newest.attempt + 1);
      }
    }
    let lastMs = newest?.dueMs ?? startMs;
    while (!signal.aborted) {
      const dueMs = nextDue(schedule, lastMs, this.#now());
      if (dueMs === null) return true;
      await this.#waitUntil(dueMs, signal);
      if (this.#now() < dueMs) continue;
      await this.#attempt(leadership, work, dueMs, 1);
      lastMs = dueMs;
    }
    return false;
  }

  /** Writes that it begins, does the work, writes the result. */
  async #attempt(
    leadership: Leadership,
    work: (run: JobTurn) => unknown,
    dueMs: number,
    attempt: number,
  ): Promise<void> {
    const { id: by = '' } = this.#options;
    const startedMs = this.#now();
    const run: JobRun = {
      dueMs,
      startedMs,
      endedMs: null,
      outcome: 'running',
      attempt,
      by,
      error: null,
    };
    if (!(await this.#write(leadership, run))) return;
    let ended: Pick<JobRun, 'outcome' | 'error'> = { outcome: 'done', error: null };
    try {
      await work({ ...leadership, dueMs, attempt });
    } catch (error) {
      ended = { outcome: 'failed', error: reasonOf(error) };
      const fields = { path: this.path, dueMs, attempt, err: error };
      this.#client.log.error('job.run_failed', 'a run of a scheduled job has failed', fields);
    }
    await this.#write(leadership, { ...run, ...ended, endedMs: this.#now() });
    await this.#prune(leadership);
  }

  /**
   * Writes a run for as long as the lease is held, even when the runner is to stop. False if
   * another process began the run.
   */
  async #write({ lease }: Leadership, run: JobRun): Promise<boolean> {
    const session = this.#sessionOf(lease);
    const path = joinPath(this.#runs, runName(run.dueMs));
    const data = runCodec.format(run, path);
    const within = { session, signal: lease.signal };
    const isFirst = run.outcome === 'running' && run.attempt === 1;
    const { acl } = this.#options;
    const op = isFirst
      ? ({ kind: 'create', path, data, ...(acl === undefined ? {} : { acl }) } as const)
      : ({ kind: 'setData', path, data } as const);
    try {
      await persist(this.#client, within, () => this.#client.fenced(lease, [op], bounds(within)));
      return true;
    } catch (error) {
      const isThere = error instanceof TransactionError && error.error instanceof NodeExistsError;
      if (!isFirst || !isThere) throw error;
      // The znode is ours if the reply to an earlier try was lost.
      const read = () => this.#client.getData(path, bounds(within));
      const { data: present } = await persist(this.#client, within, read);
      return present?.toString() === data;
    }
  }

  /** Throws if the session is over, because then the lease is lost. */
  #sessionOf({ sessionId, signal }: Lease): Session {
    signal.throwIfAborted();
    const { session } = this.#client;
    if (session === null || session.id !== sessionId) throw new SessionExpiredError(this.path);
    return session;
  }

  async #ensureRuns(within: Within): Promise<void> {
    const { acl } = this.#options;
    const given = acl === undefined ? bounds(within) : { ...bounds(within), acl };
    await persist(this.#client, within, () => ensurePath(this.#client, this.#runs, given));
  }

  async #prune({ lease }: Leadership): Promise<void> {
    const within = { session: this.#sessionOf(lease), signal: lease.signal };
    const { children } = await persist(this.#client, within, () =>
      this.#client.getChildren(this.#runs, bounds(within)),
    );
    const names = children.filter((name) => dueOf(name) !== null).toSorted();
    for (const name of names.slice(0, Math.max(0, names.length - this.#historyMax))) {
      try {
        const path = joinPath(this.#runs, name);
        await persist(this.#client, within, () => this.#client.delete(path, bounds(within)));
      } catch (error) {
        if (!(error instanceof NoNodeError)) throw error;
      }
    }
  }

  /**
   * Also returns when the signal is aborted, and after the longest timer, to read the clock again.
   */
  async #waitUntil(dueMs: number, signal: AbortSignal): Promise<void> {
    const waitMs = Math.min(dueMs - this.#now(), TIMER_MS_MAX);
    if (waitMs <= 0) return;
    await delay(this.#client.surroundings, waitMs, [signal]);
  }
}
