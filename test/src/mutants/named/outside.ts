/**
 * Bugs of the same outsider as those of from-outside.ts that no seed in fifty shows, each with a
 * test that does: they need a second leader, a request at one moment, or more at once than a run
 * has.
 */
import { type NamedMutant, trace } from './named-mutant.js';

export const outsideScenarios: readonly NamedMutant[] = [
  {
    name: 'told-durable-once-counts-for-ever',
    area: 'named',
    breaks: 'a learner gets a COMMIT for what it was not told to be durable at its leader',
    in: 'Learners.commit',
    find: 'if (toldDurable < reached) this.#replica.send(link, message);',
    replace: 'if (toldDurable === 0) this.#replica.send(link, message);',
    scenario: trace('diff-from-disk-while-writes-go-on'),
  },
  {
    name: 'due-beyond-a-tick-is-forgotten',
    area: 'named',
    breaks: 'a session that is due is ended by a later tick if this one has no room for it',
    in: 'Leases.expired',
    find: 'if (bucket !== undefined && !this.#examine(bucket, nowMs, expired, bounds)) return expired;',
    replace:
      'if (bucket !== undefined && !this.#examine(bucket, nowMs, expired, bounds)) expired.slice();',
    scenario: {
      file: 'server/src/sessions/leases.test.ts',
      name: 'at most the requested number expires at once, and the rest is not forgotten',
    },
  },
  {
    name: 'confirmed-sync-is-due',
    area: 'named',
    breaks: 'a sync is answered once what it names is applied here',
    in: 'isDue',
    find: 'return sync.syncedAt !== null && sync.syncedAt <= applied;',
    replace: 'return sync.syncedAt !== null && applied > 0;',
    scenario: {
      file: 'server/src/pipeline/order.test.ts',
      name: 'is not answered with an earlier one that is due before it',
    },
  },
  {
    name: 'damage-taken-for-the-torn-end',
    area: 'named',
    breaks: 'a wrong record with later writes behind it is damage, not the end of the log',
    in: 'checkEnd',
    find: 'if (through === null && !(await reader.hasLaterWrite())) return;',
    replace: 'if (through === null && reader.position > 0) return;',
    scenario: {
      file: 'server/src/storage/log-damage.test.ts',
      name: 'costs no acknowledged write but by damage that is told, unless it is in the last one',
    },
  },
  {
    name: 'gone-before-its-end-is-committed',
    area: 'named',
    breaks: 'a client is told that its session is gone once the end of it is applied',
    in: 'LeaderService.#onAttach',
    find: 'this.confirmed.add({ origin, afterApply: true, answer: () => attached });',
    replace: 'this.confirmed.add({ origin, afterApply: false, answer: () => attached });',
    scenario: {
      file: 'server/src/simulated/session-gone.test.ts',
      name: 'is told at the leader only once the closing of it is committed',
    },
  },
  {
    name: 'not-created-here-is-gone',
    area: 'named',
    breaks: 'a client is told that its session is gone only if it is',
    in: 'Pipeline.onAttached',
    find: 'connection.session > this.#state.lastZxid',
    replace: 'connection.session < 0',
    scenario: {
      file: 'server/src/pipeline/sessions.test.ts',
      name: 'right after its creation, still in flight, is never called expired',
    },
  },
  {
    name: 'quota-counts-one-of-many',
    area: 'named',
    breaks: 'the stats of a quota count every ephemeral that ends with its session',
    in: 'Quotas.deleting',
    find: 'const sum = lost.get(prefix) ?? { count: 0, bytes: 0 };',
    replace: 'const sum = { count: 0, bytes: 0 };',
    scenario: {
      file: 'server/src/state/quotas.test.ts',
      name: 'lose what a closed session owned, in any order, even its limits',
    },
  },
  {
    name: 'quota-stats-not-captured',
    area: 'named',
    breaks: 'the stats of a quota are in the next checkpoint',
    in: 'Quotas.#store',
    find: 'this.#capture.beforeChange(node);',
    replace: '',
    scenario: {
      file: 'server/src/state/quotas.test.ts',
      name: 'are the sum over the subtree, and the digest is equal, whichever member recovered in between',
    },
  },
];
