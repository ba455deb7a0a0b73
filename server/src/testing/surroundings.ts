/**
 * What one run of a member lives in: real sockets, LevelDB, the system's clocks and randomness,
 * all of which can end at once, as those of a process that is killed.
 *
 * A member in this process cannot be killed, but it can be left without a world: nothing reaches it
 * any more, and nothing that it does reaches anything. Made anew for each run by `seat.ts`.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { directoryBytes } from '../member/disk-measures.js';
import { keepAside } from '../member/keep-aside.js';
import type { Surroundings } from '../member/surroundings.js';
import { openStores, type Stores } from '../storage/index.js';
import { EndingLife } from './ending-life.js';
import { EndingLog } from './ending-log.js';
import { EndingStore } from './ending-store.js';
import { EndingTimers, type SharedClock } from './ending-timers.js';
import { EndingTransport, type EndingTransportParts } from './ending-transport.js';

export interface SurroundingsParts extends Omit<EndingTransportParts, 'timers'> {
  readonly clock: SharedClock;
  readonly stores: Parameters<typeof openStores>[0];
  /** Something may have changed in the member. */
  onTurn(): void;
}

export class EndingSurroundings implements Surroundings {
  readonly directoryBytes = directoryBytes;
  readonly keepAside = keepAside;
  readonly transport: EndingTransport;
  readonly timers: EndingTimers;
  readonly treeStore: EndingStore;
  readonly logFiles: EndingLog;
  #end: Promise<void> | null = null;

  static async open(parts: SurroundingsParts): Promise<EndingSurroundings> {
    return new EndingSurroundings(parts, await openStores(parts.stores));
  }

  private constructor(parts: SurroundingsParts, stores: Stores) {
    this.timers = new EndingTimers(parts.clock, () => parts.onTurn());
    this.transport = new EndingTransport({ ...parts, timers: this.timers });
    this.treeStore = new EndingStore(stores.treeStore);
    const life = new EndingLife();
    this.logFiles = new EndingLog(stores.logFiles, life);
  }

  random(): number {
    return Math.random();
  }

  randomBytes(count: number): Uint8Array {
    return randomBytes(count);
  }

  uuid(): string {
    return randomUUID();
  }

  /** All is over when it returns; resolves when ports and directories are free. */
  end(): Promise<void> {
    this.#end ??= this.#endAll();
    return this.#end;
  }

  async #endAll(): Promise<void> {
    this.timers.end();
    // The former log is closed with the files.
    await Promise.all([this.transport.end(), this.treeStore.end(), this.logFiles.end()]);
  }
}
