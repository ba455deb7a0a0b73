/** Named bugs of elections, epochs and leaders that no longer lead. */
import { type NamedMutant, trace } from './named-mutant.js';

export const electionMutants: readonly NamedMutant[] = [
  {
    name: 'zk-1817-round-not-taken-over',
    area: 'named',
    in: 'Looking.onVote',
    find: 'this.#replica.round = vote.round;',
    replace: '',
    breaks: 'members in different rounds reach a common round',
    scenario: trace('zk-1817-mixed-rounds'),
  },
  {
    name: 'zk-582-epoch-of-the-log-alone',
    area: 'named',
    in: 'Looking.#best',
    find: 'const own: Candidate = { leader: id, epoch: currentEpoch, zxid: history.last };',
    replace: `const epoch = history.last === history.base ? 0 : currentEpoch;
      const own: Candidate = { leader: id, epoch, zxid: history.last };`,
    breaks: 'a member whose log is empty votes with its recorded epoch',
    scenario: trace('zk-582-only-a-checkpoint'),
  },
  {
    name: 'zk-1277-leads-past-the-last-zxid',
    area: 'named',
    in: 'Leading.#maybeCommit',
    find: 'if (reached !== null && counterOf(reached) === COUNTER_MAX) $BODY',
    replace: 'if (reached !== null && counterOf(reached) > COUNTER_MAX) $BODY',
    breaks: 'a leader whose counter is used up steps down',
    scenario: trace('zk-1277-counter-rollover'),
  },
  {
    name: 'zk-1675-confirms-by-itself',
    area: 'named',
    in: 'Confirmations.#maybeComplete',
    find: 'if (!this.#learners.isQuorum(answered)) return;',
    replace: 'if (this.#learners.count(answered) + this.#replica.quorum < 1) return;',
    breaks: 'a leader without a quorum confirms nothing',
    scenario: trace('zk-1675-cut-off-leader'),
  },
];
