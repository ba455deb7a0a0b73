/**
 * Property: every ephemeral's owner is a live session, and sessions end with their ephemerals.
 * Source: ZooKeeper's promise of ephemerals; ZOOKEEPER-2355, 4678, 3144, 1208, 919.
 *
 * As transactions are applied: the creator of an ephemeral is an existing session; after
 * closeSession neither the session nor a znode of it is left. The whole tree is walked, node by
 * node and not by the index of owners, at the end, and with the first transaction after a start or
 * a snapshot.
 */
import type { Zxid } from '@rookery/protocol';
import { ephemeralPaths, type ReplicatedState, type TxnOp } from '../../../simulated.js';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { Applied, End, Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface Life {
  readonly opened: Zxid;
  closed: Zxid;
}

class EphemeralsChecker implements Checker {
  readonly property =
    "every ephemeral's owner is a live session, and sessions end with their ephemerals";
  /** All sessions that ever existed, at the newest zxid applied anywhere. */
  readonly #lives = new Map<number, Life>();
  readonly #wantsWalk: MemberTable<{ is: boolean }>;
  #newest: Zxid = 0;

  constructor(members: number) {
    this.#wantsWalk = new MemberTable(members, () => ({ is: false }));
  }

  onStarted(seen: Started): void {
    this.#wantsWalk.of(seen.member).is = true;
  }

  onStep(seen: Step): void {
    const { outputs } = seen;
    for (let at = 0; at < outputs.length; at++) {
      if (outputs[at]?.kind === 'installSnapshot') this.#wantsWalk.of(seen.member).is = true;
    }
  }

  onApplied(seen: Applied): void {
    const { zxid, txn, state } = seen;
    this.#checkOp(seen, txn.op);
    if (zxid > this.#newest) {
      this.#newest = zxid;
      this.#follow(zxid, txn.op, txn.session);
    }
    const walk = this.#wantsWalk.of(seen.member);
    if (!walk.is) return;
    walk.is = false;
    const found = this.#strangeIn(state);
    if (found !== null) throw broken(this.property, seen, `at ${formatZxid(zxid)} has ${found}`);
  }

  onEnd({ members, order }: End): void {
    for (const { member, state, applied } of members) {
      const found = this.#strangeIn(state);
      if (found === null) continue;
      const what = `at the end, ${formatZxid(applied)}, member ${member} has ${found}`;
      throw new PropertyBroken(this.property, `${what} [order ${order}]`);
    }
  }

  #checkOp(seen: Applied, op: TxnOp): void {
    const { zxid, txn, state } = seen;
    switch (op.kind) {
      case 'create':
        if (op.mode !== 'ephemeral' || state.sessions.has(txn.session)) return;
        throw broken(
          this.property,
          seen,
          `has ${op.path} of session ${formatZxid(txn.session)}, which is not there`,
        );
      case 'multi':
        for (let at = 0; at < op.ops.length; at++) {
          const part = op.ops[at];
          if (part !== undefined) this.#checkOp(seen, part);
        }
        return;
      case 'closeSession': {
        const left = ephemeralPaths(state.tree, txn.session, Number.POSITIVE_INFINITY) ?? [];
        if (left.length === 0 && !state.sessions.has(txn.session)) return;
        const what = `left ${left.join(' ') || 'the session itself'} behind`;
        const session = formatZxid(txn.session);
        throw broken(this.property, seen, `closed ${session} at ${formatZxid(zxid)} and ${what}`);
      }
    }
  }

  #follow(zxid: Zxid, op: TxnOp, session: number): void {
    if (op.kind === 'createSession') {
      this.#lives.set(zxid, { opened: zxid, closed: Number.POSITIVE_INFINITY });
    } else if (op.kind === 'closeSession') {
      const life = this.#lives.get(session);
      if (life !== undefined) life.closed = zxid;
    }
  }

  /** What must not be in this state, in words; null if there is nothing wrong. */
  #strangeIn(state: ReplicatedState): string | null {
    const at = state.lastZxid;
    let alive = 0;
    for (const [session, { opened, closed }] of this.#lives) {
      if (opened > at || closed <= at) continue;
      alive += 1;
      if (!state.sessions.has(session)) return `no session ${formatZxid(session)}, which is open`;
    }
    if (alive !== state.sessions.count) return `${state.sessions.count} sessions, not ${alive}`;
    const root = state.tree.find('/');
    const todo = [root];
    for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
      const owner = state.tree.owner(node);
      if (owner !== 0 && !state.sessions.has(owner)) {
        return `${state.tree.path(node)} of session ${formatZxid(owner)}, which is over`;
      }
      state.tree.visitChildren(node, (child) => {
        todo.push(child);
        return true;
      });
    }
    return null;
  }
}

export const newEphemerals: NewChecker = ({ members }) => new EphemeralsChecker(members);
