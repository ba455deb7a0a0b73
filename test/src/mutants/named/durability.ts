/** Named bugs of order on disk: what a message vouches for is durable before it is sent. */
import { type NamedMutant, trace } from './named-mutant.js';

export const durabilityMutants: readonly NamedMutant[] = [
  {
    name: 'zk-3911-serves-before-acks',
    area: 'named',
    in: 'Leading.#maybeEstablish',
    find: 'if (!this.#learners.isQuorum(({ synced }) => synced)) return;',
    replace: `const sent = this.#learners.count((learner) => learner.caughtUp);
      if (sent + 1 < this.#replica.quorum) return;`,
    breaks: 'a new leader serves only when a quorum has its history on disk',
    scenario: trace('zk-3911-leader-serves-after-quorum-is-durable'),
  },
  {
    name: 'zk-4646-said-one-write-early',
    area: 'named',
    in: 'Tickets.runDue',
    find: 'const index = this.#held.findIndex((held) => held.ticket <= this.#persisted);',
    replace: 'const index = this.#held.findIndex((held) => held.ticket <= this.#persisted + 1);',
    breaks: 'ACK(NEWLEADER) is sent only after the last write of history and epoch is durable',
    scenario: trace('zk-4646-ack-after-sync'),
  },
  {
    name: 'zk-4785-newleader-acked-at-once',
    area: 'named',
    in: 'Following.#onNewLeader',
    find: 'this.#replica.tickets.after(ticket, $FN);',
    replace: 'this.#replica.tickets.after(Math.min(ticket, 0), $FN);',
    breaks: 'what ACK(NEWLEADER) vouches for is on disk, committed or not',
    scenario: trace('zk-4785-uncommitted-diff'),
  },
  {
    name: 'zk-4643-epoch-before-history',
    area: 'named',
    in: 'Replica.acceptEpoch',
    find: 'return this.#saveEpochs();',
    replace: `this.#currentEpoch = epoch;
      return this.#saveEpochs();`,
    breaks: 'currentEpoch is written after the history of that epoch is on disk',
    scenario: trace('zk-4643-history-before-epoch'),
  },
  {
    name: 'zk-4685-ack-before-newleader',
    area: 'named',
    in: 'Following.onProgress',
    find: "if (this.#phase !== 'acked' && this.#phase !== 'active') return;",
    replace: "if (this.#phase === 'offering' || this.#phase === 'accepted') return;",
    breaks: 'the first acknowledgement on a link is that of NEWLEADER',
    scenario: trace('zk-4685-ack-in-order'),
  },
  {
    name: 'zk-4394-commit-before-uptodate',
    area: 'named',
    in: 'Leading.#onAckNewLeader',
    find: `this.#sendUpToDate(learner);
      this.#maybeCommit();`,
    replace: `this.#maybeCommit();
      this.#sendUpToDate(learner);`,
    breaks: 'a learner receives UPTODATE before any COMMIT',
    scenario: trace('zk-4394-commit-before-uptodate'),
  },
  {
    name: 'zk-4712-votes-over-old-writes',
    area: 'named',
    in: 'Looking.start',
    find: 'this.#replica.tickets.after(this.#replica.tickets.newest, $FN);',
    replace: 'this.#replica.tickets.after(0, $FN);',
    breaks: 'a new role begins after the writes of the previous role are done',
    scenario: trace('zk-4712-old-writes-complete-late'),
  },
  {
    name: 'zk-1653-promise-not-written',
    area: 'named',
    in: 'Replica.acceptEpoch',
    find: 'return this.#saveEpochs();',
    replace: 'return this.tickets.newest;',
    breaks: 'an epoch is on disk before it is promised',
    scenario: trace('zk-1653-epochs-and-log-apart'),
  },
];
