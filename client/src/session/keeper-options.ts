/**
 * What a session keeper is made of and asked for. Types only.
 */
import type { Surroundings } from '../api/surroundings.js';
import type { WatchRegistry } from '../watches/watch-registry.js';
import type { HostList } from '../wire/host-list.js';
import type { Dial } from '../wire/link.js';
import type { Credential } from './credentials.js';

export interface KeeperOptions {
  readonly surroundings: Surroundings;
  readonly hosts: HostList;
  readonly dial: Dial;
  readonly registry: WatchRegistry;
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly operationTimeoutMs: number;
  readonly reconnectDelayBaseMs: number;
  readonly reconnectDelayMaxMs: number;
  readonly readOnly: boolean;
  readonly auth: readonly Credential[];
  readonly resume: { readonly sessionId: bigint; readonly password: Uint8Array } | null;
  readonly renewSession: boolean;
  readonly frameBytesMax: number;
  readonly requestBytesMax: number;
  readonly outstandingMax: number;
  /** Heartbeats are sent by another thread: lag of this one does no harm. */
  readonly isLagProof: boolean;
  /** The client is closed and nothing of it is left: what serves it may end. */
  onClosed(): void;
}
