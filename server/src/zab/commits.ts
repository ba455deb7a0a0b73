/**
 * Commits proposals at the leader and lets its learners know.
 *
 * A proposal is committed once a quorum has logged it. The leader counts as one of the members, but
 * need not be in that quorum. Synced learners get a COMMIT or count the quorum themselves. Part of
 * the leader's role (`leading.ts`).
 */
import { LEADER_DURABLE_SINCE, type Zxid } from '@rookery/protocol';
import type { Learners } from './learner.js';
import type { Member } from './member.js';

/** With more proposals than this durable here and not committed, learners wait for COMMIT. */
const FEW_PROPOSALS = 2;

export class Commits {
  readonly #member: Member;
  readonly #learners: Learners;

  constructor(member: Member, learners: Learners) {
    this.#member = member;
    this.#learners = learners;
  }

  /**
   * Tells learners what is durable here, if this leader and one learner are a quorum. Such a
   * learner commits what is durable at both, one round trip before a COMMIT could arrive. This is
   * done only while few proposals that are durable here are not committed: under load a COMMIT
   * travels with later proposals, and a message of its own for each batch would cost throughput.
   */
  tellDurable(): void {
    const { id, history, committed, quorums } = this.#member;
    const { durable } = history;
    if (durable <= committed || durable > committed + FEW_PROPOSALS) return;
    const message = { kind: 'leaderDurable', zxid: durable } as const;
    for (const learner of this.#learners.synced()) {
      const { link } = learner;
      if (durable <= learner.toldDurable || link.version < LEADER_DURABLE_SINCE) continue;
      if (!quorums.isQuorum((voter) => voter === id || voter === link.peer)) continue;
      learner.toldDurable = durable;
      this.#member.send(link, message);
    }
  }

  /** Commits what a quorum has logged. Returns the new last committed zxid, or null if none. */
  advance(): Zxid | null {
    const { history } = this.#member;
    const reached = this.#learners.reached(history.durable, ({ match }) => match);
    if (reached <= this.#member.committed) return null;
    this.#member.commit(reached);
    const message = { kind: 'commit', zxid: reached } as const;
    for (const { link, toldDurable } of this.#learners.synced()) {
      if (toldDurable < reached) this.#member.send(link, message);
    }
    return reached;
  }
}
