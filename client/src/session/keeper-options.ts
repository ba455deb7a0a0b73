/**
 * The parts and the options of a session keeper. Types only.
 */

import type { WatchRegistry } from '../watches/watch-registry.js';
import type { HostList } from '../wire/host-list.js';
import type { Dial } from '../wire/link.js';
import type { CheckedOptions } from './options-check.js';

/** The options of connect(), without those that only concern sockets. */
type SessionOptions = Omit<
  CheckedOptions,
  'connectDeadlineMs' | 'keepAlive' | 'shuffle' | 'tls' | 'worker'
>;

export interface KeeperOptions extends SessionOptions {
  readonly hosts: HostList;
  readonly dial: Dial;
  readonly registry: WatchRegistry;
  /** Whether another thread sends the heartbeats, so that lag of this thread does no harm. */
  readonly isLagProof: boolean;
  /** Called when the client is closed, so that what it uses may be ended. */
  onClosed(): void;
}
