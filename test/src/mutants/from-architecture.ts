/**
 * Ten mutants written from ARCHITECTURE.md alone, before any checker or line of the simulator was
 * read: which promises of that page would a careless engineer break?
 *
 * Names, promises and mistakes were described first (see the history of this file), and the lines
 * in server/src looked up afterwards.
 */
import type { Mutant } from './mutant.js';
import { GONE_IN_DOUBT } from './sessions.js';

export const architectureMutants: readonly Mutant[] = [
  {
    name: 'arch-ack-when-emitted',
    area: 'architecture',
    // The ACK is sent together with the append, not when the ticket is persisted.
    breaks: 'ACK only once the append is durable (invariant 4)',
    in: 'Following.#onProposeMessage',
    find: 'this.#replica.append(batch);',
    replace: `this.#replica.append(batch);
      const link = this.#replica.linkOf(this.#leader);
      if (link === undefined || !this.#broadcasting()) return;
      this.#acked = this.#replica.history.last;
      this.#replica.send(link, { kind: 'ack', zxid: this.#acked });`,
  },
  {
    name: 'arch-half-is-a-quorum',
    area: 'architecture',
    // It makes no difference with three or five members, but every difference with two, four and
    // six.
    breaks: 'a quorum is more than half of the configured members',
    in: 'majorityOf',
    find: 'return Math.floor(members / 2) + 1;',
    replace: 'return Math.ceil(members / 2);',
  },
  {
    name: 'arch-same-epoch-from-anyone',
    area: 'architecture',
    breaks:
      'the same epoch is accepted again only from the member it was promised to, or an established one',
    in: 'Following.#onNewEpoch',
    find: 'acceptedFrom === this.#leader',
    replace: 'acceptedFrom >= 0',
    also: [
      {
        in: 'hasPromisedElsewhere',
        find: 'return learner.voter && !leader.established && !leader.acked;',
        replace: 'return false;',
      },
      {
        in: 'chooseEpoch',
        find: 'for (const learner of learners.all()) newest = Math.max(newest, learner.acceptedEpoch);',
        replace: 'newest = Math.max(newest, member.currentEpoch);',
      },
    ],
    // The leader also no longer ensures that it offers an epoch that is new to all.
  },
  {
    name: 'arch-wiped-member-votes',
    area: 'architecture',
    // An empty disk counts like any other: the wiped member votes, and the others count it.
    breaks: 'a member has a vote once it has durably synchronized with its ensemble (invariant 9)',
    in: 'electorateOf',
    find: "return { kind: 'none', reason: wipedText(member) };",
    replace: `if (member.id > 0) return { kind: 'members' };
      return { kind: 'none', reason: wipedText(member) };`,
    also: [
      {
        in: 'counts',
        find: "return electorate.kind === 'members' && isMemberOf(link.vote, member.ensembleId);",
        replace: "return electorate.kind === 'members' && member.id > 0;",
      },
    ],
  },
  {
    name: 'arch-sync-unconfirmed',
    area: 'architecture',
    breaks:
      'a sync asks a quorum, in a round that began after the question, whether this leader leads',
    in: 'Leading.onConfirm',
    find: 'this.#confirmations.ask(id);',
    replace: "this.#replica.emit({ kind: 'confirmed', id, zxid: this.#replica.history.last });",
  },
  {
    name: 'arch-read-overtakes-write',
    area: 'architecture',
    // Only syncs delay reads.
    breaks: 'a read waits for the earlier writes of its session (invariant 6)',
    in: 'Requests.#onRead',
    find: 'const isIdle = queue.length === 0;',
    replace: "const isIdle = queue.head?.kind !== 'sync';",
  },
  {
    name: 'arch-write-overtakes-read',
    area: 'architecture',
    // A write is applied while reads before it still wait for space in the client's output.
    breaks: 'before a write is applied the reads of its session before it have run (invariant 7)',
    in: 'Requests.onApplying',
    find: 'if (this.#parked.size === 0) return null;',
    replace: 'if (this.#parked.size >= 0) return null;',
  },
  {
    name: 'arch-stall-counts-for-expiry',
    area: 'architecture',
    breaks: 'the clock of deadlines does not count time in which the leader itself was suspended',
    aim: ['members=1', 'kinds=["stall-long"]', 'faults=8', 'clients.vanishEveryMs=0'],
    in: 'LeaseClock.read',
    find: 'this.#elapsedMs += Math.min(stepMs, this.#stepMaxMs);',
    replace: 'this.#elapsedMs += Math.max(stepMs, Math.min(stepMs, this.#stepMaxMs));',
  },
  {
    name: 'arch-capture-misses-change',
    area: 'architecture',
    // What changes during a capture is captured in its later state.
    breaks:
      'whatever changes during a capture is captured first: a checkpoint is exact at one zxid',
    in: 'Capture.beforeChange',
    find: 'this.#captureIfFrozen(node);',
    replace: '',
    also: [
      {
        in: 'Capture.#captureNodes',
        find: 'this.#tree.mark(node) === this.#generation - 1',
        replace: 'this.#tree.mark(node) >= this.#generation - 1',
      },
    ],
  },
  {
    name: 'arch-gone-unconfirmed',
    area: 'architecture',
    breaks: 'the end of a session is reported only after a quorum has confirmed the leader',
    aim: GONE_IN_DOUBT,
    in: 'LeaderService.#onAttach',
    find: `if (attached.valid) this.#driver.answer(origin, attached);
      else this.confirmed.add({ origin, afterApply: true, answer: () => attached });`,
    replace: 'this.#driver.answer(origin, attached);',
  },
];
