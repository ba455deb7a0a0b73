/**
 * A database or a file that is open while somebody uses it: closed after the last use, opened again
 * by the next.
 *
 * What is closed costs neither memory nor a descriptor, and what is retired is destroyed only when
 * its last reader is gone. Uses are counted by `acquire` and `release`; `hold` is one use by the
 * owner.
 */
import { assert } from '@rookery/protocol';
import type { KeyValueDatabase } from './key-value.js';

export type SharedDatabase = SharedResource<KeyValueDatabase>;

/** Where it is opened and destroyed by its name. */
export interface ResourceOwner<T> {
  open(name: string): Promise<T>;
  destroy(name: string): Promise<void>;
}

export class SharedResource<T extends { close(): Promise<void> }> {
  readonly name: string;
  private readonly owner: ResourceOwner<T>;
  private users = 0;
  private held = false;
  private retired = false;
  private destroyed = false;
  private opened: Promise<T> | null = null;
  private closing: Promise<void> = Promise.resolve();

  constructor(owner: ResourceOwner<T>, name: string) {
    this.owner = owner;
    this.name = name;
  }

  /** One that is open already, and held. */
  static held<T extends { close(): Promise<void> }>(
    owner: ResourceOwner<T>,
    name: string,
    opened: T,
  ): SharedResource<T> {
    const shared = new SharedResource(owner, name);
    shared.opened = Promise.resolve(opened);
    shared.held = true;
    shared.users = 1;
    return shared;
  }

  /** What fails to open is as if it had not been asked for. */
  async acquire(): Promise<T> {
    assert(!this.retired, `${this.name} is not used after it was retired`);
    this.users += 1;
    this.opened ??= this.open();
    try {
      return await this.opened;
    } catch (error) {
      this.users -= 1;
      if (this.users === 0) {
        this.opened = null;
        if (this.retired) await this.destroy();
      }
      throw error;
    }
  }

  /** Resolves when it is closed, if this was the last use. */
  async release(): Promise<void> {
    assert(this.users > 0, `${this.name} is released once for each acquire`);
    this.users -= 1;
    if (this.users > 0 || this.opened === null) return;
    this.closing = this.close(this.opened);
    this.opened = null;
    await this.closing;
    if (this.retired) await this.destroy();
  }

  async hold(): Promise<T> {
    if (this.held && this.opened !== null) return await this.opened;
    this.held = true;
    try {
      return await this.acquire();
    } catch (error) {
      this.held = false;
      throw error;
    }
  }

  async letGo(): Promise<void> {
    if (!this.held) return;
    this.held = false;
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

  /** No use may begin any more; it is destroyed after the last one. */
  async retire(): Promise<void> {
    assert(!this.retired, `${this.name} is retired once`);
    this.retired = true;
    await this.letGo();
    if (this.users === 0) await this.destroy();
  }

  private async destroy(): Promise<void> {
    if (this.destroyed) return;
    this.destroyed = true;
    await this.closing;
    await this.owner.destroy(this.name);
  }

  private async open(): Promise<T> {
    await this.closing;
    return await this.owner.open(this.name);
  }

  private async close(opened: Promise<T>): Promise<void> {
    await (await opened).close();
  }
}
