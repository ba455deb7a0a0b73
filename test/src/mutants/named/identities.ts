/**
 * Bugs in what distinguishes equal zxids, and members with wrong histories: each fails a scenario
 * of its own.
 *
 * No seed of the simulator leads to two leaders of one epoch, so these are traces and whole
 * members.
 */
import { type NamedMutant, trace } from './named-mutant.js';

const WENT_BACK = 'server/src/simulated/went-back.test.ts';
const JUDGE = 'server/src/zab/judge.test.ts';

export const identityMutants: readonly NamedMutant[] = [
  {
    name: 'identity-not-compared',
    area: 'named',
    in: 'planSync',
    find: 'const conflict = lineage.firstConflict(learner.lineage);',
    replace: 'const conflict = lineage.firstConflict([]) + learner.last;',
    breaks:
      'two histories have nothing in common from an epoch on in which they had different leaders',
    scenario: trace('foreign-epoch-is-cut-off'),
  },
  {
    name: 'identity-saved-after-what-it-proposed',
    area: 'named',
    in: 'Replica.append',
    find: 'if (epochOf(batch.last) >= this.#unsavedEpoch) this.#saveEpochs();',
    replace: 'if (epochOf(batch.last) < this.#currentEpoch) this.#saveEpochs();',
    breaks: 'the identity of the proposer is on disk before the proposal',
    scenario: trace('foreign-epoch-is-cut-off'),
  },
  {
    name: 'outvoted-member-keeps-its-vote',
    area: 'named',
    in: 'onDisputed',
    find: 'member.giveUp(OUTVOTED, after);',
    replace: '',
    breaks: 'a member whose history a quorum does not have gives its vote up',
    scenario: trace('two-leaderships-of-one-epoch'),
  },
  {
    name: 'outvoted-by-the-configured-list-alone',
    area: 'named',
    in: 'isOutvoted',
    find: 'return [...holders.values()].some((agree) => member.quorums.isQuorum((id) => agree.has(id)));',
    replace: 'return [...holders.values()].some((agree) => agree.size >= member.quorum);',
    breaks: 'a history is given up only where a majority of every list of members has another one',
    scenario: trace('two-leaderships-while-the-list-shrinks'),
  },
  {
    name: 'rolled-back-directory-keeps-its-vote',
    area: 'named',
    in: 'KnownStarts.isBehind',
    find: 'return isBeside(this.own, this.earlier, offer.lastSeen);',
    replace: 'return isBeside(this.own, this.earlier, offer.start);',
    breaks: 'a member whose directory went back in time has no vote',
    scenario: {
      file: WENT_BACK,
      name: 'that was started 0 times since has no vote where somebody saw its later start',
    },
  },
  {
    name: 'seen-starts-not-kept-over-restart',
    area: 'named',
    in: 'StartsRecord.rememberStart',
    find: 'this.#meta.remember({ seenStarts: [...others, seen] });',
    replace: 'if (others.length < 0) this.#meta.remember({ seenStarts: [...others, seen] });',
    breaks: 'which starts of others were seen is known after a restart, too',
    scenario: {
      file: WENT_BACK,
      name: 'that was started 0 times since has no vote where somebody saw its later start',
    },
  },
  {
    name: 'digest-mismatch-ignored',
    area: 'named',
    in: 'DigestWatch.#onMismatch',
    find: 'if (majority === null) return false;',
    replace: 'if (majority !== undefined) return false;',
    breaks: 'a member whose state a quorum does not have gives up',
    scenario: {
      file: 'server/src/simulated/digests.test.ts',
      name: 'at a follower is found, given up and replaced',
    },
  },
  {
    name: 'digest-not-compared-after-synchronization',
    area: 'named',
    in: 'DigestWatch.onSend',
    find: "if (message.kind !== 'upToDate') return;",
    replace: "if (message.kind !== 'upToDate' || state.lastZxid >= 0) return;",
    breaks: 'a member that was synchronized and has another state is found at once',
    scenario: {
      file: 'server/src/simulated/digests.test.ts',
      name: 'is found as soon as the member is synchronized, before anything more is written',
    },
  },
  {
    name: 'leader-durable-before-uptodate',
    area: 'named',
    in: 'Following.#onLeaderDurable',
    find: 'if (this.#serveFrom === null || !this.#replica.knows(zxid)) $BODY',
    replace: 'if (!this.#replica.knows(zxid)) $BODY',
    breaks: 'a learner commits nothing before UPTODATE: its epoch may never have a quorum',
    scenario: {
      file: 'server/src/zab/learner-counts.test.ts',
      name: 'before UPTODATE it commits nothing and leaves such a leader',
    },
  },
  {
    // Such a learner drops the link, so nothing is lost, but under load it could never join.
    name: 'leader-durable-told-to-all',
    area: 'named',
    in: 'Learners.tellDurable',
    find: 'for (const learner of this.synced()) $BODY',
    replace: 'for (const learner of this.all()) $BODY',
    breaks: 'a leader tells only synchronized learners what is durable at it',
    scenario: trace('diff-from-disk-while-writes-go-on'),
  },
  {
    // No write is lost by this: what was durable at both in one epoch was committed by that. The
    // simulator cannot catch it for that reason.
    name: 'leader-durable-survives-its-term',
    area: 'named',
    in: 'Following.constructor',
    find: 'this.#progressAtMs = member.nowMs;',
    replace: `this.#progressAtMs = member.nowMs;
      this.#leaderDurable = Following.#durableAtLeader.get(member) ?? 0;`,
    also: [
      {
        in: 'Following.#leaderDurable',
        find: '#leaderDurable: Zxid = 0;',
        replace: `static readonly #durableAtLeader = new WeakMap<Member, Zxid>();
          #leaderDurable: Zxid = 0;`,
      },
      {
        in: 'Following.#onLeaderDurable',
        find: 'this.#leaderDurable = Math.max(this.#leaderDurable, zxid);',
        replace: `this.#leaderDurable = Math.max(this.#leaderDurable, zxid);
          Following.#durableAtLeader.set(this.#replica, this.#leaderDurable);`,
      },
    ],
    breaks: 'what was durable at the leader of one term counts in no later term',
    scenario: {
      file: 'server/src/zab/learner-counts.test.ts',
      name: 'forgets with the term what was durable at the leader of that term',
    },
  },
  {
    name: 'learner-without-a-vote-counts-itself',
    area: 'named',
    in: 'Following.#onLeaderDurable',
    find: `if (this.#serveFrom === null || !this.#replica.knows(zxid)) {
        return this.#violation(\`leaderDurable of \${formatZxid(zxid)}\`);
      }`,
    replace: `const isBarred = this.#serveFrom === null && this.#replica.ensembleId !== '';
      if (isBarred || !this.#replica.knows(zxid)) {
        return this.#violation(\`leaderDurable of \${formatZxid(zxid)}\`);
      }`,
    breaks: 'a wiped or new member counts itself only once a leader has brought it up to date',
    scenario: {
      file: 'server/src/zab/learner-counts.test.ts',
      name: 'has no vote and commits nothing while it is wiped and being synchronized',
    },
  },
  {
    name: 'epoch-of-a-peer-not-judged',
    area: 'named',
    in: 'implausibleEpoch',
    find: 'return epoch <= epochMax ? null : $TEXT;',
    replace: 'return epoch <= Math.max(epochMax, EPOCH_MAX) ? null : $TEXT;',
    breaks: 'an epoch that nobody can have elected is refused',
    scenario: {
      file: JUDGE,
      name: 'may be so far ahead that elections fail for days, and no further',
    },
  },
  {
    name: 'old-copy-trusted-once-it-follows',
    area: 'named',
    in: 'Driver.#onConnected',
    find: "const isServing = this.shown.role !== 'looking';",
    replace: "const isServing = this.#zab.role !== 'looking';",
    breaks: 'a directory that went back keeps its vote only as part of a quorum that serves',
    scenario: {
      file: WENT_BACK,
      name: 'has no vote once somebody tells it, though it leads or follows and does not serve yet',
    },
  },
];
