// Ten mutants written from ARCHITECTURE.md alone, before any checker or line of the simulator was
// read: which promises of that page would a careless engineer break? Described first, in this
// commit; the patches follow once their lines are looked up in server/src.

/** What is to be broken, in the words of ARCHITECTURE.md. */
export interface Description {
  readonly name: string;
  /** The promise, as the page gives it. */
  readonly promise: string;
  /** What the careless engineer writes instead. */
  readonly slip: string;
}

export const descriptions: readonly Description[] = [
  {
    name: 'arch-ack-when-emitted',
    promise: 'ACK only once the append is durable (invariant 4)',
    slip: 'the follower sends its ACK together with the append, not when the ticket is persisted',
  },
  {
    name: 'arch-half-is-a-quorum',
    promise: 'quorum: more than half of the configured voters; committed: logged by a quorum',
    slip: 'half of the voters are enough to commit: nothing is different among three or five, all is among two or four',
  },
  {
    name: 'arch-same-epoch-from-anyone',
    promise:
      'a learner accepts a higher epoch, or the same one again only from the leader it was promised to or from an established one',
    slip: 'an equal epoch is accepted from whoever proposes it',
  },
  {
    name: 'arch-wiped-member-votes',
    promise:
      'a member has a vote once it durably synced with its ensemble and its disk is sound (invariant 9)',
    slip: 'an empty disk is as good as any other: its member votes at once',
  },
  {
    name: 'arch-sync-unconfirmed',
    promise:
      'a sync asks a quorum, in a round trip that began after the question, whether this leader still leads',
    slip: 'the leader answers from what it believes itself',
  },
  {
    name: 'arch-read-overtakes-write',
    promise:
      'a read runs at once unless an earlier write or sync of its session is pending (invariant 6)',
    slip: 'only syncs hold reads up: a session may not see its own write',
  },
  {
    name: 'arch-write-overtakes-read',
    promise:
      'before a write is applied the reads of its session before it have run; zxids in replies never fall (invariant 7)',
    slip: 'a write is handed on while reads before it are still waiting',
  },
  {
    name: 'arch-stall-counts-for-expiry',
    promise:
      'deadlines run in a clock that does not count time in which the leader itself was stopped',
    slip: 'deadlines are compared with the plain monotonic clock',
  },
  {
    name: 'arch-capture-misses-change',
    promise:
      'a capture is taken in slices, and whatever changes meanwhile is captured first: a checkpoint is exact at one zxid',
    slip: 'what changes while a capture is under way is captured as it stands then, after the change',
  },
  {
    name: 'arch-gone-unconfirmed',
    promise: 'that a session is gone is told only after a quorum has confirmed the leader',
    slip: 'the leader says so from its own state: a deposed one refuses sessions that live',
  },
];
