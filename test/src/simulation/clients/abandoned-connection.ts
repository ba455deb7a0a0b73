/**
 * A connection that its client has left for another member, and continues to use.
 *
 * It stands for a client that exists twice by mistake, or one that a proxy has duplicated: its
 * session is served elsewhere, so the member that had it must close this connection. It sends
 * pings, reads and, unless the client is a reader, writes until that happens, and reports
 * everything that arrives to the recorder. Nobody learns the outcome of its writes. It never closes
 * the connection by itself. SimulatedClient makes it when it moves.
 */
import type { Timer, Timers } from '../../simulated.js';
import type { Operation } from '../contract/history.js';
import type { Random } from '../random.js';
import type { Recorder } from '../run/recorder.js';
import type { WireConnection } from './wire-connection.js';
import type { Workload } from './workload.js';

export interface AbandonedSetup {
  readonly timers: Timers;
  readonly random: Random;
  readonly recorder: Recorder;
  /** Already left: its open requests have been reported. */
  readonly wire: WireConnection;
  readonly client: number;
  readonly session: number;
  readonly connection: number;
  /** The client whose texts and paths it writes. */
  readonly work: Pick<Workload, 'registers' | 'isReader' | 'text'>;
}

const ASK_MIN_MS = 5;
const ASK_MAX_MS = 60;
const PING: Operation = { kind: 'ping' };

export class AbandonedConnection {
  readonly #setup: AbandonedSetup;
  #isOpen = true;
  #next: Timer | null = null;

  constructor(setup: AbandonedSetup) {
    this.#setup = setup;
    const { wire, recorder, client, session, connection } = setup;
    wire.overhear({
      onHeader: (zxid) => recorder.overheard({ client, session, connection, zxid }),
      onLost: () => this.#end(),
    });
    this.#askLater();
  }

  /** Until the member has closed it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  #askLater(): void {
    const { timers, random, wire } = this.#setup;
    const inMs = Math.floor(random.between(ASK_MIN_MS, ASK_MAX_MS));
    this.#next = timers.after(inMs, () => {
      if (!this.#isOpen) return;
      for (const operation of this.#operations()) wire.askOn(operation);
      this.#askLater();
    });
  }

  /** Writes come several at once, so that the member may be stopped between two of them. */
  #operations(): readonly Operation[] {
    const { random, work, recorder, client, session, connection } = this.#setup;
    const path = work.registers[0] ?? '/r';
    if (random.chance(0.3)) return [PING];
    if (work.isReader || random.chance(0.3)) return [{ kind: 'get', path, watch: false }];
    return Array.from({ length: 1 + random.below(4) }, () => {
      const operation: Operation = { kind: 'set', path, data: work.text(), version: -1 };
      const asked = recorder.invocation({ client, session, connection, operation });
      recorder.unanswered(asked);
      return operation;
    });
  }

  #end(): void {
    this.#isOpen = false;
    this.#next?.cancel();
    this.#setup.wire.destroy();
  }
}
