/**
 * Named bugs of logs and their synchronization: what a returning member keeps, loses or is sent.
 */
import { type NamedMutant, trace } from './named-mutant.js';

export const historyMutants: readonly NamedMutant[] = [
  {
    name: 'zk-1154-diff-by-number',
    area: 'named',
    in: 'planSync',
    find: "if (common === learner.last) return { mode: 'diff', after: common };",
    replace: "if (learner.last <= leader.last) return { mode: 'diff', after: learner.last };",
    breaks: 'the common part of two logs is determined exactly, not by comparing the newest zxids',
    scenario: trace('zk-1154-returning-leader'),
  },
  {
    name: 'zk-1549-log-applied-at-start',
    area: 'named',
    in: 'Replica.constructor',
    find: 'this.#committed = start.applied;',
    replace: 'this.#committed = this.history.last;',
    breaks: 'a restart considers nothing in its log committed before a quorum says so',
    scenario: trace('zk-1549-checkpoint-before-quorum'),
  },
  {
    name: 'zk-2845-trunc-spares-memory',
    area: 'named',
    in: 'History.truncate',
    find: 'for (let batch = this.#batches.last; batch !== undefined && batch.last > after; ) $BODY',
    replace:
      'for (let batch = this.#batches.last; batch !== undefined && batch.last > after && after < 0; ) $BODY',
    breaks: 'TRUNC removes a proposal from memory as well as from the log',
    scenario: trace('zk-2845-kept-in-memory'),
  },
  {
    name: 'zk-2355-commit-of-what-is-missing',
    area: 'named',
    in: 'Following.#onCommit',
    find: 'if (this.#serveFrom === null || !this.#replica.knows(zxid)) $BODY',
    replace: 'if (this.#serveFrom === null) $BODY',
    also: [
      {
        in: 'Following.#onLeaderDurable',
        find: 'if (this.#serveFrom === null || !this.#replica.knows(zxid)) $BODY',
        replace: 'if (this.#serveFrom === null) $BODY',
      },
    ],
    breaks: 'a follower that missed a proposal does not continue as if it were in sync',
    scenario: trace('zk-2355-lost-proposal'),
  },
  {
    name: 'zk-3642-snapshot-in-memory-only',
    area: 'named',
    in: 'Replica.installSnapshot',
    find: "this.emit({ kind: 'installSnapshot', ticket, zxid, lineage: this.lineage.from(zxid) });",
    replace: `this.note('snapshot', { ticket: String(ticket) });
      Object({ lineage: this.lineage.from(zxid) });`,
    breaks: 'a snapshot is on disk before anything continues from it',
    scenario: trace('zk-3642-snapshot-without-newleader'),
  },
  {
    name: 'zk-5094-trunc-in-memory-only',
    area: 'named',
    in: 'Replica.truncate',
    find: "this.emit({ kind: 'truncate', ticket, after, diverged });",
    replace: "this.note('truncate', { ticket: String([ticket, diverged]) });",
    breaks: 'TRUNC is on disk before the proposals after it: a log never has a gap',
    scenario: trace('zk-5094-trunc-without-newleader'),
  },
  {
    name: 'zk-4925-hole-in-memory',
    area: 'named',
    in: 'History.trim',
    find: 'this.#windowBase = oldest.last;',
    replace: '',
    breaks: 'the proposals of a DIFF have no gap',
    scenario: trace('zk-4925-hole-after-sync'),
  },
  {
    name: 'zk-2846-diff-from-a-log-too-short',
    area: 'named',
    in: 'planSync',
    find: 'const isForeign = learner.applied > leader.base;',
    replace: `if (learner.last >= 0) return { mode: 'diff', after: learner.last };
      const isForeign = learner.applied > leader.base;`,
    breaks: 'DIFF is sent only from a log that reaches back to the learner',
    scenario: trace('zk-2846-log-with-a-purged-start'),
  },
  {
    name: 'zk-4352-diff-for-the-empty',
    area: 'named',
    in: 'planSync',
    find: "return snap('it is empty');",
    replace: "return { mode: 'diff', after: leader.last };",
    breaks: 'an empty member receives a snapshot',
    scenario: trace('zk-4352-empty-joiner'),
  },
  {
    name: 'zk-4837-checkpoint-of-the-uncommitted',
    area: 'named',
    in: 'Replica.#ready',
    find: 'return Math.min(this.#committed, this.history.durable);',
    replace: 'return (this.#committed = this.history.durable);',
    breaks: 'only what is committed is applied, and so no checkpoint is ever truncated',
    scenario: trace('zk-4837-checkpoint-and-trunc'),
  },
];
