/**
 * What the port between members is made of: who the members are, the bounds of their links, and the
 * handler of what comes.
 *
 * Owns the bounds that no setting changes. Called by whoever opens the port.
 */
import type { Hello, PeerId, PeerMessage } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ListenAddress } from '../config/addresses.js';
import type { PeerSecurity } from './peer-admission.js';
import type { EnsembleIdentity, OwnVersions, SharedSettings, StartsView } from './peer-hello.js';
import type { Timers } from './timers.js';
import type { Address, Transport } from './transport.js';

export interface PeerLimits {
  readonly frameBytesMax: number;
  /** Bytes that may be queued on a link before it is dropped. */
  readonly queueBytesMax: number;
  /** The time limit for a hello, in ms. */
  readonly helloTimeoutMs: number;
  readonly dialTimeoutMs: number;
  /** Accepted connections that are not admitted yet. The oldest makes room for the newest. */
  readonly unprovenMax: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
}

export const PEER_PORT_DEFAULTS: PeerLimits = {
  frameBytesMax: 32 << 20,
  queueBytesMax: 64 << 20,
  helloTimeoutMs: 2_000,
  dialTimeoutMs: 1_000,
  unprovenMax: 128,
  backoffMinMs: 50,
  backoffMaxMs: 1_000,
};

export interface PeerPortOptions extends PeerLimits {
  readonly id: PeerId;
  /** Random for each start of the process. */
  readonly instance: string;
  readonly address: ListenAddress;
  /** The other members. */
  readonly peers: ReadonlyMap<PeerId, Address>;
  /** A link heard from within this time wins against another process with the same id. */
  readonly peerTimeoutMs: number;
  readonly versions: OwnVersions;
  /** The settings that all members must share. */
  readonly shared: SharedSettings;
}

/**
 * What the peer port tells the driver.
 *
 * For each link: `onConnected`, any number of `onMessage`, `onDisconnected` exactly once, in this
 * order; the calls of two links of one peer never interleave. Link numbers only grow. No call is
 * made from within a call to the port, `disconnect` and `send` included.
 */
export interface PeerHandler {
  /** The hello went both ways and both accepted it; `version` is the wire version of the link. */
  onConnected(peer: PeerId, link: number, hello: Hello, version: number): void;
  /** The message owns its bytes: it may be kept. */
  onMessage(peer: PeerId, link: number, message: PeerMessage): void;
  onDisconnected(peer: PeerId, link: number, reason: string): void;
}

export interface PeerPortParts {
  readonly options: PeerPortOptions;
  readonly transport: Transport;
  readonly timers: Timers;
  /** Returns a random number in [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly identity: () => EnsembleIdentity;
  readonly starts: StartsView;
  readonly security: PeerSecurity;
  readonly handler: PeerHandler;
}
