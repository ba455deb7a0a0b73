/** Named bugs of order on disk: what a message vouches for is durable before it is sent. */
import { type NamedMutant, trace } from './named-mutant.js';

export const durabilityMutants: readonly NamedMutant[] = [
  {
    name: 'zk-3911-serves-before-acks',
    area: 'named',
    file: 'zab/leading.ts',
    find: '    if (!this.#learners.isQuorum(({ synced }) => synced)) return;\n    this.#established = true;',
    replace:
      '    const sent = this.#learners.count((learner) => learner.caughtUp);\n' +
      '    if (sent + 1 < this.#member.quorum) return;\n    this.#established = true;',
    breaks: 'a new leader serves only when a quorum has its history on disk',
    scenario: trace('zk-3911-leader-serves-after-quorum-is-durable'),
  },
  {
    name: 'zk-4646-said-one-write-early',
    area: 'named',
    file: 'zab/tickets.ts',
    find: 'this.#held.findIndex((held) => held.ticket <= this.#persisted);',
    replace: 'this.#held.findIndex((held) => held.ticket <= this.#persisted + 1);',
    breaks: 'ACK(NEWLEADER) is sent only after the last write of history and epoch is durable',
    scenario: trace('zk-4646-ack-after-sync'),
  },
  {
    name: 'zk-4785-newleader-acked-at-once',
    area: 'named',
    file: 'zab/following.ts',
    find: "    this.#member.tickets.after(ticket, () => {\n      this.#phase = 'acked';",
    replace:
      "    this.#member.tickets.after(Math.min(ticket, 0), () => {\n      this.#phase = 'acked';",
    breaks: 'what ACK(NEWLEADER) vouches for is on disk, committed or not',
    scenario: trace('zk-4785-uncommitted-diff'),
  },
  {
    name: 'zk-4643-epoch-before-history',
    area: 'named',
    file: 'zab/member.ts',
    find: '    this.#acceptedEpoch = epoch;\n',
    replace: '    this.#acceptedEpoch = epoch;\n    this.#currentEpoch = epoch;\n',
    breaks: 'currentEpoch is written after the history of that epoch is on disk',
    scenario: trace('zk-4643-history-before-epoch'),
  },
  {
    name: 'zk-4685-ack-before-newleader',
    area: 'named',
    file: 'zab/following.ts',
    find: "    if (this.#phase !== 'acked' && this.#phase !== 'active') return;",
    replace: "    if (this.#phase === 'offering' || this.#phase === 'accepted') return;",
    breaks: 'the first acknowledgement on a link is that of NEWLEADER',
    scenario: trace('zk-4685-ack-in-order'),
  },
  {
    name: 'zk-4394-commit-before-uptodate',
    area: 'named',
    file: 'zab/leading.ts',
    find: '    this.#sendUpToDate(learner);\n    this.#maybeCommit();\n',
    replace: '    this.#maybeCommit();\n    this.#sendUpToDate(learner);\n',
    breaks: 'a learner receives UPTODATE before any COMMIT',
    scenario: trace('zk-4394-commit-before-uptodate'),
  },
  {
    name: 'zk-4712-votes-over-old-writes',
    area: 'named',
    file: 'zab/looking.ts',
    find: '    this.#member.tickets.after(this.#member.tickets.newest, () => {',
    replace: '    this.#member.tickets.after(0, () => {',
    breaks: 'a new role begins after the writes of the previous role are done',
    scenario: trace('zk-4712-old-writes-complete-late'),
  },
  {
    name: 'zk-1653-promise-not-written',
    area: 'named',
    file: 'zab/member.ts',
    find: '    this.#acceptedEpoch = epoch;\n    return this.#saveEpochs();',
    replace: '    this.#acceptedEpoch = epoch;\n    return this.tickets.newest;',
    breaks: 'an epoch is on disk before it is promised',
    scenario: trace('zk-1653-epochs-and-log-apart'),
  },
];
