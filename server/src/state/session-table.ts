/**
 * Holds the replicated sessions: id, timeout and password. The leases decide which are alive.
 *
 * A session changes at most once, when its end in parts is decided; what changed since the last
 * checkpoint is therefore a map from ids to the session or null. Changed by ReplicatedState only.
 */
import { assert, PASSWORD_BYTES } from '@rookery/protocol';
import { DamagedCheckpointError } from './damage.js';
import type { Digest } from './digest.js';
import type { OpenedSession, Session } from './session-record.js';
import type { SessionId } from './txn.js';

export type { Session } from './session-record.js';

type SessionChanges = ReadonlyMap<SessionId, Session | null>;

export class SessionTable {
  readonly #sessions = new Map<SessionId, Session>();
  readonly #digest: Digest;
  #changes = new Map<SessionId, Session | null>();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  get count(): number {
    return this.#sessions.size;
  }
  has(session: SessionId): boolean {
    return this.#sessions.has(session);
  }
  get(session: SessionId): Session | undefined {
    return this.#sessions.get(session);
  }
  /** In the order in which they were opened. Lazy: it may continue after later changes. */
  all(): IterableIterator<readonly [SessionId, Session]> {
    return this.#sessions.entries();
  }
  /** Whether the session exists and its end is not decided. */
  isOpen(session: SessionId): boolean {
    return this.#sessions.get(session)?.isClosing === false;
  }
  /** In ascending order of id. */
  sorted(): readonly (readonly [SessionId, Session])[] {
    return [...this.#sessions].sort(([a], [b]) => a - b);
  }

  /** For ReplicatedState only. Keeps a copy of the password. */
  open(id: SessionId, session: OpenedSession): void {
    assert(!this.#sessions.has(id), 'a session id is new');
    assert(session.password.length === PASSWORD_BYTES, 'a password has 16 bytes');
    assert(session.timeoutMs > 0, 'a session timeout is positive');
    const { timeoutMs, password } = session;
    this.#set(id, { timeoutMs, password: Uint8Array.from(password), isClosing: false });
  }

  /** For ReplicatedState only. */
  beginClose(id: SessionId): void {
    const session = this.#sessions.get(id);
    assert(session?.isClosing === false, 'a session that begins to close was open');
    this.#digest.countSession(id, session, -1);
    this.#set(id, { ...session, isClosing: true });
  }

  /** For ReplicatedState only. */
  close(id: SessionId): void {
    const session = this.#sessions.get(id);
    assert(session !== undefined, 'a closed session was open');
    this.#digest.countSession(id, session, -1);
    this.#sessions.delete(id);
    this.#changes.set(id, null);
  }

  /** For ReplicatedState only, during recovery. */
  load(id: SessionId, session: Session): void {
    if (this.#sessions.has(id)) {
      throw new DamagedCheckpointError(`two records for session ${id}`);
    }
    this.#sessions.set(id, session);
    this.#digest.countSession(id, session, 1);
  }

  get changeCount(): number {
    return this.#changes.size;
  }
  /** Returns what changed since the last call. */
  takeChanges(): SessionChanges {
    const changes = this.#changes;
    this.#changes = new Map();
    return changes;
  }

  #set(id: SessionId, session: Session): void {
    this.#sessions.set(id, session);
    this.#digest.countSession(id, session, 1);
    this.#changes.set(id, session);
  }
}
