/**
 * Shares a database or a file that is open only while it is in use: it is closed after the last use
 * and opened again by the next one.
 *
 * While closed it costs neither memory nor a file descriptor. Once marked for deletion, it is
 * destroyed when its last user is gone. `acquire` and `release` count the uses; the owner may pin
 * it, which counts as one use, to keep it open.
 */
import { assert } from '@rookery/protocol';
import type { KeyValueDatabase } from './key-value.js';

export type SharedDatabase = SharedResource<KeyValueDatabase>;

/** Opens and destroys resources by name. */
export interface ResourceOwner<T> {
  open(name: string): Promise<T>;
  destroy(name: string): Promise<void>;
}

export class SharedResource<T extends { close(): Promise<void> }> {
  readonly name: string;
  readonly #owner: ResourceOwner<T>;
  #users = 0;
  #isPinned = false;
  #isMarked = false;
  #destroyed = false;
  #opened: Promise<T> | null = null;
  #closing: Promise<void> = Promise.resolve();

  constructor(owner: ResourceOwner<T>, name: string) {
    this.#owner = owner;
    this.name = name;
  }

  /** Wraps what is open already; it is pinned. */
  static pinned<T extends { close(): Promise<void> }>(
    owner: ResourceOwner<T>,
    name: string,
    opened: T,
  ): SharedResource<T> {
    const shared = new SharedResource(owner, name);
    shared.#opened = Promise.resolve(opened);
    shared.#isPinned = true;
    shared.#users = 1;
    return shared;
  }

  /** Opens it if necessary. When that fails, the call has not counted as a use. */
  async acquire(): Promise<T> {
    assert(!this.#isMarked, `${this.name} is not used after it was marked for deletion`);
    this.#users += 1;
    this.#opened ??= this.#open();
    try {
      return await this.#opened;
    } catch (error) {
      this.#users -= 1;
      if (this.#users === 0) {
        this.#opened = null;
        if (this.#isMarked) await this.#destroy();
      }
      throw error;
    }
  }

  /** Resolves when it is closed, if this was the last use. */
  async release(): Promise<void> {
    assert(this.#users > 0, `${this.name} is released once for each acquire`);
    this.#users -= 1;
    if (this.#users > 0 || this.#opened === null) return;
    this.#closing = this.#close(this.#opened);
    this.#opened = null;
    await this.#closing;
    if (this.#isMarked) await this.#destroy();
  }

  /** Keeps it open until `unpin`. Does nothing if it is pinned already. */
  async pin(): Promise<T> {
    if (this.#isPinned && this.#opened !== null) return await this.#opened;
    this.#isPinned = true;
    try {
      return await this.acquire();
    } catch (error) {
      this.#isPinned = false;
      throw error;
    }
  }

  /** Resolves once it is closed, if there is no other use. Does nothing if it is not pinned. */
  async unpin(): Promise<void> {
    if (!this.#isPinned) return;
    this.#isPinned = false;
    await this.release();
  }

  /** Runs `action` with it open. */
  async use<R>(action: (opened: T) => Promise<R>): Promise<R> {
    const opened = await this.acquire();
    try {
      return await action(opened);
    } finally {
      await this.release();
    }
  }

  /** Forbids new uses. It is destroyed at once if it is not in use, else after the last use. */
  async markForDeletion(): Promise<void> {
    assert(!this.#isMarked, `${this.name} is marked for deletion once`);
    this.#isMarked = true;
    await this.unpin();
    if (this.#users === 0) await this.#destroy();
  }

  async #destroy(): Promise<void> {
    if (this.#destroyed) return;
    this.#destroyed = true;
    await this.#closing;
    await this.#owner.destroy(this.name);
  }

  async #open(): Promise<T> {
    await this.#closing;
    return await this.#owner.open(this.name);
  }

  async #close(opened: Promise<T>): Promise<void> {
    await (await opened).close();
  }
}
