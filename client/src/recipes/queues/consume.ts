/**
 * Consuming a queue for as long as one likes: as a loop, and with a function that several workers
 * call. What the queues that hold their entries have in common.
 *
 * An entry is done when its loop body or function has ended well, and given back when not. When it
 * was lost meanwhile somebody else gets it; that is the guarantee of a lock ("at least once"), and
 * ends neither loop nor workers, whatever the function has made of it. Nor does a lost session:
 * they go on in the client's next one.
 */
import type { Client } from '../../api/client.js';
import { checkCallOptions } from '../../call-options.js';
import {
  LeaseLostError,
  LeaseReleasedError,
  OperationAbortedError,
  OptionError,
} from '../../errors.js';
import { WaitScope } from '../shared/wait-scope.js';
import type { SessionLossOptions } from '../shared/waiting-line.js';
import { type Attemptable, type AttemptOptions, Attempts } from './attempts.js';

export interface Consumable extends Attemptable, AsyncDisposable {
  done(): Promise<void>;
  release(): Promise<void>;
  requeue(): Promise<void>;
}

export interface ConsumeOptions {
  /** How many entries at once; 1 by default. */
  readonly concurrency?: number | undefined;
  /** Ends it: no further entry is taken, and those under way are finished. */
  readonly signal?: AbortSignal | undefined;
  /**
   * What becomes of an entry whose function throws. 'stop', the default, gives it back, finishes
   * what is under way and rejects with the error; 'requeue' puts it at the end, 'drop' removes it.
   */
  readonly onError?: 'stop' | 'requeue' | 'drop' | undefined;
  /** Instead of `onError`: to try such an entry again, and to put it aside when that is in vain. */
  readonly attempts?: AttemptOptions | undefined;
}

interface LoopOptions {
  readonly signal?: AbortSignal | undefined;
}

type Take<Entry> = (options: LoopOptions) => Promise<Entry>;

/** What a loop makes of the queue's options: it goes on after a lost session unless told not to. */
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
        // Leaving the loop gives it back.
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

/** Done, or given back if that is refused. */
async function finish(entry: Consumable): Promise<void> {
  try {
    await unlessOver(entry.done());
  } catch (error) {
    await entry.release().catch(() => {});
    throw error;
  }
}

/** Whether it is somebody else's by now, or may soon be. */
function isLost({ lease }: Pick<Consumable, 'lease'>): boolean {
  return lease?.signal.reason instanceof LeaseLostError;
}

/** An entry that is lost is somebody else's; one that is over was ended by who had it. */
async function unlessOver(ending: Promise<void>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    const isOver = error instanceof LeaseLostError || error instanceof LeaseReleasedError;
    if (!isOver) throw error;
  }
}
