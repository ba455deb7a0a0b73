/**
 * Property: once a session is served on a new connection, its old one receives nothing about what
 * came after: the member that had it ends the connection before it applies any later write. Source:
 * docs/architecture/sessions.md: the leader moves the ownership and detaches the old owner;
 * ZOOKEEPER-417, ZOOKEEPER-2606.
 *
 * The property does not depend on time. A write that is requested after the client was told that
 * its session is resumed is proposed after the order to detach, on the same link: a member that
 * answers at that write's zxid, or a later one, has processed the order. The checker remembers, for
 * each client, its last resumption and the first such write.
 */
import { ErrorCode, formatZxid } from '@rookery/protocol';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { Overheard, Reply, SessionSeen } from '../../contract/history.js';
import { isWrite } from './part.js';

interface Resumed {
  readonly session: number;
  readonly connection: number;
  readonly order: number;
  /** The zxid of a write that was requested after it and done; infinity while none is known. */
  laterZxid: number;
}

class MovedOn implements Checker {
  readonly property = 'a connection is told nothing of what came after its session moved on';
  readonly #resumed = new Map<number, Resumed>();
  /** The resumptions for which no later write is known. */
  readonly #waiting = new Set<Resumed>();

  onSession({ change, client, session, connection, order }: SessionSeen): void {
    if (change !== 'resumed') return;
    this.#forget(client);
    const resumed = { session, connection, order, laterZxid: Number.POSITIVE_INFINITY };
    this.#resumed.set(client, resumed);
    this.#waiting.add(resumed);
  }

  onReply({ invocation, result }: Reply): void {
    if (this.#waiting.size === 0) return;
    if (result.error !== ErrorCode.ok || !isWrite(invocation.operation)) return;
    for (const resumed of this.#waiting) {
      if (invocation.order <= resumed.order) continue;
      resumed.laterZxid = result.zxid;
      this.#waiting.delete(resumed);
    }
  }

  onOverheard({ client, session, connection, zxid, order }: Overheard): void {
    const resumed = this.#resumed.get(client);
    if (resumed === undefined || resumed.session !== session) return;
    if (connection >= resumed.connection || zxid < resumed.laterZxid) return;
    const who = `session ${formatZxid(session)} of client ${client}`;
    const moved = `was resumed on connection ${resumed.connection} [${resumed.order}]`;
    const later = `was told of ${formatZxid(zxid)}, though ${formatZxid(resumed.laterZxid)}`;
    throw new PropertyBroken(
      this.property,
      `${who} ${moved}; its connection ${connection} ${later} was asked for after that [${order}]`,
    );
  }

  #forget(client: number): void {
    const before = this.#resumed.get(client);
    if (before !== undefined) this.#waiting.delete(before);
  }
}

export const newMovedOn: NewChecker = () => new MovedOn();
