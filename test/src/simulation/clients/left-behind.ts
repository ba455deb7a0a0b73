/**
 * A connection that its client has left for another member, and goes on asking on.
 *
 * A client that is two by mistake, or one that a proxy has doubled: its session is served
 * elsewhere, so the member that had it must end this connection. Asks pings and reads until that
 * happens, and tells the recorder of everything that comes. Never writes, never ends the
 * connection by itself. Made by SimulatedClient when it moves.
 */
import type { Timer, Timers } from '../../simulated.js';
import type { Operation } from '../contract/history.js';
import type { Random } from '../random.js';
import type { Recorder } from '../run/recorder.js';
import type { WireConnection } from './wire-connection.js';

export interface LeftBehindSetup {
  readonly timers: Timers;
  readonly random: Random;
  readonly recorder: Recorder;
  /** Already left: what it owed has been told. */
  readonly wire: WireConnection;
  readonly client: number;
  readonly session: number;
  readonly connection: number;
  /** That it reads. */
  readonly path: string;
}

const ASK_MIN_MS = 5;
const ASK_MAX_MS = 150;
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
    const { timers, random, wire, path } = this.#setup;
    const inMs = Math.floor(random.between(ASK_MIN_MS, ASK_MAX_MS));
    this.#next = timers.after(inMs, () => {
      if (!this.#isOpen) return;
      wire.askOn(random.chance(0.5) ? PING : { kind: 'get', path, watch: false });
      this.#askLater();
    });
  }

  #end(): void {
    this.#isOpen = false;
    this.#next?.cancel();
    this.#setup.wire.destroy();
  }
}
