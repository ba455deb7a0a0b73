/**
 * A connection that its client has left for another member, and goes on asking on.
 *
 * A client that is two by mistake, or one that a proxy has doubled: its session is served
 * elsewhere, so the member that had it must end this connection. Asks pings, reads and, unless the
 * client is a reader, writes until that happens, and tells the recorder of everything that comes.
 * Of its writes nobody learns what came of them. Never ends the connection by itself. Made by
 * SimulatedClient when it moves.
 */
import type { Timer, Timers } from '../../simulated.js';
import type { Operation } from '../contract/history.js';
import type { Random } from '../random.js';
import type { Recorder } from '../run/recorder.js';
import type { WireConnection } from './wire-connection.js';
import type { Workload } from './workload.js';

export interface LeftBehindSetup {
  readonly timers: Timers;
  readonly random: Random;
  readonly recorder: Recorder;
  /** Already left: what it owed has been told. */
  readonly wire: WireConnection;
  readonly client: number;
  readonly session: number;
  readonly connection: number;
  /** Whose texts it writes, and which paths. */
  readonly work: Pick<Workload, 'registers' | 'isReader' | 'text'>;
}

const ASK_MIN_MS = 5;
const ASK_MAX_MS = 60;
const PING: Operation = { kind: 'ping' };

export class LeftBehind {
  readonly #setup: LeftBehindSetup;
  #isOpen = true;
  #next: Timer | null = null;

  constructor(setup: LeftBehindSetup) {
    this.#setup = setup;
    const { wire, recorder, client, session, connection } = setup;
    wire.overhear({
      onHeader: (zxid) => recorder.overheard({ client, session, connection, zxid }),
      onLost: () => this.#end(),
    });
    this.#askLater();
  }

  /** Until the member has ended it. */
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
