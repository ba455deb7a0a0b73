/**
 * AtomicLong: a number that many clients change, as Curator's DistributedAtomicLong or kazoo's
 * Counter.
 *
 * **Guarantee.** A change with `succeeded` true was applied exactly once: the number was `pre`
 * before and `post` after. A change with `succeeded` false was not applied. A change that rejects
 * with an error whose `ambiguous` is true was applied once or not at all: its reply was lost, and
 * the znode does not show who wrote it.
 *
 * **Znodes.** `<path>`, persistent, holds the number as 8 bytes, big-endian, or in another
 * `format`. The first change creates it; a missing znode counts as 0. Parents are created as
 * containers. A change is tried with the version that was read, again and again with growing pauses
 * while others are faster. If a lock is configured, the change continues under that Lock after some
 * tries (Curator's promotion to an InterProcessMutex), where it has fewer competitors. A change
 * ends with `succeeded` false only if that was asked for, by a limit of tries or by the expected
 * value of a compareAndSet.
 *
 * **Suspended.** A change waits, within its time limit. **Lost.** A change continues in the next
 * session if it cannot have been applied yet. The number belongs to no session.
 */
import type { Client } from '../api/client.js';
import type { Acl } from '../api/values.js';
import { upsert } from '../helpers/upsert.js';
import { Lock } from './lock.js';
import { persistWrite, withAmbiguity } from './shared/doubt.js';
import { WaitTimeoutError } from './shared/errors.js';
import {
  decodeNumber,
  describeFormat,
  encodeNumber,
  type NumberFormat,
} from './shared/number-format.js';
import { bounds, pauseBetween, type Within } from './shared/persist.js';
import { readNewest, swap } from './shared/swap.js';
import { CorruptDataError, NumberRangeError } from './shared/value-errors.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';

export interface AtomicLongOptions {
  /** The encoding of the number; 'int64' by default. */
  readonly format?: NumberFormat | undefined;
  /** The ACL of the znode, its parents and the lock's znodes; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
  /**
   * How often a change is tried before it ends with `succeeded` false or continues under the lock.
   * By default it is tried until it succeeds or its wait ends, or 10 times if there is a promotion.
   */
  readonly optimisticTries?: number | undefined;
  /** Curator's promotion to a lock; by default there is none. */
  readonly promotion?: {
    /** The path of the Lock, which must differ from the path of the number. */
    readonly lockPath: string;
    /** How often a change is tried while the lock is held; by default until it succeeds. */
    readonly tries?: number;
  };
}

export interface AtomicResult {
  readonly succeeded: boolean;
  /** The number before the change, or the number that prevented it. */
  readonly pre: bigint;
  /** The number after the change; equal to `pre` if it did not succeed. */
  readonly post: bigint;
  /** How often it was tried without the lock, and with it. */
  readonly optimisticTries: number;
  readonly promotedTries: number;
}

type Compute = (pre: bigint, isThere: boolean) => bigint | null;
type Outcome =
  | { readonly kind: 'result'; readonly result: AtomicResult }
  | { readonly kind: 'doubtful'; readonly error: unknown };

/** The default if there is a promotion. */
const OPTIMISTIC_TRIES = 10;

export class AtomicLong {
  readonly path: string;
  readonly #client: Client;
  readonly #options: AtomicLongOptions;
  readonly #format: NumberFormat;

  constructor(client: Client, path: string, options: AtomicLongOptions = {}) {
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#format = options.format ?? 'int64';
  }

