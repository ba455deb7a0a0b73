/**
 * Knows which sessions are being opened and closed, and which ones may do nothing more.
 *
 * The end of a session whose ephemerals are many has several steps: it is decided (`beginClose`),
 * its ephemerals are deleted part by part, and the close comes last. From the decision on, the
 * session changes nothing. Opens and closes are a queue in the order of zxids. Overlay calls it,
 * and whoever asks whether a session is alive.
 */
import { assert, Fifo, type Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { OpenedSession } from '../state/session.js';
import type { SessionId } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';

/** A session is opened or closed. Its id is the zxid of the transaction that opens it. */
interface SessionChange {
  readonly zxid: Zxid;
  readonly session: SessionId;
}

export class SessionsInFlight {
  readonly #state: ReplicatedState;
  readonly #opened = new Map<SessionId, OpenedSession>();
  /** Sessions whose closeSession is proposed and not applied yet. */
  readonly #closesInFlight = new Set<SessionId>();
  /** Sessions that have a beginClose, in flight or in the state, until their close is applied. */
  readonly #closing = new Set<SessionId>();
  /** The opens and closes, not applied yet. */
  readonly #changes = new Fifo<SessionChange>();

  constructor(state: ReplicatedState) {
    this.#state = state;
    for (const [id, { isClosing }] of state.sessions.sorted()) if (isClosing) this.#closing.add(id);
  }

  /** The number of opens and closes in flight. */
  get length(): number {
    return this.#changes.length;
  }

  /** The zxid of the oldest open or close in flight; infinite without one. */
  get firstZxid(): Zxid {
    return this.#changes.first?.zxid ?? Number.POSITIVE_INFINITY;
  }

  /** The sessions whose closeSession is in flight: their ephemerals count as deleted. */
  get closesInFlight(): ReadonlySet<SessionId> {
    return this.#closesInFlight;
  }

  /** The sessions that have a beginClose, of this term or of an earlier one, and still exist. */
  closing(): Iterable<SessionId> {
    return this.#closing;
  }

  /** Whether the session has a beginClose, in flight or in the state, and still exists. */
  isClosing(session: SessionId): boolean {
    return this.#closing.has(session);
  }

  /** Whether the session has a beginClose, or its closeSession is in flight. */
  isEndDecided(session: SessionId): boolean {
    return this.#closesInFlight.has(session) || this.#closing.has(session);
  }

  opened(session: SessionId): OpenedSession | undefined {
    return this.#opened.get(session);
  }

  /** Whether the session exists, or will, and is not being closed. */
  isLive(session: SessionId): boolean {
    // A local session: its member vouches for it.
    if (session === LOCAL_SESSION) return true;
    if (this.isEndDecided(session)) return false;
    return this.#state.sessions.has(session) || this.#opened.has(session);
  }

  open(zxid: Zxid, opened: OpenedSession): void {
    this.#opened.set(zxid, opened);
    this.#changes.push({ zxid, session: zxid });
  }

  beginClose(session: SessionId): void {
    assert(!this.isEndDecided(session), () => `the end of session ${session} is decided once`);
    this.#closing.add(session);
  }

  close(zxid: Zxid, session: SessionId): void {
    assert(!this.#closesInFlight.has(session), () => `session ${session} is closed once`);
    this.#closesInFlight.add(session);
    this.#changes.push({ zxid, session });
  }

  /** The oldest open or close is in the state now. */
  shift(): void {
    const change = this.#changes.shift();
    if (change === undefined) return;
    const { zxid, session } = change;
    if (session === zxid) {
      this.#opened.delete(session);
    } else {
      this.#closesInFlight.delete(session);
      this.#closing.delete(session);
    }
  }
}
