/**
 * The client connections of a member, each with the queue that keeps the order of its session.
 *
 * A connection owns its channel and its queue. It is `open` until its ConnectRequest, `joining`
 * until that is answered, then `live`. One that is `leaving` has its last request in the queue, and
 * nothing more is read from it. One that has ended is `gone`. Plain data; Pipeline changes it.
 */

import { assert, Fifo, type ForwardedRequest, type Zxid } from '@rookery/protocol';
import { addressGroup } from '../security/address-group.js';
import type { SaslExchange } from '../security/sasl.js';
import type { SessionId } from '../state/txn.js';
import type { Identities, Requester } from './access.js';
import type { ClientChannel, ConnectionId } from './client-channel.js';
import { identitiesOf, identityBytesOf } from './identities.js';

const NO_SCHEMES: ReadonlySet<string> = new Set();

type Phase = 'open' | 'joining' | 'live' | 'leaving' | 'gone';

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
  /** Whether it is not read from because of an attempt to log in that waits. */
  isLoginWaiting = false;
  /** Whether the client was heard from since the last report of touches. */
  touched = false;

  /** The client must authenticate by one of the schemes in `admission`, unless there are none. */
  constructor(
    id: ConnectionId,
    channel: ClientChannel,
    skipAcl: boolean,
    admission: ReadonlySet<string> = NO_SCHEMES,
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

  /** Whether its session is a local one, which only this member knows: see LocalSessions. */
  get hasLocalSession(): boolean {
    return this.session < 0;
  }

  /** What it has authenticated as holds for everything that comes from now on. */
  becomes(identities: Identities): void {
    this.requester = { ...this.requester, identities };
    this.isAdmitted ||= identities.some(({ scheme }) => this.#admission.has(scheme));
    this.identityBytes = identityBytesOf(identities);
  }
}

/** It includes what is sent to the leader. */
export interface QueueEntry extends ForwardedRequest {
  readonly connection: ConnectionId;
  /** The connection's session. `session` is what the leader gets: LOCAL_SESSION for local ones. */
  readonly ownSession: SessionId;
  /** `close` is the write that ends the session. */
  readonly kind: 'read' | 'write' | 'close' | 'sync';
  readonly xid: number;
  /**
   * The jute record after the header, for an auth its outcome instead (see Requests): lent while
   * the request comes in, and then a copy. Empty once the message to the leader has it.
   */
  body: Uint8Array;
  /** The parts of a divided setWatches that come before `body` and have not run: `partsOf`. */
  readonly partsBefore: Uint8Array[];
  /** The size of the body and the identities. */
  readonly bytes: number;
  /** It runs in parts and has reached the head of the queue. */
  hasBegun: boolean;
  /** The znode that a write names, for the audit; null where nothing is audited. */
  readonly znode: string | null;
  /** What the connection was known to be when the request came. */
  readonly requester: Requester;
  /** The member's number of a write or sync, 0 for a read. */
  readonly request: number;
  readonly sinceMs: number;
  /** For a waiting read the estimate of `answerBytesOf`; 0 for anything else. */
  readonly answerBytes: number;
  /** The work of the write, as the outbox counts it; 0 until the outbox has it. */
  changes: number;
  /** The outbox has written it into a message: the leader has it or will have it. */
  isForwarded: boolean;
  /** For a sync that was confirmed: it is answered once this zxid is applied. */
  syncedAt: Zxid | null;
}

/**
 * `pass`: it is for the outbox, which decides when to forward it. The queue keeps it either way.
 */
type Passage = 'pass' | 'wait';

/**
 * A write passes only while the reads that wait before it are estimated at no more than this. They
 * run before it is applied, even if the client does not take its answers and the turn has no time
 * for them, and one turn may apply the writes of a thousand sessions. A larger read delays only
 * the writes of its own session.
 */
const AHEAD_BYTES_MAX = 64 << 10;

/**
 * One session's requests that cannot be answered yet, in the order in which they came.
 *
 * The rules: a read runs at once if nothing is pending before it, otherwise in its order. A write
 * may be forwarded at once, unless a sync is pending before it. A sync is a barrier: everything
 * after it waits. A write also waits for earlier reads that take long or have large answers: see
 * AHEAD_BYTES_MAX. Right before a write is applied, the reads that still wait in front of it run,
 * or its connection is closed (`Requests.onApplying`). An applied write is therefore always at the
 * head, and later reads have not run. This class only orders; it owns its entries.
 */
export class CommitQueue {
  readonly #entries = new Fifo<QueueEntry>();
  /**
   * The number of entries before the first pending sync, or the first write that waits for
   * reads, or the end. Writes before it have passed to the outbox, those after it have not.
   */
  #barrier = 0;
  /** The sum of `answerBytes` of the reads before the barrier. */
  #answersAheadBytes = 0;
  /** The largest body of a write or sync since the queue was last empty. */
  #largestWriteBytes = 0;

  get length(): number {
    return this.#entries.length;
  }

  get head(): QueueEntry | undefined {
    return this.#entries.first;
  }

  /** The write or sync of this number, mostly the first entry. The numbers of a queue only grow. */
  find(request: number): QueueEntry | undefined {
    for (let index = 0; index < this.#entries.length; index++) {
      const entry = this.#entries.at(index);
      if (entry?.request === request) return entry;
      if (entry !== undefined && entry.request > request) break;
    }
    return undefined;
  }

  /** `#largestWriteBytes`, by which the answers to later reads are estimated. */
  get largestWriteBytes(): number {
    return this.#largestWriteBytes;
  }

  accept(entry: QueueEntry): Passage {
    const open = this.#barrier === this.#entries.length;
    this.#entries.push(entry);
    if (entry.kind !== 'read') {
      this.#largestWriteBytes = Math.max(this.#largestWriteBytes, entry.body.length);
    }
    if (!open || !this.#mayMoveBarrierBehind(entry)) return 'wait';
    this.#moveBarrierBehind(entry);
    return entry.kind === 'read' ? 'wait' : 'pass';
  }

  /** The head was answered. */
  shift(): void {
    const head = this.#entries.shift();
    assert(head !== undefined, 'the head of a queue was answered');
    if (this.#barrier > 0) {
      this.#barrier -= 1;
      this.#answersAheadBytes -= head.answerBytes;
    }
    if (this.#entries.length > 0) return;
    this.#largestWriteBytes = 0;
    const bytes = this.#answersAheadBytes;
    assert(bytes === 0, () => `${bytes} bytes of answers are ahead in an empty queue`);
  }

  /**
   * Returns what can proceed now, one entry at a time until undefined: a read to run or a sync to
   * answer, both of which are removed from the queue, or a write for the outbox, which stays.
   */
  next(applied: Zxid): QueueEntry | undefined {
    const head = this.head;
    if (head === undefined) return undefined;
    if (head.kind === 'read' || (head.kind === 'sync' && isDue(head, applied))) {
      this.shift();
      return head;
    }
    return this.#nextPassingWrite();
  }

  /** Empties the queue of a connection that is gone. */
  takeAll(): readonly QueueEntry[] {
    const pending = this.#entries.takeAll();
    this.#barrier = 0;
    this.#answersAheadBytes = 0;
    this.#largestWriteBytes = 0;
    return pending;
  }

  #nextPassingWrite(): QueueEntry | undefined {
    for (;;) {
      const entry = this.#entries.at(this.#barrier);
      if (entry === undefined || !this.#mayMoveBarrierBehind(entry)) return undefined;
      this.#moveBarrierBehind(entry);
      if (entry.kind !== 'read') return entry;
    }
  }

  #mayMoveBarrierBehind({ kind }: QueueEntry): boolean {
    if (kind === 'sync') return false;
    return kind === 'read' || this.#answersAheadBytes <= AHEAD_BYTES_MAX;
  }

  /** Moves the barrier behind the entry. */
  #moveBarrierBehind(entry: QueueEntry): void {
    this.#barrier += 1;
    this.#answersAheadBytes += entry.answerBytes;
  }
}

function isDue(sync: QueueEntry, applied: Zxid): boolean {
  return sync.syncedAt !== null && sync.syncedAt <= applied;
}

/**
 * The connections of one member by their numbers, and the live ones by their sessions.
 *
 * It is a map that caches the most recent result: frames come in chunks, so the next one is mostly
 * of the same connection. Owned by Pipeline, read by its parts.
 */
export class Connections {
  readonly #byId = new Map<ConnectionId, Connection>();
  readonly #bySession = new Map<SessionId, Connection>();
  #last: Connection | undefined;

  get(id: ConnectionId): Connection | undefined {
    if (this.#last?.id !== id) this.#last = this.#byId.get(id);
    return this.#last;
  }

  has(id: ConnectionId): boolean {
    return this.#byId.has(id);
  }

  /** `Connection.group`, and the users that it has proved to be. */
  groupsOf(id: ConnectionId): readonly string[] {
    const connection = this.#byId.get(id);
    if (connection === undefined) return [`connection ${id}`];
    const groups = [connection.group];
    for (const { scheme, id: user } of connection.requester.identities) {
      if (scheme !== 'ip') groups.push(`${scheme}:${user}`);
    }
    return groups;
  }

  /** The connection by which the session is served here. */
  of(session: SessionId): Connection | undefined {
    return this.#bySession.get(session);
  }

  /** From now on its session is served by this connection. */
  bind(connection: Connection): void {
    this.#bySession.set(connection.session, connection);
  }

  /** In the order in which they came. */
  values(): IterableIterator<Connection> {
    return this.#byId.values();
  }

  add(connection: Connection): void {
    this.#byId.set(connection.id, connection);
  }

  delete(connection: Connection): void {
    const { id, session } = connection;
    this.#byId.delete(id);
    this.#last = undefined;
    if (this.#bySession.get(session) === connection) this.#bySession.delete(session);
  }
}
