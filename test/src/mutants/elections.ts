/**
 * Mutants of the core before broadcast: election, electorate, discovery, synchronization.
 */
import type { Mutant } from './mutant.js';

export const electionMutants: readonly Mutant[] = [
  {
    name: 'stale-vote-accepted',
    area: 'zab',
    breaks: 'a vote counts only in its own round',
    file: 'zab/looking.ts',
    find: 'if (vote.round !== round || !counts(this.#member, link, electorate)) continue;',
    replace: 'if (vote.round > round || !counts(this.#member, link, electorate)) continue;',
    also: [
      {
        file: 'zab/looking.ts',
        find: 'if (vote === null || vote.round !== this.#member.round) return false;',
        replace: 'if (vote === null || vote.round > this.#member.round) return false;',
      },
    ],
  },
  {
    name: 'vote-by-hearsay',
    area: 'zab',
    breaks: "a candidate is believed only by the candidate's own vote",
    aim: ['members=5', 'kinds=["partition-bridge","partition-flapping","crash-leader"]'],
    file: 'zab/looking.ts',
    find: "if (vote === null || vote.state !== 'looking' || vote.leader !== link.peer) continue;",
    replace: "if (vote === null || vote.state !== 'looking' || vote.leader === 0) continue;",
  },
  {
    name: 'damaged-member-votes',
    area: 'zab',
    breaks:
      'a member with a damaged disk does not vote until it has durably synchronized (invariant 9)',
    file: 'zab/electorate.ts',
    find: '  if (!sound) return {',
    replace: "  if (!sound && ensembleId === '') return {",
    also: [
      {
        file: 'zab/electorate.ts',
        find: 'if (link.vote === null || !link.vote.sound) return false;',
        replace: 'if (link.vote === null) return false;',
      },
      {
        file: 'zab/electorate.ts',
        find: 'return vote.sound && vote.ensembleId === ensembleId;',
        replace: 'return vote.ensembleId === ensembleId;',
      },
      {
        file: 'zab/zab.ts',
        find: '    if (!member.sound) member.giveUpMembership();\n',
        replace: '',
      },
    ],
  },
  {
    name: 'damaged-member-keeps-membership',
    area: 'zab',
    // After the snapshot a crash leaves a sound disk, an ensemble id, and a gap in its history.
    breaks: 'a damaged member gives up its vote on disk until it has synchronized',
    file: 'zab/zab.ts',
    find: '    if (!member.sound) member.giveUpMembership();\n',
    replace: '',
  },
  {
    name: 'epoch-promised-early',
    area: 'zab',
    breaks: 'acceptedEpoch is durable before ACKEPOCH reveals it (invariant 3)',
    file: 'zab/following.ts',
    find: 'this.#member.tickets.after(ticket, () => this.#member.send(link, this.#ackEpoch()));',
    replace: 'if (ticket > 0) this.#member.send(link, this.#ackEpoch());',
  },
  {
    name: 'epoch-entered-before-history',
    area: 'zab',
    breaks: 'currentEpoch is saved after the history of the epoch was taken over completely',
    file: 'zab/member.ts',
    find: '    this.#acceptedEpoch = epoch;\n',
    replace: '    this.#acceptedEpoch = epoch;\n    this.#currentEpoch = epoch;\n',
  },
  {
    name: 'discovery-counts-the-wiped',
    area: 'zab',
    breaks: 'only voters count in discovery: the promise of a wiped member proves nothing',
    file: 'zab/discovery.ts',
    find: 'if (!learners.mayElect(() => true)) return null;',
    replace: 'if (!learners.isQuorum(() => true)) return null;',
    also: [
      {
        file: 'zab/discovery.ts',
        find: 'return learners.mayElect(({ ackEpoch }) =>',
        replace: 'return learners.isQuorum(({ ackEpoch }) =>',
      },
    ],
  },
  {
    name: 'newer-history-ignored',
    area: 'zab',
    breaks: 'a leader steps down when it meets newer history in its quorum',
    file: 'zab/discovery.ts',
    find: 'return ack.last > history.last;',
    replace: 'return ack.last < 0 && history.last < 0;',
  },
  {
    name: 'newleader-acked-early',
    area: 'zab',
    breaks:
      'ACK(NEWLEADER) is sent only after the history and then currentEpoch are durable (invariant 4)',
    file: 'zab/following.ts',
    find: `    const { epoch, last } = message;
    this.#member.tickets.after(ticket, () => {`,
    replace: `    const { epoch, last } = message;
    this.#member.tickets.after(Math.min(0, ticket), () => {`,
  },
  {
    name: 'serves-before-newleader-quorum',
    area: 'zab',
    breaks: 'a leader serves once a quorum has acknowledged NEWLEADER',
    file: 'zab/leading.ts',
    find: `    if (!this.#learners.isQuorum(({ synced }) => synced)) return;
    this.#established = true;`,
    replace: `    if (this.syncedLearnerCount + 2 < this.#member.quorum) return;
    this.#established = true;`,
  },
  {
    name: 'trunc-forgotten',
    area: 'zab',
    breaks: 'a learner drops what its leader does not have',
    file: 'zab/following.ts',
    find: '      this.#member.truncate(message.after, message.diverged);\n',
    replace: '',
  },
  {
    name: 'diff-one-too-late',
    area: 'zab',
    breaks: 'DIFF continues from the exact common point',
    file: 'zab/catch-up.ts',
    find: 'history.slice(learner.sentThrough, last, ',
    replace: 'history.slice(Math.min(last, learner.sentThrough + 1), last, ',
  },
  {
    name: 'window-hands-out-a-gap',
    area: 'zab',
    breaks: 'history that is no longer in memory is read from disk',
    file: 'zab/catch-up.ts',
    find: 'if (learner.sentThrough < history.windowBase) {',
    replace: 'if (learner.sentThrough < 0) {',
    also: [
      {
        file: 'zab/history.ts',
        find: 'assert(after >= this.#windowBase, () =>',
        replace: 'assert(after >= 0, () =>',
      },
    ],
  },
  {
    name: 'held-messages-survive-the-role',
    area: 'zab',
    breaks: 'a role change discards messages that are held back',
    file: 'zab/tickets.ts',
    find: '    this.#held = [];\n',
    replace: '    this.#held = this.#held.slice();\n',
  },
  {
    name: 'disputes-never-seen',
    area: 'zab',
    breaks: 'a voter with the history of another leadership counts towards no quorum',
    aim: ['kinds=["two-leaderships","crash"]', 'members=3'],
    file: 'zab/discovery.ts',
    find: 'return member.lineage.firstConflict(ack.lineage) <= ack.currentEpoch;',
    replace: 'return member.lineage.firstConflict(ack.lineage) < 0;',
  },
  {
    name: 'lineage-never-conflicts',
    area: 'zab',
    breaks: 'equal zxids of unlike leaderships are unlike proposals',
    aim: ['kinds=["two-leaderships","crash"]', 'members=3'],
    file: 'zab/lineage.ts',
    find: 'if (own !== 0 && identity !== 0 && own !== identity) first',
    replace: 'if (own < 0 && identity !== 0 && own !== identity) first',
  },
];
