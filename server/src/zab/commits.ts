/**
 * What a leader commits, and how its learners come to know.
 *
 * A proposal is committed once a quorum has logged it, the leader included. Active learners are
 * told by COMMIT, or find out by themselves. Part of the leader's role (`leading.ts`).
 */
import { LEADER_DURABLE_SINCE, type Zxid } from '@rookery/protocol';
import type { Learners } from './learner.js';
import type { Member } from './member.js';

/** With more of them undecided learners wait for COMMIT: several clients write. */
const FEW_PROPOSALS = 2;

export class Commits {
  readonly #member: Member;
  readonly #learners: Learners;

  constructor(member: Member, learners: Learners) {
    this.#member = member;
    this.#learners = learners;
  }

  /**
   * A learner that is a quorum together with this leader needs no COMMIT, which would come a round
   * trip later: it delivers nothing before it is durable there, and what is durable at both is
   * committed. Only for a few proposals: a COMMIT leaves together with the proposals that came
   * meanwhile, and a message of its own for each batch would cost writes under load.
   */
  tellDurable(): void {
    const { id, history, committed, quorums } = this.#member;
    const { durable } = history;
    if (durable <= committed || durable > committed + FEW_PROPOSALS) return;
    const message = { kind: 'leaderDurable', zxid: durable } as const;
    for (const learner of this.#learners.active()) {
      const { link } = learner;
      if (durable <= learner.toldDurable || link.version < LEADER_DURABLE_SINCE) continue;
      if (!quorums.isQuorum((voter) => voter === id || voter === link.peer)) continue;
      learner.toldDurable = durable;
      this.#member.send(link, message);
    }
  }

  /** Commits what a quorum has reached, and gives it; null when that is nothing new. */
  advance(): Zxid | null {
    const { history } = this.#member;
    const reached = this.#learners.reached(history.durable, ({ match }) => match);
    if (reached <= this.#member.committed) return null;
    this.#member.commit(reached);
    const message = { kind: 'commit', zxid: reached } as const;
    for (const { link, toldDurable } of this.#learners.active()) {
      if (toldDurable < reached) this.#member.send(link, message);
    }
    return reached;
  }
}
