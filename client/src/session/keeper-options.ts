/**
 * What a session keeper is made of and asked for. Types only.
 */
import type { CheckedOptions } from '../options-check.js';
import type { WatchRegistry } from '../watches/watch-registry.js';
import type { HostList } from '../wire/host-list.js';
import type { Dial } from '../wire/link.js';

/** Of the options of connect(), those that are not used up in making the sockets. */
type SessionOptions = Omit<
  CheckedOptions,
  'connectDeadlineMs' | 'keepAlive' | 'shuffle' | 'tls' | 'worker'
>;

export interface KeeperOptions extends SessionOptions {
  readonly hosts: HostList;
  readonly dial: Dial;
  readonly registry: WatchRegistry;
  /** Heartbeats are sent by another thread: lag of this one does no harm. */
  readonly isLagProof: boolean;
  /** The client is closed and nothing of it is left: what serves it may end. */
  onClosed(): void;
}
