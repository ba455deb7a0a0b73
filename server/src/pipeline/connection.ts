/**
 * What the pipeline knows of one client connection.
 *
 * It owns its channel and its queue. A connection is `open` until its ConnectRequest, `joining`
 * until that is answered, then `live`. One that is `leaving` has its last request in the queue, and
 * nothing more is read from it. One that has ended is `gone`. Plain data; Pipeline changes it.
 */

import { addressGroup } from '../security/address-group.js';
import type { SaslExchange } from '../security/sasl.js';
import type { SessionId } from '../state/txn.js';
import type { Identities, Requester } from './access.js';
import type { ClientChannel, ConnectionId } from './client-channel.js';
import { CommitQueue } from './commit-queue.js';
import { identitiesOf, identityBytesOf } from './identities.js';

const NO_SCHEMES: ReadonlySet<string> = new Set();

interface ConnectionOptions {
  readonly skipAcl: boolean;
  /** It must authenticate by one of these schemes, unless there are none. */
  readonly admission?: ReadonlySet<string>;
}

export type Phase = 'open' | 'joining' | 'live' | 'leaving' | 'gone';

export class Connection {
  readonly id: ConnectionId;
  readonly channel: ClientChannel;
  /**
   * The key by which clients are bounded: the address, or the /64 network of an IPv6 address. A
   * connection of this process counts for its operator's address, or else for itself only.
   */
  readonly group: string;
  readonly queue = new CommitQueue();
  phase: Phase = 'open';
  /** Replaced by each authentication. A request keeps the one that was valid when it came. */
  requester: Requester;
  /** Its authentication in several steps, while that is under way. */
  exchange: SaslExchange | null = null;
  /** Whether it has authenticated by a scheme that this member requires, or none is required. */
  isAdmitted: boolean;
  readonly #admission: ReadonlySet<string>;
  /** The bytes that its identities add to each of its requests. */
  identityBytes: number;
  /** The session that it wants while `joining` (0: a new one), and has while `live`. */
  session: SessionId = 0;
  /** Its number among the attachments of this member, sent with each request; 0 without one. */
  attachment = 0;
  timeoutMs = 0;
  /** It asked for a new session, not for one that exists. */
  opensSession = false;
  /** Whether its ConnectRequest had a readOnly byte, in which case the response has one. */
  hasReadOnly = false;
  /** The client asked for the end of its local session, and was answered. */
  hasClosedLocalSession = false;
  /** Why it is closed before all its answers are sent. */
  dropReason: string | null = null;
  /** Frames that came before the handshake was answered, or while a login waits. */
  early: Uint8Array[] = [];
  /** Whether the client was heard from since the last report of touches. */
  touched = false;

  constructor(
    id: ConnectionId,
    channel: ClientChannel,
    { skipAcl, admission = NO_SCHEMES }: ConnectionOptions,
  ) {
    this.id = id;
    this.channel = channel;
    const address = channel.remoteAddress || channel.operatorAddress || '';
    this.group = address === '' ? `connection ${id}` : `address ${addressGroup(address)}`;
    this.#admission = admission;
    // A connection without an address comes from this process, which checks passwords by itself.
    this.isAdmitted = admission.size === 0 || channel.remoteAddress === '';
    const identities = identitiesOf(channel.remoteAddress);
    this.requester = { identities, skipAcl, operatorAddress: channel.operatorAddress };
    this.identityBytes = identityBytesOf(identities);
  }

  /** What it has authenticated as holds for everything that comes from now on. */
  becomes(identities: Identities): void {
    this.requester = { ...this.requester, identities };
    this.isAdmitted ||= identities.some(({ scheme }) => this.#admission.has(scheme));
    this.identityBytes = identityBytesOf(identities);
  }
}
