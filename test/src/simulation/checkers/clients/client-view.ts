/**
 * Combines the checkers that compare what clients see with a replay of the committed transactions:
 * the first member to apply a transaction advances the replay, then each part is notified.
 *
 * It owns the replay. Each part checks a property with a name of its own.
 */
import type { Checker } from '../../contract/checker.js';
import type {
  Invocation,
  ReadOnlySeen,
  Reply,
  SessionSeen,
  WatchEventSeen,
} from '../../contract/history.js';
import type { Applied, End } from '../../contract/observation.js';
import { newAcknowledged } from './acknowledged.js';
import { newAttachments } from './attachments.js';
import { CommittedTree, REPLAYS } from './committed-tree.js';
import type { Part } from './part.js';
import { newPermissions } from './permissions.js';
import { newQuotaLimits } from './quota-limits.js';
import { newReadOnly } from './read-only.js';
import { newShownState } from './shown-state.js';
import { newWatchOrder } from './watch-order.js';

export class ClientView implements Checker {
  readonly property = REPLAYS;
  readonly #tree = new CommittedTree();
  readonly #acknowledged: Part = newAcknowledged(this.#tree);
  readonly #attachments: Part = newAttachments();
  readonly #permissions: Part = newPermissions(this.#tree);
  readonly #limits: Part = newQuotaLimits(this.#tree);
  readonly #shown: Part = newShownState(this.#tree);
  readonly #readOnly: Part = newReadOnly(this.#tree);
  readonly #watches: Part = newWatchOrder(this.#tree);

  onApplied(seen: Applied): void {
    const { zxid, txn } = seen;
    if (zxid > this.#tree.lastZxid) {
      const commit = this.#tree.apply(zxid, txn);
      this.#acknowledged.onCommit?.(commit, seen);
      this.#attachments.onCommit?.(commit, seen);
    }
    this.#acknowledged.onApplied?.(seen);
  }

  onInvocation(invocation: Invocation): void {
    this.#acknowledged.onInvocation?.(invocation);
    this.#attachments.onInvocation?.(invocation);
    this.#limits.onInvocation?.(invocation);
  }

  onReply(reply: Reply): void {
    this.#acknowledged.onReply?.(reply);
    this.#attachments.onReply?.(reply);
    this.#permissions.onReply?.(reply);
    this.#limits.onReply?.(reply);
    this.#shown.onReply?.(reply);
    this.#watches.onReply?.(reply);
  }

  onReadOnly(seen: ReadOnlySeen): void {
    this.#readOnly.onReadOnly?.(seen);
  }

  onWatchEvent(event: WatchEventSeen): void {
    this.#watches.onWatchEvent?.(event);
  }

  onSession(session: SessionSeen): void {
    this.#attachments.onSession?.(session);
    this.#limits.onSession?.(session);
    this.#watches.onSession?.(session);
  }

  onEnd(end: End): void {
    this.#acknowledged.onEnd?.(end);
  }
}
