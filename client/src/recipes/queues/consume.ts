/**
 * Consuming a queue for as long as one likes: as a loop, and with a function that several workers
 * call. What the queues that hold their entries have in common.
 *
 * An entry is done when its loop body or function has ended well, and given back when not. When it
 * was lost meanwhile somebody else gets it; that is the guarantee of a lock ("at least once"), and
 * ends neither loop nor workers.
 */
import type { Client } from '../../api/client.js';
import {
  LeaseLostError,
  LeaseReleasedError,
  OperationAbortedError,
  OptionError,
} from '../../errors.js';
import { WaitScope } from '../shared/wait-scope.js';

export interface Consumable extends AsyncDisposable {
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
}

type Take<Entry> = (options: { readonly signal?: AbortSignal | undefined }) => Promise<Entry>;

export async function* entriesOf<Entry extends Consumable>(
  take: Take<Entry>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Entry, void> {
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
      if (isGoingOn) await unlessLost(entry.done());
      else await entry.release();
    }
  }
}

export async function consumeAll<Entry extends Consumable>(
  client: Client,
  take: Take<Entry>,
  handle: (entry: Entry) => unknown,
  { concurrency = 1, signal, onError = 'stop' }: ConsumeOptions,
): Promise<void> {
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new OptionError('concurrency', `must be an integer of at least 1, is ${concurrency}`);
  }
  const scope = WaitScope.open(client, { signal }, () => new Error('there is no time limit'));
  const work = async () => {
    for await (const entry of entriesOf(take, scope.signal)) {
      try {
        await handle(entry);
      } catch (error) {
        if (onError === 'stop') throw error;
        await unlessLost(onError === 'requeue' ? entry.requeue() : entry.done());
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

/** An entry that is lost is somebody else's; one that is over was ended by who had it. */
async function unlessLost(ending: Promise<void>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    const isOver = error instanceof LeaseLostError || error instanceof LeaseReleasedError;
    if (!isOver) throw error;
  }
}
