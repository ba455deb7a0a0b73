/**
 * The replicated sessions: id, timeout, password. Who is alive is decided elsewhere (leases).
 *
 * A session never changes between its creation and its end, so what changed since the last
 * checkpoint is a map of ids to the session or null. Changed by ReplicatedState only.
 */
import { assert } from '@rookery/protocol';
import { DamagedCheckpointError } from './damage.js';
import type { Digest } from './digest.js';
import { PASSWORD_BYTES, type Session } from './session.js';
import type { SessionId } from './txn.js';

export type { Session } from './session.js';

export type SessionChanges = ReadonlyMap<SessionId, Session | null>;

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
  /** In ascending order of id. */
  sorted(): readonly (readonly [SessionId, Session])[] {
    return [...this.#sessions].sort(([a], [b]) => a - b);
  }

  /** For ReplicatedState. Keeps a copy of the password. */
  open(id: SessionId, session: Session): void {
    assert(!this.#sessions.has(id), 'a session id is new');
    assert(session.password.length === PASSWORD_BYTES, 'a password has 16 bytes');
    assert(session.timeoutMs > 0, 'a session timeout is positive');
    const own = { timeoutMs: session.timeoutMs, password: Uint8Array.from(session.password) };
    this.#sessions.set(id, own);
    this.#digest.countSession(id, own, 1);
    this.#changes.set(id, own);
  }

  /** For ReplicatedState. */
  close(id: SessionId): void {
    const session = this.#sessions.get(id);
    assert(session !== undefined, 'a closed session was open');
    this.#digest.countSession(id, session, -1);
    this.#sessions.delete(id);
    this.#changes.set(id, null);
  }

  /** For ReplicatedState, at recovery. */
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
  /** What changed since the last call. */
  takeChanges(): SessionChanges {
    const changes = this.#changes;
    this.#changes = new Map();
    return changes;
  }
}
