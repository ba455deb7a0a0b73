/**
 * Configuration: a typed value that follows its znode.
 *
 * **Guarantee.** While connected, `value` is the content of the znode as soon as the server has
 * reported it; without a connection it is the last known one. Data that cannot be parsed never
 * replaces a valid value, but `state` shows it. A follower receives the current state and then each
 * change; it may miss intermediate states, but never the last one. update() never overwrites a
 * change that it has not read.
 *
 * **Znodes.** `<path>`, persistent. update() creates missing parents as containers.
 *
 * **Suspended.** The value remains and may be outdated. **Lost.** The same; following continues in
 * the client's next session.
 */

import type { Client } from '../api/client.js';
import type { Codec } from '../api/codec.js';
import type { Acl, Node } from '../api/values.js';
import { checkCallOptions } from '../calls/call-options.js';
import { ambiguously } from './shared/ambiguous.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { CompareAndSet } from './shared/compare-and-set.js';
import { WaitTimeoutError } from './shared/errors.js';
import type { Within } from './shared/persist.js';
import { inEachSession, Runner } from './shared/runner.js';
import { changeOf, lookAt } from './shared/sight.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';

/** The codec determines how the value is written and read, for instance json(schema). */
export interface ConfigurationOptions<T, In = T> extends Codec<T, In> {
  /** The ACL of the znode and its parents if update() creates them; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

export type ConfigurationState<T> =
  /** `version` and `zxid` are those of the data. */
  | { readonly kind: 'valid'; readonly value: T; readonly version: number; readonly zxid: bigint }
  /** `error` is what `parse` threw. */
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

  /** Follows the znode from now on, in the background. Calling it again has no effect. */
  start(): void {
    this.#runner.start();
  }

  /**
   * The last value that could be parsed, even if the znode is gone; undefined before the first one.
   */
  get value(): T | undefined {
    return this.#lastValid?.value;
  }

  /** The state of the znode when it was last read; null before that. */
  get state(): ConfigurationState<T> | null {
    return this.#state;
  }

  /** Starts if necessary, and waits for a first value. */
  async whenValid(options: WaitOptions = {}): Promise<T> {
    this.start();
    // A value that is no longer kept up to date does not count.
    const valid = await this.#runner.until(options, () =>
      this.failure === null ? this.#lastValid : null,
    );
    return valid.value;
  }

  /**
   * Yields the current state and then each change. Ends with the signal, the loop or close().
   * Throws ClientClosedError, or an error of the server.
   */
  async *states(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<ConfigurationState<T>, void> {
    checkCallOptions(options);
    const { signal } = options;
    this.start();
    // The failure is thrown in the loop, so it must not also be reported as unhandled.
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
   * Replaces the value by the result of `change` for the current value (undefined if there is no
   * znode), provided that nobody has changed it meanwhile; otherwise calls `change` again. Resolves
   * with what was written. Errors of `parse` and `change` end it. If a reply is lost, an identical
   * change that another client made at that moment counts as this one. If it cannot be determined
   * whether the change was made, the ambiguous error is thrown.
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

  /** Stops following; `value` and `state` remain. Calling it again has no effect. */
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
    // Parsed only once for each change, so that the same data is always the same object.
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
