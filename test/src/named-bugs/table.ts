/**
 * The consistency bugs that ZooKeeper had, each with the scenario here that would detect it.
 *
 * `issues` are numbers of the ZOOKEEPER project; issues with one cause are in one row. Each
 * scenario fails on a mutant that has the bug (`mutants/named/main.ts` runs them). Where this
 * design excludes the cause, the scenario asserts the invariant that excludes it, and the mutant
 * breaks that invariant. This file contains only data; table.test.ts checks that everything named
 * exists.
 */

export interface NamedBug {
  readonly issues: readonly number[];
  /** What went wrong in ZooKeeper. */
  readonly wrong: string;
  /** `trace`: the core alone. `unit`: a part of a member, with its real collaborators. */
  readonly kind: 'trace' | 'members in memory' | 'unit';
  /**
   * The file with the scenario, from the root of the repository; the scenario's name contains all
   * issues.
   */
  readonly where: string;
  /** The mutant in mutants/named, which knows the scenario's full name. */
  readonly mutant: string;
}

function traced(name: string): Pick<NamedBug, 'kind' | 'where'> {
  return { kind: 'trace', where: `test/traces/${name}.txt` };
}
function unit(file: string): Pick<NamedBug, 'kind' | 'where'> {
  return { kind: 'unit', where: `test/src/named-bugs/${file}.test.ts` };
}
function members(file: string): Pick<NamedBug, 'kind' | 'where'> {
  return { kind: 'members in memory', where: `test/src/named-bugs/${file}.test.ts` };
}

