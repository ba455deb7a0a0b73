/**
 * Property: writes and syncs are linearizable: their zxids respect real time. Source: Zab's total
 * order; docs/architecture/life-of-a-request.md on sync; ZOOKEEPER-1675, 2136 (sync of a deposed
 * leader), and the Jepsen runs that found plain sync + read not to be linearizable there.
 *
 * Once any client has seen the state of a zxid, every write that is requested later has a higher
 * one, and a sync that is requested later is answered at that zxid or a higher one; so is every
 * read after it, because zxids never decrease on a connection (zxid-seen checks that).
 */
import { formatZxid } from '@rookery/protocol';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { Invocation, Reply, SessionSeen, Unanswered } from '../../contract/history.js';
import { asked, isWrite } from './part.js';

class RealTimeOrder implements Checker {
  readonly property = 'writes and syncs respect real time';
  /** The highest zxid in any reply so far. */
  #shownZxid = 0;
  /** For writes and syncs in flight: the highest zxid that was visible when they were requested. */
  readonly #floors = new Map<number, number>();

  onInvocation({ operation, order }: Invocation): void {
    if (operation.kind === 'sync' || isWrite(operation)) this.#floors.set(order, this.#shownZxid);
  }

  onReply(reply: Reply): void {
    const { invocation, result } = reply;
    const { operation } = invocation;
    const { zxid } = result;
    const isSync = operation.kind === 'sync';
    if (isSync || isWrite(operation)) {
      const floor = this.#floors.get(invocation.order) ?? 0;
      this.#floors.delete(invocation.order);
      if (isSync ? zxid < floor : zxid <= floor) {
        throw new PropertyBroken(
          this.property,
          `${asked(invocation)}, was answered at ${formatZxid(zxid)} [${reply.order}], but ` +
            `${formatZxid(floor)} had been shown before it was asked`,
        );
      }
    }
    if (zxid > this.#shownZxid) this.#shownZxid = zxid;
  }

  onSession({ zxid }: SessionSeen): void {
    if (zxid > this.#shownZxid) this.#shownZxid = zxid;
  }

  onUnanswered({ invocation }: Unanswered): void {
    this.#floors.delete(invocation.order);
  }
}

export const newRealTimeOrder: NewChecker = () => new RealTimeOrder();
