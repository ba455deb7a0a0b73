/**
 * The port that members talk to each other through: exactly one link per pair.
 *
 * Skeleton of the public interface; see PeerHandler for the order of events.
 */
import type { PeerId, PeerMessage } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { PeerHandler } from './peer-handler.js';
import type { Timers } from './timers.js';
import type { Address, Transport } from './transport.js';

export interface PeerLimits {
  readonly frameBytesMax: number;
  /** Bytes that may wait on one link before it is dropped. */
  readonly queueBytesMax: number;
  /** A hello must be through by then. */
  readonly helloTimeoutMs: number;
  readonly dialTimeoutMs: number;
  /** Accepted connections that have not said a valid hello yet. */
  readonly unprovenMax: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
}

export const PEER_PORT_DEFAULTS: PeerLimits = {
  frameBytesMax: 64 << 20,
  queueBytesMax: 64 << 20,
  helloTimeoutMs: 2_000,
  dialTimeoutMs: 1_000,
  unprovenMax: 32,
  backoffMinMs: 50,
  backoffMaxMs: 1_000,
};

export interface PeerPortOptions extends PeerLimits {
  readonly id: PeerId;
  /** Random per process start. */
  readonly instance: string;
  readonly address: Address;
  /** The other members. */
  readonly peers: ReadonlyMap<PeerId, Address>;
  /** A link heard from within this time keeps its place against another process with its id. */
  readonly peerTimeoutMs: number;
}

/** Read at each hello: it changes when the member joins or founds an ensemble. */
export interface EnsembleIdentity {
  readonly ensembleId: string;
  readonly founded: boolean;
}

export interface PeerPortParts {
  readonly options: PeerPortOptions;
  readonly transport: Transport;
  readonly timers: Timers;
  /** In [0, 1): the jitter of the back-off. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly identity: () => EnsembleIdentity;
  readonly handler: PeerHandler;
}

export declare class PeerPort {
  constructor(parts: PeerPortParts);
  readonly port: number;
  /** Opens the port, then dials every member with a lower id; throws ListenError. */
  listen(): Promise<void>;
  /** Queues for the next flush. A link that is gone takes nothing; its end is reported anyway. */
  send(peer: PeerId, link: number, message: PeerMessage): void;
  /** Writes what every link has, one write each; call it at the end of each turn. */
  flush(): void;
  /** Bytes that wait on this link, 0 when it is gone; paces snapshots. */
  queuedBytes(peer: PeerId, link: number): number;
  /** Drops a link; nothing of it is delivered any more, `onDisconnected` follows. */
  disconnect(peer: PeerId, link: number, reason: string): void;
  close(): Promise<void>;
}
