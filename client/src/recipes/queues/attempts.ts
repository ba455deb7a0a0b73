/**
 * Entries that are poison: whose function fails each time, or takes its process along. Each is
 * tried so often, with growing pauses, and is then put aside into a queue of its own, so that what
 * stands behind it is dealt with.
 *
 * The entry is held from the first attempt to the last, and with it one worker, so that the order
 * of a queue stays what it is; others go on with what is behind it. Attempts are counted before
 * they are made, at the entry itself, so that those of consumers that have died count as well.
 */
import { NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Lease } from '../../api/lease.js';
import { checkOptionNames } from '../../call-options.js';
import { LeaseLostError, LeaseReleasedError, OptionError } from '../../errors.js';
import { delay } from '../../helpers/delay.js';
import { exponentialBackoff, type RetryPolicy } from '../../helpers/retry-policy.js';

export interface AttemptOptions {
  /**
   * Path of the queue, of the same kind (a Queue for a ShardedQueue), that an entry is moved to
   * when the last attempt has failed.
   */
  readonly deadLetterPath: string;
  /**
   * How often the function is called with an entry, by all consumers together; 5 by default. In a
   * queue without locks, by this one.
   */
  readonly max?: number | undefined;
  /** Pauses between attempts, from 0 to 1 s at first and to 60 s later by default. */
  readonly backoff?: RetryPolicy | undefined;
}

export interface Attemptable {
  /** Of its znode. */
  readonly path: string;
  /** Null when nobody else can get the entry. */
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

  /** Null without such options; OptionError. */
  static of(
    client: Client,
    { attempts, onError }: { readonly attempts?: AttemptOptions | undefined; onError?: unknown },
  ): Attempts | null {
    if (attempts === undefined) return null;
    if (onError !== undefined) throw new OptionError('onError', 'says nothing beside attempts');
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

  /** False when `stop` came before the entry was dealt with: it is still held then. */
  async at<Entry extends Attemptable>(
    entry: Entry,
    handle: (entry: Entry) => unknown,
    stop: AbortSignal,
  ): Promise<boolean> {
    try {
      return await this.#at(entry, handle, stop);
    } catch (error) {
      // Somebody else's, ended by its function, or removed by force.
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
      // The last attempt of a consumer that has died in it was one too.
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
      'an entry has failed too often, and is put aside',
      fields,
    );
    return true;
  }

  #tellFailure({ path }: Attemptable, attempt: number, error: unknown): void {
    const fields = { path, attempt, attemptsMax: this.#max, err: error };
    this.#client.log.warn('queue.attempt_failed', 'an attempt at an entry has failed', fields);
  }
}
