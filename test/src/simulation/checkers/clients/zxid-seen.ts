/**
 * Property: a client never goes back in time: the zxids that it receives never decrease. Source:
 * docs/architecture/core.md, invariant 7: a member that is behind what a client has seen must not
 * serve it.
 *
 * Replies count across connections and sessions, because the client presents what it has seen with
 * each handshake. An event counts on its connection only: it may come before others of the same
 * zxid, so the client does not present it.
 */
import { formatZxid } from '@rookery/protocol';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { Reply, SessionSeen, WatchEventSeen } from '../../contract/history.js';
import { asked } from './part.js';

interface Seen {
  /** The highest zxid in replies, on any connection. */
  reply: number;
  /** The highest zxid in anything on this connection. */
  here: number;
}

class ZxidSeen implements Checker {
  readonly property = 'the zxids that a client sees never decrease';
  readonly #clients = new Map<number, Seen>();

  onReply({ invocation, result, order }: Reply): void {
    const { zxid } = result;
    const seen = this.#of(invocation.client);
    if (zxid < seen.here) {
      const before = formatZxid(seen.here);
      this.#fail(`${asked(invocation)}, was answered at ${text(zxid)} after ${before} [${order}]`);
    }
    seen.reply = zxid;
    seen.here = zxid;
  }

  onWatchEvent({ client, zxid, path, order }: WatchEventSeen): void {
    if (zxid === -1) return;
    const seen = this.#of(client);
    if (zxid < seen.here) {
      const before = formatZxid(seen.here);
      this.#fail(
        `client ${client} was told of ${path} at ${text(zxid)} after ${before} [${order}]`,
      );
    }
    seen.here = zxid;
  }

  onSession({ change, client, zxid, order }: SessionSeen): void {
    const seen = this.#of(client);
    if (change === 'opened' || change === 'resumed') seen.here = seen.reply;
    if (change !== 'reset') return;
    if (zxid < seen.here) {
      this.#fail(`client ${client} set its watches again at ${text(zxid)} [${order}]`);
    }
    seen.reply = zxid;
    seen.here = zxid;
  }

  #of(client: number): Seen {
    let seen = this.#clients.get(client);
    if (seen === undefined) {
      seen = { reply: 0, here: 0 };
      this.#clients.set(client, seen);
    }
    return seen;
  }

  #fail(what: string): never {
    throw new PropertyBroken(this.property, what);
  }
}

function text(zxid: number): string {
  return zxid < 0 ? String(zxid) : formatZxid(zxid);
}

export const newZxidSeen: NewChecker = () => new ZxidSeen();