export const namedBugs: readonly NamedBug[] = [
  {
    issues: [1154],
    wrong:
      'an uncommitted zxid of a returning leader was within the range of the new log, so no TRUNC was sent',
    ...traced('zk-1154-returning-leader'),
    mutant: 'zk-1154-diff-by-number',
  },
  {
    issues: [1549],
    wrong: 'a leader wrote a snapshot with uncommitted proposals before it had a quorum',
    ...traced('zk-1549-checkpoint-before-quorum'),
    mutant: 'zk-1549-log-applied-at-start',
  },
  {
    issues: [2678, 2845],
    wrong: 'the tree was kept in memory over elections, with what TRUNC took out of the log',
    ...traced('zk-2845-kept-in-memory'),
    mutant: 'zk-2845-trunc-spares-memory',
  },
  {
    issues: [2355, 4678],
    wrong: 'a follower lost the proposal of a closeSession and considered itself in sync',
    ...traced('zk-2355-lost-proposal'),
    mutant: 'zk-2355-commit-of-what-is-missing',
  },
  {
    issues: [2355, 4678, 919],
    wrong: 'an ephemeral stayed on one replica after its follower was cut off or killed',
    ...members('sessions'),
    mutant: 'zk-4678-in-sync-one-proposal-short',
  },
  {
    issues: [1367],
    wrong: 'ephemerals of sessions that were gone stayed after a restart of all',
    ...members('sessions'),
    mutant: 'zk-1367-ephemerals-forgotten-at-restart',
  },
  {
    issues: [1208],
    wrong: 'a create that was in flight after the close of its session left an ephemeral forever',
    ...unit('sessions'),
    mutant: 'zk-1208-create-behind-the-close',
  },
  {
    issues: [3642],
    wrong:
      'a snapshot was in memory and not on disk when its leader died, and a DIFF continued from it',
    ...traced('zk-3642-snapshot-without-newleader'),
    mutant: 'zk-3642-snapshot-in-memory-only',
  },
  {
    issues: [5094],
    wrong: 'an interrupted TRUNC left memory ahead of the log, and then a gap in the log',
    ...traced('zk-5094-trunc-without-newleader'),
    mutant: 'zk-5094-trunc-in-memory-only',
  },
  {
    issues: [3023, 3911],
    wrong:
      'a new leader served while what it considered committed was not on the disks of a quorum',
    ...traced('zk-3911-leader-serves-after-quorum-is-durable'),
    mutant: 'zk-3911-serves-before-acks',
  },
  {
    issues: [4646],
    wrong: 'ACK(NEWLEADER) could be sent before the history that it acknowledges was synced',
    ...traced('zk-4646-ack-after-sync'),
    mutant: 'zk-4646-said-one-write-early',
  },
  {
    issues: [4643],
    wrong: 'currentEpoch was written before the history of that epoch',
    ...traced('zk-4643-history-before-epoch'),
    mutant: 'zk-4643-epoch-before-history',
  },
  {
    issues: [4685],
    wrong: 'the ACK of a proposal overtook ACK(NEWLEADER), and the leader shut down',
    ...traced('zk-4685-ack-in-order'),
    mutant: 'zk-4685-ack-before-newleader',
  },
  {
    issues: [4394],
    wrong: 'a follower failed at a COMMIT between NEWLEADER and UPTODATE',
    ...traced('zk-4394-commit-before-uptodate'),
    mutant: 'zk-4394-commit-before-uptodate',
  },
  {
    issues: [4712],
    wrong: 'the log thread of an ended role continued, and wrote an old epoch into the new log',
    ...traced('zk-4712-old-writes-complete-late'),
    mutant: 'zk-4712-votes-over-old-writes',
  },
  {
    issues: [4785],
    wrong: 'uncommitted proposals of a DIFF were acknowledged and then lost',
    ...traced('zk-4785-uncommitted-diff'),
    mutant: 'zk-4785-newleader-acked-at-once',
  },
  {
    issues: [4925],
    wrong: 'proposals received by synchronization were missing in memory, so later DIFFs had a gap',
    ...traced('zk-4925-hole-after-sync'),
    mutant: 'zk-4925-hole-in-memory',
  },
  {
    issues: [2846, 2418],
    wrong: 'DIFF was served from a log that did not reach back, or had a gap',
    ...traced('zk-2846-log-with-a-purged-start'),
    mutant: 'zk-2846-diff-from-a-log-too-short',
  },
  {
    issues: [4352],
    wrong: 'an empty joiner received DIFF instead of SNAP',
    ...traced('zk-4352-empty-joiner'),
    mutant: 'zk-4352-diff-for-the-empty',
  },
  {
    issues: [3526],
    wrong: 'a read-only server wrote transactions of its own, and a TRUNC wiped its data later',
    ...members('read-only'),
    mutant: 'zk-3526-read-only-sessions-written',
  },
  {
    issues: [4837],
    wrong: 'after TRUNC a snapshot newer than the truncation point was loaded',
    ...traced('zk-4837-checkpoint-and-trunc'),
    mutant: 'zk-4837-checkpoint-of-the-uncommitted',
  },
  {
    issues: [4837],
    wrong: 'the same on the disk: a snapshot was being written while the log was truncated',
    ...unit('disks'),
    mutant: 'zk-4837-truncated-below-a-checkpoint',
  },
  {
    issues: [1653, 2354, 2307, 4269],
    wrong: 'epochs, log and snapshot were written apart: a crash between them was fatal',
    ...traced('zk-1653-epochs-and-log-apart'),
    mutant: 'zk-1653-promise-not-written',
  },
  {
    issues: [1653, 2354, 2307, 4269, 335, 3608],
    wrong: 'the same on whole members: they did not start, voted wrongly, or elected without end',
    ...members('disks'),
    mutant: 'zk-4269-history-above-its-epoch-refused',
  },
  {
    issues: [1817, 1818, 1732],
    wrong: 'votes of late and stale peers kept a joiner from ever following',
    ...traced('zk-1817-mixed-rounds'),
    mutant: 'zk-1817-round-not-taken-over',
  },
  {
    issues: [582, 917],
    wrong: 'a server with only a snapshot came up with too low an epoch, and the wrong server led',
    ...traced('zk-582-only-a-checkpoint'),
    mutant: 'zk-582-epoch-of-the-log-alone',
  },
  {
    issues: [3127],
    wrong: 'half a multi was in a fuzzy snapshot, and the other half never replayed',
    ...unit('exact-checkpoints'),
    mutant: 'zk-3127-fuzzy-checkpoint',
  },
  {
    issues: [3144],
    wrong: 'a fuzzy snapshot had ephemerals without their sessions',
    ...unit('exact-checkpoints'),
    mutant: 'zk-3144-sessions-captured-late',
  },
  {
    issues: [3249],
    wrong: 'replay over a fuzzy snapshot reset cversion and pzxid to older values',
    ...unit('exact-checkpoints'),
    mutant: 'zk-3249-parent-captured-late',
  },
  {
    issues: [3306, 4846, 4689],
    wrong: 'a snapshot lacked ACLs that its znodes named: wrong ACLs, or no start',
    ...unit('exact-checkpoints'),
    mutant: 'zk-3306-shared-acl-dropped',
  },
  {
    issues: [2325, 3056, 3644],
    wrong: 'without its snapshot, or with an empty one, a server came up with an empty tree',
    ...members('disks'),
    mutant: 'zk-2325-empty-tree-accepted',
  },
  {
    issues: [2325, 3056],
    wrong: 'the same for a standalone server, to which nobody can send a snapshot',
    ...members('disks'),
    mutant: 'zk-3056-empty-tree-served',
  },
  {
    issues: [2332, 1621],
    wrong: 'an incomplete record at the end of the last log kept a server from starting',
    ...unit('log-files'),
    mutant: 'zk-2332-torn-write-blocks-start',
  },
  {
    issues: [4813],
    wrong: 'a log whose header was never written kept a server from starting',
    ...unit('log-files'),
    mutant: 'zk-4813-torn-header-blocks-start',
  },
  {
    issues: [3496, 4306, 2101],
    wrong: 'transactions were accepted that were too large to be read back',
    ...members('limits'),
    mutant: 'zk-3496-peers-read-no-more-than-clients-send',
  },
  {
    issues: [1277, 2789, 4883],
    wrong: 'the counter of a zxid overflowed into its epoch',
    ...traced('zk-1277-counter-rollover'),
    mutant: 'zk-1277-leads-past-the-last-zxid',
  },
  {
    issues: [1277, 2789, 4883],
    wrong: 'the same on whole members, whose leader assigns the zxids',
    ...members('limits'),
    mutant: 'zk-2789-counter-runs-into-the-epoch',
  },
  {
    issues: [1675, 2136],
    wrong: 'a deposed leader served sync, and reads after it were stale',
    ...traced('zk-1675-cut-off-leader'),
    mutant: 'zk-1675-confirms-by-itself',
  },
  {
    issues: [4814],
    wrong: 'old clients received a byte that they took for the beginning of the next frame',
    ...unit('handshake'),
    mutant: 'zk-4814-read-only-byte-for-everybody',
  },
  {
    issues: [4508],
    wrong: 'a client ran in an endless loop while all servers were down',
    ...unit('clients'),
    mutant: 'zk-4508-no-pause-between-rounds',
  },
  {
    issues: [1412],
    wrong: 'watches were triggered inconsistently after a reconnect',
    ...unit('watches'),
    mutant: 'zk-1412-children-by-the-wrong-zxid',
  },
  {
    issues: [4466],
    wrong: 'a watch of one mode replaced that of another on the same path',
    ...unit('watches'),
    mutant: 'zk-4466-one-mode-a-path',
  },
  {
    issues: [4471],
    wrong: 'removing child watches broke a persistent one',
    ...unit('watches'),
    mutant: 'zk-4471-children-takes-persistent',
  },
  {
    issues: [4472],
    wrong: 'persistent watches could not be removed by themselves',
    ...unit('watches'),
    mutant: 'zk-4472-persistent-takes-all',
  },
  {
    issues: [4475],
    wrong: 'recursive watches received NodeChildrenChanged',
    ...unit('watches'),
    mutant: 'zk-4475-recursive-hears-children',
  },
  {
    issues: [4655],
    wrong: 'an event did not identify the change that it reports',
    ...unit('watches'),
    mutant: 'zk-4655-events-without-a-zxid',
  },
  {
    issues: [4203],
    wrong: 'an error in accept was ignored, and the server accepted no more connections',
    ...unit('sockets'),
    mutant: 'zk-4203-deaf-after-accept-failed',
  },
  {
    issues: [1506, 2982],
    wrong: 'the addresses behind peers’ names were looked up once',
    ...unit('sockets'),
    mutant: 'zk-1506-peer-resolved-once',
  },
  {
    issues: [2184],
    wrong: 'a client looked up the addresses behind its servers’ names once',
    ...unit('clients'),
    mutant: 'zk-2184-server-resolved-once',
  },
];
