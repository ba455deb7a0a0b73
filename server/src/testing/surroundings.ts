/**
 * The surroundings of one run of a member: real sockets, LevelDB, the system's clocks and
 * randomness, all of which can end at once, as if the process were killed.
 *
 * A member in this process cannot be killed, but it can be isolated: nothing reaches it any more,
 * and nothing that it does has an effect. `seat.ts` makes one for each run.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { directoryBytes } from '../member/disk-measures.js';
import { keepAside } from '../member/keep-aside.js';
import type { Surroundings } from '../member/surroundings.js';
import type { Stores } from '../storage/index.js';
import { EndingLog } from './ending-log.js';
import { EndingStore } from './ending-store.js';
import type { EndingTimers } from './ending-timers.js';
import type { EndingTransport } from './ending-transport.js';

export class EndingSurroundings implements Surroundings {
  readonly directoryBytes = directoryBytes;
  readonly keepAside = keepAside;
  readonly transport: EndingTransport;
  readonly timers: EndingTimers;
  readonly treeStore: EndingStore;
  readonly logFiles: EndingLog;
  #end: Promise<void> | null = null;

  constructor(timers: EndingTimers, transport: EndingTransport, stores: Stores) {
    this.timers = timers;
    this.transport = transport;
    this.treeStore = new EndingStore(stores.treeStore);
    this.logFiles = new EndingLog(stores.logFiles);
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

  /** Everything has ended when it returns. Resolves when ports and directories are free. */
  end(): Promise<void> {
    this.#end ??= this.#endAll();
    return this.#end;
  }

  async #endAll(): Promise<void> {
    this.timers.end();
    await Promise.all([this.transport.end(), this.treeStore.end(), this.logFiles.end()]);
  }
}
