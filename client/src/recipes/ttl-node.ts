/**
 * TtlNode: a znode that outlives its keeper's session, but not for long: it is kept by touching it,
 * and goes by itself when nobody does.
 *
 * **Guarantee.** While an owner is open and connected the znode stands. When the last owner has
 * gone, closed or crashed, the server removes it some time after `ttlMs`. Several owners may keep
 * the same znode.
 *
 * **Znodes.** Curator's PersistentTtlNode: `<path>`, a container, which goes when it is empty;
 * `<path>/touch`, a TTL znode that each owner touches every `ttlMs / 2`. Needs a server that has
 * TTL znodes (`extendedTypesEnabled` in ZooKeeper); otherwise UnimplementedError.
 *
 * **Suspended.** Touching waits for the connection; away for longer than `ttlMs` the znode may go,
 * and is then made anew. **Lost.** As suspended: nothing here belongs to a session.
 */
import { joinPath, NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Data } from '../api/values.js';
import { OptionError } from '../errors.js';
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
  /** How long the znode may stand untouched; milliseconds, 2 or more. */
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

  /** Keeps the znode from now on, in the background; idempotent. */
  start(): void {
    this.#runner.start();
    this.#node.start();
  }

  /** Starts if need be and waits until the znode stands and has been touched. */
  async whenStanding(options: WaitOptions = {}): Promise<string> {
    this.start();
    return await this.#heard(async () => {
      await this.#runner.until(options, () =>
        this.#isTouched && this.failure === null ? true : null,
      );
      return await this.#node.whenStanding(options);
    });
  }

  /** Resolves when the znode has it; when the wait ends before, it still gets it later. */
  async setData(data: Data, options: WaitOptions = {}): Promise<void> {
    this.start();
    await this.#heard(() => this.#node.setData(data, options));
  }

  /** Touches it no more: it goes when its time is up and no other owner keeps it. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#runner.stop(), this.#node.close()]);
  }

  /** Closes, and deletes the znode at once; another owner, if there is one, makes it anew. */
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

  /** Who waits is told a failure by what it waits for. */
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
      // Another owner was faster.
      if (!(error instanceof NodeExistsError)) throw error;
    }
  }
}
