/**
 * Mutants of the core before broadcast: election, electorate, discovery, synchronization.
 */
import type { Mutant } from './mutant.js';

export const electionMutants: readonly Mutant[] = [
  {
    name: 'stale-vote-accepted',
    area: 'zab',
    breaks: 'a vote counts only in its own round',
    in: 'Looking.#best',
    find: 'if (vote.round !== round || !counts(this.#replica, link, electorate)) continue;',
    replace: 'if (vote.round > round || !counts(this.#replica, link, electorate)) continue;',
    also: [
      {
        in: 'Looking.#agrees',
        find: 'if (vote === null || vote.round !== this.#replica.round) return false;',
        replace: 'if (vote === null || vote.round > this.#replica.round) return false;',
      },
    ],
  },
  {
    name: 'vote-by-hearsay',
    area: 'zab',
    breaks: "a candidate is believed only by the candidate's own vote",
    aim: ['members=5', 'kinds=["partition-bridge","partition-flapping","crash-leader"]'],
    in: 'Looking.#best',
    find: "if (vote === null || vote.state !== 'looking' || vote.leader !== link.peer) continue;",
    replace: "if (vote === null || vote.state !== 'looking' || vote.leader === 0) continue;",
  },
  {
    name: 'damaged-member-votes',
    area: 'zab',
    breaks:
      'a member with a damaged disk does not vote until it has durably synchronized (invariant 9)',
    in: 'electorateOf',
    find: "if (!sound) return { kind: 'none', reason: damagedText(member) };",
    replace:
      "if (!sound && ensembleId === '') return { kind: 'none', reason: damagedText(member) };",
    also: [
      {
        in: 'counts',
        find: 'if (link.vote === null || !link.vote.sound) return false;',
        replace: 'if (link.vote === null) return false;',
      },
      {
        in: 'isMemberOf',
        find: 'return vote.sound && vote.ensembleId === ensembleId;',
        replace: 'return vote.ensembleId === ensembleId;',
      },
      {
        in: 'Zab.#start',
        find: 'if (!member.sound) member.giveUpMembership();',
        replace: '',
      },
    ],
  },
  {
    name: 'damaged-member-keeps-membership',
    area: 'zab',
    // After the snapshot a crash leaves a sound disk, an ensemble id, and a gap in its history.
    breaks: 'a damaged member gives up its vote on disk until it has synchronized',
    in: 'Zab.#start',
    find: 'if (!member.sound) member.giveUpMembership();',
    replace: '',
  },
  {
    name: 'epoch-promised-early',
    area: 'zab',
    breaks: 'acceptedEpoch is durable before ACKEPOCH reveals it (invariant 3)',
    in: 'Following.#onNewEpoch',
    find: 'this.#replica.tickets.after(ticket, () => this.#replica.send(link, this.#ackEpoch()));',
    replace: 'if (ticket > 0) this.#replica.send(link, this.#ackEpoch());',
  },
  {
    name: 'epoch-entered-before-history',
    area: 'zab',
    breaks: 'currentEpoch is saved after the history of the epoch was taken over completely',
    in: 'Replica.acceptEpoch',
    find: 'return this.#saveEpochs();',
    replace: `this.#currentEpoch = epoch;
      return this.#saveEpochs();`,
  },
  {
    name: 'discovery-counts-the-wiped',
    area: 'zab',
    breaks: 'only voters count in discovery: the promise of a wiped member proves nothing',
    in: 'chooseEpoch',
    find: 'if (!learners.mayElect(() => true)) return null;',
    replace: 'if (!learners.isQuorum(() => true)) return null;',
    also: [
      {
        in: 'hasEpochQuorum',
        find: 'return learners.mayElect($FN);',
        replace: 'return learners.isQuorum($FN);',
      },
    ],
  },
  {
    name: 'newer-history-ignored',
    area: 'zab',
    breaks: 'a leader steps down when it meets newer history in its quorum',
    in: 'isNewer',
    find: 'return ack.last > history.last;',
    replace: 'return ack.last < 0 && history.last < 0;',
  },
  {
    name: 'newleader-acked-early',
    area: 'zab',
    breaks:
      'ACK(NEWLEADER) is sent only after the history and then currentEpoch are durable (invariant 4)',
    in: 'Following.#onNewLeader',
    find: 'this.#replica.tickets.after(ticket, $FN);',
    replace: 'this.#replica.tickets.after(Math.min(0, ticket), $FN);',
  },
  {
    name: 'serves-before-newleader-quorum',
    area: 'zab',
    breaks: 'a leader serves once a quorum has acknowledged NEWLEADER',
    in: 'Leading.#maybeEstablish',
    find: 'if (!this.#learners.isQuorum(({ synced }) => synced)) return;',
    replace: 'if (this.syncedLearnerCount + 2 < this.#replica.quorum) return;',
  },
  {
    name: 'trunc-forgotten',
    area: 'zab',
    breaks: 'a learner drops what its leader does not have',
    in: 'Following.#onSyncStart',
    find: 'this.#replica.truncate(message.after, message.diverged);',
    replace: '',
  },
  {
    name: 'diff-one-too-late',
    area: 'zab',
    breaks: 'DIFF continues from the exact common point',
    in: 'CatchUp.#continue',
    find: 'const parts = history.slice(learner.sentThrough, last, options.chunkBytesMax);',
    replace:
      'const parts = history.slice(Math.min(last, learner.sentThrough + 1), last, options.chunkBytesMax);',
  },
  {
    name: 'window-hands-out-a-gap',
    area: 'zab',
    breaks: 'history that is no longer in memory is read from disk',
    in: 'CatchUp.#continue',
    find: 'if (learner.sentThrough < history.windowBase) $BODY',
    replace: 'if (learner.sentThrough < 0) $BODY',
    also: [
      {
        in: 'History.slice',
        find: 'assert(after >= this.#windowBase, () => $TEXT);',
        replace: 'assert(after >= 0, () => $TEXT);',
      },
    ],
  },
  {
    name: 'held-messages-survive-the-role',
    area: 'zab',
    breaks: 'a role change discards messages that are held back',
    in: 'Tickets.forget',
    find: 'this.#held = [];',
    replace: 'this.#held = this.#held.slice();',
  },
  {
    name: 'disputes-never-seen',
    area: 'zab',
    breaks: 'a voter with the history of another leadership counts towards no quorum',
    aim: ['kinds=["two-leaderships","crash"]', 'members=3'],
    in: 'disputes',
    find: 'return member.lineage.firstConflict(ack.lineage) <= ack.currentEpoch;',
    replace: 'return member.lineage.firstConflict(ack.lineage) < 0;',
  },
  {
    name: 'lineage-never-conflicts',
    area: 'zab',
    breaks: 'equal zxids of unlike leaderships are unlike proposals',
    aim: ['kinds=["two-leaderships","crash"]', 'members=3'],
    in: 'Lineage.firstConflict',
    find: 'if (own !== 0 && identity !== 0 && own !== identity) first = Math.min(first, epoch);',
    replace: 'if (own < 0 && identity !== 0 && own !== identity) first = Math.min(first, epoch);',
  },
];
