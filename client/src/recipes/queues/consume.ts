/**
 * Consumes a queue continuously, either as a loop or with a function that several workers call.
 * Used by all queues whose entries are held.
 *
 * An entry is done when the loop body or the function has succeeded, and is given back otherwise.
 * An entry whose lock was lost meanwhile goes to another consumer, as at-least-once delivery
 * implies; this ends neither loop nor workers, whatever the function made of it. A lost session
 * does not end them either: they continue in the client's next one.
 */
import type { Client } from '../../api/client.js';
import {
  LeaseLostError,
  LeaseReleasedError,
  OperationAbortedError,
  OptionError,
} from '../../api/errors.js';
import { checkCallOptions } from '../../calls/call-options.js';
import { WaitScope } from '../shared/wait-scope.js';
import type { SessionLossOptions } from '../shared/waiting-line.js';
import { type Attemptable, type AttemptOptions, Attempts } from './attempts.js';

export interface Consumable extends Attemptable, AsyncDisposable {
  done(): Promise<void>;
  release(): Promise<void>;
  requeue(): Promise<void>;
}

export interface ConsumeOptions {
  /** How many entries to process at once; 1 by default. */
  readonly concurrency?: number | undefined;
  /**
   * Aborting it ends the consumption: no further entry is taken, and those in progress are
   * finished.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * What happens to an entry whose function throws. 'stop', the default, gives it back (in a queue
   * without locks it is gone), finishes the entries in progress and rejects with the error;
   * 'requeue' moves it to the end of the queue, and 'drop' removes it.
   */
  readonly onError?: 'stop' | 'requeue' | 'drop' | undefined;
  /** Instead of `onError`: retries such an entry, and finally moves it to a dead-letter queue. */
  readonly attempts?: AttemptOptions | undefined;
}

interface LoopOptions {
  readonly signal?: AbortSignal | undefined;
}

type Take<Entry> = (options: LoopOptions) => Promise<Entry>;

/** The options of a loop, which by default continues after a lost session. */
export function inLoops({ onSessionLost = 'rejoin' }: SessionLossOptions): SessionLossOptions {
  return { onSessionLost };
}

export async function* entriesOf<Entry extends Consumable>(
  take: Take<Entry>,
  options: LoopOptions,
): AsyncGenerator<Entry, void> {
  checkCallOptions(options);
  const { signal } = options;
  for (;;) {
    let entry: Entry;
    try {
      entry = await take({ signal });
    } catch (error) {
      if (signal?.aborted === true && error instanceof OperationAbortedError) return;
      throw error;
    }
    let isGoingOn = false;
    try {
      yield entry;
      isGoingOn = true;
    } finally {
      if (isGoingOn) await finish(entry);
      else await entry.release();
    }
  }
}

export async function consumeAll<Entry extends Consumable>(
  client: Client,
  take: Take<Entry>,
  handle: (entry: Entry) => unknown,
  options: ConsumeOptions,
): Promise<void> {
  checkCallOptions(options);
  const { concurrency = 1, signal, onError = 'stop' } = options;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new OptionError('concurrency', `must be an integer of at least 1, is ${concurrency}`);
  }
  const attempts = Attempts.of(client, options);
  const scope = WaitScope.open(client, { signal }, () => new Error('there is no time limit'));
  const work = async () => {
    for await (const entry of entriesOf(take, { signal: scope.signal })) {
      if (attempts !== null) {
        const isDealtWith = await attempts.at(entry, handle, scope.signal);
        // Leaving the loop gives the entry back.
        if (!isDealtWith) return;
        continue;
      }
      try {
        await handle(entry);
      } catch (error) {
        if (isLost(entry)) continue;
        if (onError === 'stop') throw error;
        await unlessOver(onError === 'requeue' ? entry.requeue() : entry.done());
      }
    }
  };
  const workers = Array.from({ length: concurrency }, async () => {
    try {
      await work();
    } catch (error) {
      scope.end(error);
      throw error;
    }
  });
  try {
    const results = await Promise.allSettled(workers);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  } finally {
    scope.close();
  }
}

/** Marks the entry as done, or gives it back if the server refuses that. */
async function finish(entry: Consumable): Promise<void> {
  try {
    await unlessOver(entry.done());
  } catch (error) {
    await entry.release().catch(() => {});
    throw error;
  }
}

/** Whether the entry belongs to another consumer by now, or may soon. */
function isLost({ lease }: Pick<Consumable, 'lease'>): boolean {
  return lease?.signal.reason instanceof LeaseLostError;
}

/** Ignores errors about an entry that was lost, or that its function has already ended. */
async function unlessOver(ending: Promise<void>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    const isOver = error instanceof LeaseLostError || error instanceof LeaseReleasedError;
    if (!isOver) throw error;
  }
}
