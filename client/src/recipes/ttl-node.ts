/**
 * TtlNode: a znode that outlives the session of its owner, but not for long: owners keep it by
 * touching it, and it is deleted by the server when nobody does.
 *
 * **Guarantee.** While an owner is open and connected, the znode exists. When the last owner has
 * closed or crashed, the server removes it some time after `ttlMs`. Several owners may keep the
 * same znode.
 *
 * **Znodes.** The same as for Curator's PersistentTtlNode: `<path>`, a container, which is removed
 * when it is empty, and `<path>/touch`, a TTL znode that each owner touches every `ttlMs / 2`. It
 * needs a server that supports TTL znodes (`extendedTypesEnabled` in ZooKeeper), otherwise it fails
 * with UnimplementedError.
 *
 * **Suspended.** Touching waits for the connection. After more than `ttlMs` the znode may be
 * deleted, and is then created again. **Lost.** The same as suspended, because nothing here belongs
 * to a session.
 */
import { joinPath, NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import type { Acl, Data } from '../api/values.js';
import { PersistentNode } from './persistent-node.js';
import { ambiguously } from './shared/ambiguous.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { inContainer } from './shared/container-parent.js';
import { WaitTimeoutError } from './shared/errors.js';
import { ensureGone } from './shared/idempotent.js';
import { bounds, persist, type Within } from './shared/persist.js';
import { inEachSession, Runner } from './shared/runner.js';
import { pause, type WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';

export interface TtlNodeOptions {
  /** How long the znode may exist without being touched, in milliseconds, at least 2. */
  readonly ttlMs: number;
  readonly data?: Data | undefined;
  readonly acl?: readonly Acl[] | undefined;
}

/** Curator's name of the child. */
const TOUCH = 'touch';
const TOUCHES_PER_TTL = 2;

export class TtlNode extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly #client: Client;
  readonly #options: TtlNodeOptions;
  readonly #node: PersistentNode;
  readonly #runner: Runner;
  #isTouched = false;

  constructor(client: Client, path: string, options: TtlNodeOptions) {
    super();
    if (!(options.ttlMs >= TOUCHES_PER_TTL)) throw new OptionError('ttlMs', 'must be at least 2');
    const { ttlMs: _, ...given } = options;
    this.path = path;
    this.#client = client;
    this.#options = options;
    const kept = { ...given, mode: 'container', deleteOnClose: false } as const;
    this.#node = new PersistentNode(client, path, kept);
    const task = inEachSession(client, path, (within) => this.#touchAgainAndAgain(within));
    this.#runner = new Runner({ client, recipe: 'TtlNode', path, task });
    this.#node.onFailure((error) => this.#runner.fail(error));
  }

  /** Keeps the znode from now on, in the background. Calling it again has no effect. */
  start(): void {
    this.#runner.start();
    this.#node.start();
  }

  /** Starts if necessary, and waits until the znode exists and has been touched. */
  async whenStanding(options: WaitOptions = {}): Promise<string> {
    this.start();
    return await this.#heard(async () => {
      await this.#runner.until(options, () =>
        this.#isTouched && this.failure === null ? true : null,
      );
      return await this.#node.whenStanding(options);
    });
  }

  /**
   * Resolves when the znode has the data. If the wait ends earlier, the data is still written
   * later.
   */
  async setData(data: Data, options: WaitOptions = {}): Promise<void> {
    this.start();
    await this.#heard(() => this.#node.setData(data, options));
  }

  /**
   * Stops touching it, so the server deletes it when its time is up, unless another owner keeps it.
   * Calling it again has no effect.
   */
  async close(): Promise<void> {
    await Promise.all([this.#runner.stop(), this.#node.close()]);
  }

  /**
   * Closes, and deletes the znode at once. If there is another owner, that one creates it again.
   */
  async delete(options: WaitOptions = {}): Promise<void> {
    await this.close();
    const timeoutError = () => new WaitTimeoutError(this.path, options.timeoutMs ?? 0);
    const wait = { ...options, timeoutError, onSessionLost: 'rejoin' } as const;
    const remove = async (within: Within) => {
      await ensureGone(this.#client, this.#touchPath, within);
      await ensureGone(this.#client, this.path, within);
    };
    await ambiguously(
      () => true,
      () => inSession(this.#client, wait, remove),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #touchPath(): string {
    return joinPath(this.path, TOUCH);
  }

  protected override get supervised(): Supervised {
    return this.#runner;
  }

  /** A caller that waits receives the failure from what it waits for. */
  async #heard<T>(wait: () => Promise<T>): Promise<T> {
    const listening = this.onFailure(() => {});
    try {
      return await wait();
    } finally {
      listening();
    }
  }

  async #touchAgainAndAgain(within: Within): Promise<never> {
    for (;;) {
      await persist(this.#client, within, () => this.#touch(within));
      this.#isTouched = true;
      this.#runner.changes.notify();
      await pause(this.#client, this.#options.ttlMs / TOUCHES_PER_TTL, within.signal);
    }
  }

  async #touch(within: Within): Promise<void> {
    try {
      await this.#client.setData(this.#touchPath, null, bounds(within));
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
      await this.#createTouch(within);
    }
  }

  async #createTouch(within: Within): Promise<void> {
    const { acl, ttlMs } = this.#options;
    const options = { ...bounds(within), mode: 'persistentWithTtl', ttlMs } as const;
    const given = acl === undefined ? options : { ...options, acl };
    try {
      await inContainer(this.#client, this.path, { ...bounds(within), acl }, () =>
        this.#client.create(this.#touchPath, null, given),
      );
    } catch (error) {
      // Another owner created it first.
      if (!(error instanceof NodeExistsError)) throw error;
    }
  }
}
