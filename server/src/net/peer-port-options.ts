/**
 * What the port between members is told: who the members are, and the bounds of their links.
 *
 * Owns the bounds that no setting changes. Called by whoever opens the port.
 */
import type { PeerId } from '@rookery/protocol';
import type { ListenAddress } from '../addresses.js';
import type { OwnVersions, SharedSettings } from './peer-hello.js';
import type { Address } from './transport.js';

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
