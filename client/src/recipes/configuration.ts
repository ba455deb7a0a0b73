/**
 * Configuration: a typed value that follows its znode.
 *
 * **Guarantee.** While there is a connection `value` is what the znode holds, as soon as the server
 * has told; without one it is what it held last. What cannot be parsed replaces no value that
 * could: `state` tells of it. A follower is given the state at first, then after each change; it
 * may skip states, never the last. update() changes what it has read and nothing else.
 *
 * **Znodes.** `<path>`, persistent. Parents are made as containers by update().
 *
 * **Suspended.** The value stands, and may be out of date. **Lost.** The same; following goes on in
 * the client's next session.
 */

import type { Client } from '../api/client.js';
import type { Codec } from '../api/codec.js';
import type { Acl, Node } from '../api/values.js';
import { checkCallOptions } from '../call-options.js';
import { ambiguously } from './shared/ambiguous.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { CompareAndSet } from './shared/compare-and-set.js';
import { WaitTimeoutError } from './shared/errors.js';
import type { Within } from './shared/persist.js';
import { inEachSession, Runner } from './shared/runner.js';
import { changeOf, lookAt } from './shared/sight.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';

/** The codec says how the value is written and read: json(schema) gives one. */
export interface ConfigurationOptions<T, In = T> extends Codec<T, In> {
  /** Of the znode and its parents, should update() make them; open by default. */
  readonly acl?: readonly Acl[] | undefined;
}

export type ConfigurationState<T> =
  /** `version` and `zxid` are those of the data. */
  | { readonly kind: 'valid'; readonly value: T; readonly version: number; readonly zxid: bigint }
  /** `error` is what `parse` has thrown. */
  | { readonly kind: 'invalid'; readonly error: unknown; readonly zxid: bigint }
  /** There is no such znode. */
  | { readonly kind: 'missing' };

export class Configuration<T, In = T> extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #client: Client;
  readonly #options: ConfigurationOptions<T, In>;
  readonly #runner: Runner;
  #state: ConfigurationState<T> | null = null;
  #lastValid: { readonly value: T } | null = null;

  constructor(client: Client, path: string, options: ConfigurationOptions<T, In>) {
    super();
    this.path = path;
    this.#client = client;
    this.#options = options;
    const task = inEachSession(client, path, (within) => this.#follow(within));
    this.#runner = new Runner({ client, recipe: 'Configuration', path, task });
  }

  /** Follows the znode from now on, in the background; idempotent. */
  start(): void {
    this.#runner.start();
  }

  /** The last one that could be parsed, also when the znode is gone; undefined before the first. */
  get value(): T | undefined {
    return this.#lastValid?.value;
  }

  /** As the znode was read last; null before that. */
  get state(): ConfigurationState<T> | null {
    return this.#state;
  }

  /** Starts if need be and waits for a first value. */
  async whenValid(options: WaitOptions = {}): Promise<T> {
    this.start();
    // One that nobody keeps up to date any more is none.
    const valid = await this.#runner.until(options, () =>
      this.failure === null ? this.#lastValid : null,
    );
    return valid.value;
  }

  /**
   * The state now and after each change. Ends with the signal, the loop or close(); throws
   * ClientClosedError, or the server's answer.
   */
  async *states(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<ConfigurationState<T>, void> {
    checkCallOptions(options);
    const { signal } = options;
    this.start();
    // Who loops is thrown the failure.
    const listening = this.onFailure(() => {});
    let given: ConfigurationState<T> | null = null;
    const isNew = (state: ConfigurationState<T> | null) => state !== given;
    try {
      for (;;) {
        const state: ConfigurationState<T> = await this.#runner.until({ signal }, () =>
          isNew(this.#state) ? this.#state : null,
        );
        given = state;
        yield state;
      }
    } catch (error) {
      if (signal?.aborted !== true && !this.#runner.hasEndedWell) throw error;
    } finally {
      listening();
    }
  }

  /**
   * Replaces the value by what `change` makes of the present one (undefined when there is no
   * znode), provided that nobody has changed it meanwhile; else asks `change` again. Gives what was
   * written. Errors of `parse` and `change` end it. Should a reply be lost, a change that another
   * made at that moment to the very same bytes counts as this one; if nobody can tell whether it
   * was made, the ambiguous error is thrown.
   */
  async update(change: (present: T | undefined) => In, options: WaitOptions = {}): Promise<In> {
    const { parse, format, acl } = this.#options;
    const timeoutError = () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
    const wait = { ...options, timeoutError, onSessionLost: 'rejoin' } as const;
    const write = new CompareAndSet<In>(this.#client, this.path, {
      acl,
      next: (data, isMissing) => {
        const value = change(isMissing ? undefined : parse(data, this.path));
        return { value, data: format(value, this.path) };
      },
    });
    return await ambiguously(
      () => write.isUncertain,
      () => inSession(this.#client, wait, (within) => write.run(within)),
    );
  }

  /** Follows no more; `value` and `state` stay. Idempotent. */
  async close(): Promise<void> {
    await this.#runner.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#runner;
  }

  async #follow(within: Within): Promise<never> {
    for (;;) {
      const sight = await lookAt(this.#client, this.path, within);
      try {
        this.#onNode(sight.seen);
        await changeOf(sight, within);
      } finally {
        sight.forget();
      }
    }
  }

  #onNode(node: Node | null): void {
    const next = this.#stateOf(node);
    if (isSame(this.#state, next)) return;
    this.#state = next;
    if (next.kind === 'valid') this.#lastValid = next;
    this.#runner.changes.notify();
  }

  #stateOf(node: Node | null): ConfigurationState<T> {
    if (node === null) return { kind: 'missing' };
    const { version, mzxid: zxid } = node.stat;
    // Parsed once for each change, so that the same data is the same object.
    if (this.#state !== null && this.#state.kind !== 'missing' && this.#state.zxid === zxid) {
      return this.#state;
    }
    try {
      return { kind: 'valid', value: this.#options.parse(node.data, this.path), version, zxid };
    } catch (error) {
      return { kind: 'invalid', error, zxid };
    }
  }
}

function isSame<T>(left: ConfigurationState<T> | null, right: ConfigurationState<T>): boolean {
  return left === right || (left?.kind === 'missing' && right.kind === 'missing');
}
