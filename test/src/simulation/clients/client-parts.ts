/** The parts of a simulated client, and where members listen. */
import type { Timers, Transport } from '../../simulated.js';
import type { Recorder } from '../run/recorder.js';
import type { ClientOptions } from './options.js';

/** A client of the load that receives no connect response in this time tries another member. */
export const HANDSHAKE_TIMEOUT_MS = 1_500;

export interface Seat {
  readonly id: number;
  readonly host: string;
  readonly port: number;
}

export interface ClientParts {
  readonly timers: Timers;
  readonly transport: Transport;
  readonly members: readonly Seat[];
  readonly recorder: Recorder;
  readonly options: ClientOptions;
  /** How long it waits for its session before it tries another member. */
  readonly handshakeTimeoutMs: number;
  /** Returns a number that no connection of the run has had. */
  nextConnection(): number;
}
