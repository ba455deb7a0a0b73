/**
 * Property: a prefix of the requests of one connection is done and nothing after it; and no request
 * of a connection is done any more once a newer one has been answered. Source:
 * docs/architecture/sessions.md; ZOOKEEPER-2606.
 *
 * A session's transactions, refusals included, are the requests of its connections: those of one
 * connection in the order in which they were sent without omissions, then those of a newer one. A
 * refusal has no content, so several positions in this order may fit what was done; when there is
 * none, the property is broken. What a connection requests after its client was told that the
 * session continues elsewhere is never done, and an answer on the newer connection (to a sync or a
 * write) ends what the older ones may still have done.
 */
import { ErrorCode, formatZxid } from '@rookery/protocol';
import type { TxnOp } from '../../../simulated.js';
import { PropertyBroken } from '../../contract/checker.js';
import type { Invocation, Reply, SessionSeen } from '../../contract/history.js';
import type { Commit } from './committed-tree.js';
import { isDoneBy, isOfRequest } from './done-by.js';
import { isWrite, type Part, type Write } from './part.js';

interface Asked {
  readonly order: number;
  readonly write: Write;
}

interface Connection {
  readonly number: number;
  /** The requests that may not be done yet, from the first one on. */
  writes: Asked[];
  /** When the client was told that its session continues elsewhere. */
  overAt: number;
}

/**
 * The number of this connection's remembered writes that are done; no write of a newer connection
 * is.
 */
interface Place {
  readonly connection: number;
  readonly done: number;
}

interface Session {
  /** In the order in which they were made. */
  connections: Connection[];
  places: readonly Place[];
  /** Nothing of an older connection is done any more. */
  floor: number;
}

class Attachments implements Part {
  readonly property = 'a prefix of the requests of a connection is done, before a newer one acts';
  readonly #sessions = new Map<number, Session>();
  /** Requests that were in flight when their session expired are refused after the close. */
  readonly #ended = new Set<number>();

  onInvocation({ operation, session: id, connection, order }: Invocation): void {
    if (!isWrite(operation)) return;
    this.#connectionOf(this.#sessionOf(id), connection).writes.push({ order, write: operation });
  }

  onSession({ change, session: id, connection, order }: SessionSeen): void {
    if (change !== 'resumed') return;
    const session = this.#sessionOf(id);
    this.#connectionOf(session, connection);
    for (const one of session.connections) {
      if (one.number < connection) one.overAt = Math.min(one.overAt, order);
    }
  }

  onReply({ invocation, result }: Reply): void {
    const { operation, session: id, connection } = invocation;
    const session = this.#sessions.get(id);
    if (session === undefined || connection <= session.floor) return;
    const shows = operation.kind === 'sync' && result.error === ErrorCode.ok;
    if (!shows && !isWrite(operation)) return;
    session.floor = connection;
    const places = session.places.filter((place) => place.connection >= connection);
    // If the session's position was in an older connection, whose rest is not done, the next
    // request is the first of this one.
    if (places.length < session.places.length) places.push({ connection, done: 0 });
    session.places = places;
    session.connections = session.connections.filter((one) => one.number >= connection);
  }

  onCommit({ zxid, session: id, txn }: Commit): void {
    const { op } = txn;
    if (op.kind === 'closeSession') {
      this.#sessions.delete(id);
      this.#ended.add(id);
    }
    if (id === 0 || !(op.kind === 'error' || isOfRequest(op))) return;
    if (op.kind === 'error' && this.#ended.has(id)) return;
    const session = this.#sessionOf(id);
    const next = nextPlaces(session, op);
    if (next.length === 0) this.#fail(session, { zxid, id, kind: op.kind });
    session.places = next;
    forgetDone(session);
  }

  #sessionOf(id: number): Session {
    let session = this.#sessions.get(id);
    if (session === undefined) {
      session = { connections: [], places: [{ connection: 0, done: 0 }], floor: 0 };
      this.#sessions.set(id, session);
    }
    return session;
  }

  #connectionOf({ connections }: Session, number: number): Connection {
    const known = connections.find((one) => one.number === number);
    if (known !== undefined) return known;
    const connection = { number, writes: [], overAt: Number.POSITIVE_INFINITY };
    connections.push(connection);
    connections.sort((one, other) => one.number - other.number);
    return connection;
  }

  #fail(session: Session, { zxid, id, kind }: { zxid: number; id: number; kind: string }): never {
    const places = session.places.map(({ connection, done }) => `${done} of ${connection}`);
    const asked = session.connections.map(({ number, writes, overAt }) => {
      const orders = writes.slice(0, 8).map(({ order }) => order);
      const over = overAt === Number.POSITIVE_INFINITY ? '' : ` (over at [${overAt}])`;
      return `${number}${over}: ${orders.join(' ')}`;
    });
    throw new PropertyBroken(
      this.property,
      `transaction ${formatZxid(zxid)}, a ${kind} of session ${formatZxid(id)}, is not the next ` +
        `behind ${places.join(' or ')}; asked by connection: ${asked.join('; ')}`,
    );
  }
}

/**
 * The positions at which this transaction may be: the next of a connection, or the first of a newer
 * one.
 */
function nextPlaces({ connections, places, floor }: Session, op: TxnOp): readonly Place[] {
  const found = new Map<number, Set<number>>();
  for (const { number, writes, overAt } of connections) {
    if (number < floor) continue;
    for (const place of places) {
      if (place.connection > number) continue;
      const at = place.connection === number ? place.done : 0;
      const asked = writes[at];
      if (asked === undefined || asked.order > overAt || !mayBe(asked.write, op)) continue;
      const done = found.get(number) ?? new Set();
      found.set(number, done.add(at + 1));
    }
  }
  return [...found].flatMap(([connection, all]) => [...all].map((done) => ({ connection, done })));
}

function mayBe(write: Write, op: TxnOp): boolean {
  return op.kind === 'error' || isDoneBy(write, op);
}

/** Removes what is done at every possible position, and connections older than all of these. */
function forgetDone(session: Session): void {
  const oldest = Math.min(...session.places.map(({ connection }) => connection));
  session.connections = session.connections.filter((one) => one.number >= oldest);
  const [place, ...others] = session.places;
  if (place === undefined || others.length > 0 || place.done < 64) return;
  const connection = session.connections[0];
  if (connection === undefined) return;
  connection.writes = connection.writes.slice(place.done);
  session.places = [{ connection: place.connection, done: 0 }];
}

export const newAttachments = (): Part => new Attachments();
