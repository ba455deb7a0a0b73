/**
 * The number of leases of a semaphore: a constant, or the content of a znode, which may change
 * while somebody waits. The znode is Curator's SharedCount: 4 bytes, big-endian. It is read and
 * watched, and written only to create it with the seed.
 */
import { NodeExistsError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { OptionError } from '../../api/errors.js';
import type { Watcher } from '../../api/values.js';
import { inContainer } from './container-parent.js';
import { decodeInt32, encodeInt32 } from './curator.js';
import { bounds, type Within } from './persist.js';

/** A maximum that several processes share and may change together. */
export interface SharedMaximum {
  /** The path of the znode that contains it, a SharedCount. */
  readonly countPath: string;
  /** The initial value if the znode is missing. */
  readonly seed: number;
}

const MAX = 2 ** 31 - 1;

export class LeaseCount {
  readonly #client: Client;
  readonly #source: number | SharedMaximum;

  constructor(client: Client, source: number | SharedMaximum) {
    const start = typeof source === 'number' ? source : source.seed;
    const least = typeof source === 'number' ? 1 : 0;
    if (!Number.isInteger(start) || start < least || start > MAX) {
      throw new OptionError('maxLeases', `must be an integer from ${least} to ${MAX}`);
    }
    this.#client = client;
    this.#source = source;
  }

  /** Refuses a count that can never be granted. */
  check(count: number): void {
    const most = typeof this.#source === 'number' ? this.#source : MAX;
    if (!Number.isInteger(count) || count < 1 || count > most) {
      throw new OptionError('count', `must be an integer from 1 to ${most}`);
    }
  }

  /**
   * The current maximum. The watcher is called when it may have changed. Invalid data counts as 0,
   * and is logged.
   */
  async read(within: Within, watcher: Watcher): Promise<number> {
    if (typeof this.#source === 'number') return this.#source;
    const { countPath } = this.#source;
    for (;;) {
      try {
        const options = { ...bounds(within), watcher };
        const count = decodeInt32((await this.#client.getData(countPath, options)).data);
        if (count === null) this.#warn(countPath);
        return count ?? 0;
      } catch (error) {
        if (!(error instanceof NoNodeError)) throw error;
      }
      await this.#plant(this.#source, within);
    }
  }

  #warn(path: string): void {
    const message = `no lease is granted until ${path} has 4 bytes again, as a SharedCount writes`;
    this.#client.log.warn('semaphore.invalid_count', message, { path });
  }

  unwatch(watcher: Watcher): void {
    if (typeof this.#source !== 'number') {
      this.#client.removeWatcher(this.#source.countPath, watcher);
    }
  }

  async #plant({ countPath, seed }: SharedMaximum, within: Within): Promise<void> {
    const options = bounds(within);
    try {
      await inContainer(this.#client, parentOf(countPath), options, () =>
        this.#client.create(countPath, encodeInt32(seed), options),
      );
    } catch (error) {
      if (!(error instanceof NodeExistsError)) throw error;
    }
  }
}