  /**
   * Resolves with a number at least as new as the call; 0 if there is no znode. Rejects with
   * CorruptDataError.
   */
  async get(options: WaitOptions = {}): Promise<bigint> {
    return await this.#within(options, async (within) => {
      const node = await readNewest(this.#client, this.path, within);
      return this.#decode(node?.data ?? null);
    });
  }

  /**
   * Rejects with NumberRangeError if the sum is out of range, and with CorruptDataError; see the
   * guarantee.
   */
  async add(delta: bigint, options: WaitOptions = {}): Promise<AtomicResult> {
    return await this.#change(options, (pre) => pre + delta);
  }

  async subtract(delta: bigint, options: WaitOptions = {}): Promise<AtomicResult> {
    return await this.add(-delta, options);
  }

  async increment(options: WaitOptions = {}): Promise<AtomicResult> {
    return await this.add(1n, options);
  }

  async decrement(options: WaitOptions = {}): Promise<AtomicResult> {
    return await this.add(-1n, options);
  }

  /** Does not succeed if the number differs or if there is no znode. */
  async compareAndSet(
    expected: bigint,
    value: bigint,
    options: WaitOptions = {},
  ): Promise<AtomicResult> {
    return await this.#change(options, (pre, isThere) =>
      isThere && pre === expected ? value : null,
    );
  }

  /** Sets the number and returns its previous value. */
  async trySet(value: bigint, options: WaitOptions = {}): Promise<AtomicResult> {
    return await this.#change(options, () => value);
  }

  /**
   * Sets the number whatever the data was, even if it was corrupt. It continues after lost replies,
   * so it may overwrite what others wrote meanwhile. If the wait ends before it is known whether
   * the number was set, the error is `ambiguous`.
   */
  async set(value: bigint, options: WaitOptions = {}): Promise<void> {
    const data = this.#encode(value);
    const { acl } = this.#options;
    const wait = { ...options, onSessionLost: 'rejoin' } as const;
    await withAmbiguity(this.#client, this.path, wait, (within, doubt) =>
      persistWrite(this.#client, within, doubt, () => {
        const given = { ...bounds(within), parents: 'container' } as const;
        const created = acl === undefined ? given : { ...given, acl };
        return upsert(this.#client, this.path, data, created);
      }),
    );
  }

  /** Creates the znode with the value; resolves with false if the znode exists. */
  async initialize(value: bigint, options: WaitOptions = {}): Promise<boolean> {
    const { acl } = this.#options;
    const wanted = { path: this.path, data: this.#encode(value), expected: null, acl };
    const swapped = await this.#within(options, (within) => swap(this.#client, wanted, within));
    if (swapped.kind === 'doubtful') throw swapped.error;
    return swapped.kind === 'done';
  }

  async #change(options: WaitOptions, compute: Compute): Promise<AtomicResult> {
    const { promotion } = this.#options;
    const defaultTries = promotion === undefined ? Number.POSITIVE_INFINITY : OPTIMISTIC_TRIES;
    const { optimisticTries = defaultTries } = this.#options;
    // An ambiguous outcome is returned as a result, because an error would be reported as that of
    // the wait.
    const outcome = await this.#within(options, async (within) => {
      const first = await this.#tries(within, compute, optimisticTries);
      if (first.kind !== 'refused') return outcomeOf(first, first.tries, 0);
      if (promotion === undefined) return outcomeOf(first, first.tries, 0);
      const { lockPath, tries = Number.POSITIVE_INFINITY } = promotion;
      const lease = await this.#lockAt(lockPath).acquire({ signal: within.signal });
      try {
        const second = await this.#tries(within, compute, tries);
        return outcomeOf(second, first.tries, second.tries);
      } finally {
        // The caller must learn the result of the change; the lease deletes its own znode in any
        // case.
        await lease.release().catch(() => {});
      }
    });
    if (outcome.kind === 'doubtful') throw outcome.error;
    return outcome.result;
  }

  #lockAt(lockPath: string): Lock {
    const { acl } = this.#options;
    return new Lock(this.#client, lockPath, acl === undefined ? {} : { acl });
  }

  async #tries(within: Within, compute: Compute, triesMax: number): Promise<Tries> {
    let last = 0n;
    for (let tries = 1; tries <= triesMax; tries++) {
      const node = await readNewest(this.#client, this.path, within);
      const pre = this.#decode(node?.data ?? null);
      const post = compute(pre, node !== null);
      if (post === null) return { kind: 'declined', pre, tries };
      const { acl } = this.#options;
      const data = this.#encode(post);
      const wanted = { path: this.path, data, expected: node?.stat ?? null, acl };
      const swapped = await swap(this.#client, wanted, within);
      if (swapped.kind === 'done') return { kind: 'done', pre, post, tries };
      if (swapped.kind === 'doubtful') return { kind: 'doubtful', error: swapped.error, tries };
      last = pre;
      await pauseBetween(this.#client, tries - 1, within.signal);
    }
    return { kind: 'refused', pre: last, tries: triesMax };
  }

  #within<T>(options: WaitOptions, attempt: (within: Within) => Promise<T>): Promise<T> {
    const timeoutError = () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
    const wait = { ...options, timeoutError, onSessionLost: 'rejoin' } as const;
    return inSession(this.#client, wait, attempt);
  }

  #decode(data: Buffer | null): bigint {
    const value = decodeNumber(this.#format, data);
    if (value === null) throw new CorruptDataError(this.path, describeFormat(this.#format));
    return value;
  }

  #encode(value: bigint): Buffer {
    const data = encodeNumber(this.#format, value);
    if (data === null) {
      throw new NumberRangeError(this.path, value, describeFormat(this.#format));
    }
    return data;
  }
}

type Tries = { readonly tries: number } & (
  | { readonly kind: 'done'; readonly pre: bigint; readonly post: bigint }
  /** The change does not apply to this number, or others were faster each time. */
  | { readonly kind: 'declined' | 'refused'; readonly pre: bigint }
  | { readonly kind: 'doubtful'; readonly error: unknown }
);

function outcomeOf(last: Tries, optimisticTries: number, promotedTries: number): Outcome {
  if (last.kind === 'doubtful') return last;
  const { pre } = last;
  const post = last.kind === 'done' ? last.post : pre;
  const succeeded = last.kind === 'done';
  return { kind: 'result', result: { succeeded, pre, post, optimisticTries, promotedTries } };
}
