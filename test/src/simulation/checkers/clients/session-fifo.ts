/**
 * Property: a session is answered in the order of its requests, and sees its own writes. Source:
 * docs/architecture/core.md, invariants 6 and 7; the ordering guarantees of ZooKeeper.
 *
 * It checks three things: on a connection replies come in the order of the requests; a session's
 * acknowledged writes have increasing zxids; and a read after an acknowledged write of the same
 * path shows that write or something newer. It remembers only the last writes of each client.
 */
import { ErrorCode, Fifo, formatZxid } from '@rookery/protocol';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { Invocation, Reply, SessionSeen, Unanswered } from '../../contract/history.js';
import { asked, isWrite } from './part.js';

/** The number of written paths that are remembered for one session. */
const PATHS_MAX = 64;

interface OwnWrite {
  readonly zxid: number;
  readonly isDelete: boolean;
}

interface Session {
  readonly id: number;
  lastWriteZxid: number;
  readonly written: Map<string, OwnWrite>;
}

class SessionFifo implements Checker {
  readonly property = 'a session is answered in the order of its requests and sees its own writes';
  /** By connection: the requests that were sent and not answered, in order. */
  readonly #lines = new Map<number, Fifo<number>>();
  /** By client: its current session. */
  readonly #sessions = new Map<number, Session>();

  onInvocation({ connection, order }: Invocation): void {
    let line = this.#lines.get(connection);
    if (line === undefined) {
      line = new Fifo();
      this.#lines.set(connection, line);
    }
    line.push(order);
  }

  onReply(reply: Reply): void {
    this.#takeReply(reply);
    const { invocation, result } = reply;
    const { operation } = invocation;
    const session = this.#sessionOf(invocation);
    if (isWrite(operation)) return this.#onWrite(session, reply);
    if (operation.kind !== 'get' && operation.kind !== 'exists') return;
    const own = session.written.get(operation.path);
    if (own === undefined) return;
    const { stat, error, zxid } = result;
    const isStale =
      stat === null
        ? error === ErrorCode.noNode && !own.isDelete && zxid <= own.zxid
        : (own.isDelete ? stat.czxid : stat.mzxid) < own.zxid;
    if (!isStale) return;
    const shown = stat === null ? 'no znode' : `a znode of ${formatZxid(stat.mzxid)}`;
    this.#fail(reply, `shows ${shown} behind its own write of ${formatZxid(own.zxid)}`);
  }

  onUnanswered({ invocation }: Unanswered): void {
    this.#lines.delete(invocation.connection);
  }

  onSession({ change, connection, client }: SessionSeen): void {
    if (change === 'disconnected' || change === 'closed') this.#lines.delete(connection);
    if (change === 'closed' || change === 'expired') this.#sessions.delete(client);
  }

  #takeReply(reply: Reply): void {
    const { connection, order } = reply.invocation;
    const line = this.#lines.get(connection);
    const first = line?.first;
    if (line === undefined || first !== order) {
      this.#fail(reply, `was answered before what was asked at ${first}`);
    }
    line.shift();
  }

  #onWrite(session: Session, reply: Reply): void {
    const { operation } = reply.invocation;
    const { zxid, error, path } = reply.result;
    if (zxid <= session.lastWriteZxid) {
      this.#fail(reply, `follows its write of ${formatZxid(session.lastWriteZxid)}`);
    }
    session.lastWriteZxid = zxid;
    if (error !== ErrorCode.ok) return;
    if (operation.kind === 'multi') {
      for (const part of operation.parts) {
        if (part.kind === 'set') wrote(session, part.path, zxid, false);
        // A later part may have created or deleted it again.
        else session.written.delete(part.path);
      }
    } else if ('path' in operation && operation.kind !== 'setAcl' && operation.kind !== 'raise') {
      wrote(session, path ?? operation.path, zxid, operation.kind === 'delete');
    }
  }

  #sessionOf({ client, session: id }: Invocation): Session {
    let session = this.#sessions.get(client);
    if (session?.id !== id) {
      session = { id, lastWriteZxid: 0, written: new Map() };
      this.#sessions.set(client, session);
    }
    return session;
  }

  #fail({ invocation, result, order }: Reply, what: string): never {
    const answer = `the answer ${formatZxid(result.zxid)} [${order}] to ${asked(invocation)}`;
    throw new PropertyBroken(this.property, `${answer}: ${what}`);
  }
}

/** Forgets all entries rather than one: what is remembered is never wrong. */
function wrote({ written }: Session, path: string, zxid: number, isDelete: boolean): void {
  if (written.size >= PATHS_MAX && !written.has(path)) written.clear();
  written.set(path, { zxid, isDelete });
}

export const newSessionFifo: NewChecker = () => new SessionFifo();
