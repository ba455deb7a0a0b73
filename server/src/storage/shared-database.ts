/**
 * A database that is open while somebody uses it: closed after the last use, reopened by the next.
 *
 * Closed log segments cost no memory this way, and one that is retired is destroyed only when its
 * last reader is gone. Uses are counted by `acquire` and `release`; `hold` is one use by the owner.
 */
import { assert } from '@rookery/protocol';
import type { KeyValueDatabase, KeyValueStore } from './key-value.js';

export class SharedDatabase {
  readonly name: string;
  private readonly store: KeyValueStore;
  private users = 0;
  private held = false;
  private retired = false;
  private destroyed = false;
  private database: Promise<KeyValueDatabase> | null = null;
  private closing: Promise<void> = Promise.resolve();

  constructor(store: KeyValueStore, name: string) {
    this.store = store;
    this.name = name;
  }

  /** What fails to open is as if it had not been asked for. */
  async acquire(): Promise<KeyValueDatabase> {
    assert(!this.retired, `${this.name} is not used after it was retired`);
    this.users += 1;
    this.database ??= this.open();
    try {
      return await this.database;
    } catch (error) {
      this.users -= 1;
      if (this.users === 0) {
        this.database = null;
        if (this.retired) await this.destroy();
      }
      throw error;
    }
  }

  /** Resolves when it is closed, if this was the last use. */
  async release(): Promise<void> {
    assert(this.users > 0, `${this.name} is released once for each acquire`);
    this.users -= 1;
    if (this.users > 0 || this.database === null) return;
    this.closing = this.close(this.database);
    this.database = null;
    await this.closing;
    if (this.retired) await this.destroy();
  }

  async hold(): Promise<KeyValueDatabase> {
    if (this.held && this.database !== null) return await this.database;
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

  /** Runs `action` with the database open. */
  async use<T>(action: (database: KeyValueDatabase) => Promise<T>): Promise<T> {
    const database = await this.acquire();
    try {
      return await action(database);
    } finally {
      await this.release();
    }
  }

  /** No use may begin any more; the database is destroyed after the last one. */
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
    await this.store.destroy(this.name);
  }

  private async open(): Promise<KeyValueDatabase> {
    await this.closing;
    return await this.store.open(this.name);
  }

  private async close(database: Promise<KeyValueDatabase>): Promise<void> {
    const open = await database;
    await open.close();
  }
}
