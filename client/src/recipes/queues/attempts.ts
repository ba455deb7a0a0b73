/**
 * Handles entries whose function fails each time or crashes its process. Each entry is tried a
 * limited number of times, with growing pauses, and is then moved to a dead-letter queue, so that
 * the entries behind it are processed.
 *
 * From its first attempt to its last, the entry is held and occupies one worker, so the order of
 * the queue is kept; other workers continue with the entries behind it. Attempts are counted before
 * they are made, in the entry itself, so those of consumers that died count too.
 */
import { NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { LeaseLostError, LeaseReleasedError, OptionError } from '../../api/errors.js';
import type { Lease } from '../../api/lease.js';
import { exponentialBackoff, type RetryPolicy } from '../../api/retry-policy.js';
import { checkOptionNames } from '../../calls/call-options.js';
import { delay } from '../../helpers/delay.js';

export interface AttemptOptions {
  /**
   * The path of the queue, of the same kind (a Queue for a ShardedQueue), to which an entry is
   * moved when the last attempt has failed.
   */
  readonly deadLetterPath: string;
  /**
   * How often the function is called with an entry, by all consumers together; 5 by default. In a
   * queue without locks only this consumer counts.
   */
  readonly max?: number | undefined;
  /** The pauses between attempts; by default random, up to 1 s at first and up to 60 s later. */
  readonly backoff?: RetryPolicy | undefined;
}

export interface Attemptable {
  /** The path of its znode. */
  readonly path: string;
  /** Null if no other consumer can get the entry. */
  readonly lease: Lease | null;
  countAttempt(): Promise<number>;
  moveTo(queuePath: string): Promise<void>;
}

const MAX = 5;
const BACKOFF = exponentialBackoff({ baseMs: 1_000, maxMs: 60_000 });
const NAMES = ['deadLetterPath', 'max', 'backoff'];

export class Attempts {
  readonly #client: Client;
  readonly #deadLetterPath: string;
  readonly #max: number;
  readonly #backoff: RetryPolicy;

  /** Returns null if the options are absent. Throws OptionError. */
  static of(
    client: Client,
    { attempts, onError }: { readonly attempts?: AttemptOptions | undefined; onError?: unknown },
  ): Attempts | null {
    if (attempts === undefined) return null;
    if (onError !== undefined) throw new OptionError('onError', 'cannot be combined with attempts');
    checkOptionNames(attempts, NAMES, 'attempts.');
    return new Attempts(client, attempts);
  }

  private constructor(
    client: Client,
    { deadLetterPath, max = MAX, backoff = BACKOFF }: AttemptOptions,
  ) {
    if (typeof deadLetterPath !== 'string') {
      throw new OptionError('attempts.deadLetterPath', 'must name a queue');
    }
    if (!Number.isSafeInteger(max) || max < 1) {
      throw new OptionError('attempts.max', `must be an integer of at least 1, is ${max}`);
    }
    this.#client = client;
    this.#deadLetterPath = deadLetterPath;
    this.#max = max;
    this.#backoff = backoff;
  }

  /** False if `stop` was aborted before the entry was processed; it is still held then. */
  async at<Entry extends Attemptable>(
    entry: Entry,
    handle: (entry: Entry) => unknown,
    stop: AbortSignal,
  ): Promise<boolean> {
    try {
      return await this.#at(entry, handle, stop);
    } catch (error) {
      // The entry was lost, ended by its function, or deleted by others.
      const isOver = error instanceof LeaseLostError || error instanceof LeaseReleasedError;
      if (isOver || error instanceof NoNodeError) return true;
      throw error;
    }
  }

  async #at<Entry extends Attemptable>(
    entry: Entry,
    handle: (entry: Entry) => unknown,
    stop: AbortSignal,
  ): Promise<boolean> {
    const { surroundings } = this.#client;
    const startMs = surroundings.nowMs();
    for (;;) {
      const attempt = await entry.countAttempt();
      // The attempt in which a previous consumer died may have been the last one.
      if (attempt > this.#max) break;
      try {
        await handle(entry);
        return true;
      } catch (error) {
        this.#tellFailure(entry, attempt, error);
      }
      const elapsedMs = surroundings.nowMs() - startMs;
      const delayMs = this.#backoff(attempt - 1, elapsedMs, () => surroundings.random());
      if (attempt === this.#max || delayMs === null) break;
      try {
        await delay(surroundings, delayMs, [stop, entry.lease?.signal]);
      } catch {
        return !stop.aborted;
      }
    }
    await entry.moveTo(this.#deadLetterPath);
    const fields = { path: entry.path, deadLetterPath: this.#deadLetterPath };
    this.#client.log.error(
      'queue.dead_letter',
      'an entry has failed too often and is moved to the dead-letter queue',
      fields,
    );
    return true;
  }

  #tellFailure({ path }: Attemptable, attempt: number, error: unknown): void {
    const fields = { path, attempt, attemptsMax: this.#max, err: error };
    this.#client.log.warn(
      'queue.attempt_failed',
      'an attempt to process an entry has failed',
      fields,
    );
  }
}
