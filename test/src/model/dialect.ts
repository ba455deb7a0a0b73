/**
 * Where Rookery and ZooKeeper 3.8.0 differ in what a client can see, one entry each, with a reason.
 *
 * The model speaks either dialect. The same sequences are run against both products, each with its
 * own dialect, so a difference that is not in this list fails the differential test. Some of the
 * differences are partly a race in ZooKeeper, which the runs avoid there: a write after a setACL or
 * after a malformed multi, a sync by a client of the leader, and checkWatches after a connection
 * ended.
 */

export interface Divergence {
  /** The name in docs/compatibility.md. */
  readonly name: string;
  readonly what: string;
  readonly rookery: string;
  readonly zooKeeper: string;
  readonly why: string;
}

export const DIVERGENCES = {
  eventsCarryZxid: {
    name: 'watch events',
    what: 'the zxid in a watch event',
    rookery: 'that of the change; -1 in what setWatches reports (as 3.9.0)',
    zooKeeper: 'always -1',
    why: 'a client can tell which change it has seen (ZK-4655)',
  },
  existsNeedsRead: {
    name: 'exists without READ',
    what: 'exists on a znode that the client may not read',
    rookery: '-102 and no watch (as 3.9.2)',
    zooKeeper: 'its Stat, and the watch is set',
    why: 'a Stat reveals facts about data and children (ZK-2590)',
  },
  aclCountsAtOnce: {
    name: 'ACLs of requests in flight',
    what: 'requests pipelined behind a setACL',
    rookery: 'are checked against the new list',
    zooKeeper: 'are checked against the old one until the setACL is applied, a race',
    why: 'a session sees its own writes (on ZooKeeper a write awaits the setACL before it)',
  },
  syncSeesEverything: {
    name: 'sync',
    what: 'sync by a client of the leader',
    rookery: 'what was proposed when the request arrived is applied before the reply',
    zooKeeper: 'answered like a read: a write that a follower has already answered may be missing',
    why: 'sync and a read are linearizable (there a write is the barrier instead)',
  },
  hiddenWatchesStay: {
    name: 'watches without READ',
    what: 'the watch of a znode that changes while the client may not read it',
    rookery: 'stays, setWatches sets it again, and nothing is reported',
    zooKeeper: "used up in silence (Debian's 3.8.0), and setWatches reports the change",
    why: 'that it changed is a secret too (CVE-2024-23944), and checkWatches shows watches',
  },
  watchModesCoexist: {
    name: 'watch modes',
    what: 'several watch modes of one client on one path',
    rookery: 'side by side (as 3.9)',
    zooKeeper: 'the last one set replaces the others, and its firing may take all away',
    why: 'getData with a watch must not end a persistent watch (ZK-4466)',
  },
  watchesRemovedByMode: {
    name: 'types of watches',
    what: 'checkWatches and removeWatches with the types 1 to 5',
    rookery: '1 and 2 mean one-shot watches, 4 and 5 persistent ones (as 3.9)',
    zooKeeper: '1 and 2 mean whatever is in the table, 4 and 5 are unknown: -5',
    why: 'a persistent watch can be removed by itself (ZK-4472)',
  },
  checksOwnWatches: {
    name: 'checkWatches',
    what: 'checkWatches',
    rookery: 'reports the watches of the client that asks',
    zooKeeper: 'reports those of any client of the same member',
    why: 'the question is about the own watch (there not asked once a connection has ended)',
  },
  emptyPathIsNothing: {
    name: 'the empty path in reads',
    what: 'a read of the empty path',
    rookery: '-101',
    zooKeeper: 'taken for /',
    why: 'no client sends it',
  },
  malformedLeavesNothing: {
    name: 'a malformed multi',
    what: 'a multi with a TTL flag on an operation without a time to live, answered -5',
    rookery: 'leaves nothing behind',
    zooKeeper: 'requests behind it see what precedes that operation, until it is applied: a race',
    why: 'it never happened (there a write awaits such a multi)',
  },
  localEphemeralsAlike: {
    name: 'ephemerals of local sessions',
    what: 'an ephemeral create in a multi of a local session',
    rookery: '-120, as everywhere',
    zooKeeper: '-120 at the leader, -112 at a follower',
    why: 'the session has not expired',
  },
} as const satisfies Readonly<Record<string, Divergence>>;

/** True where the product behaves as Rookery does. */
export type Dialect = Readonly<Record<keyof typeof DIVERGENCES, boolean>> & {
  /** Whether opcodes are served that no ZooKeeper has. */
  readonly hasPages: boolean;
};

export const ROOKERY: Dialect = {
  eventsCarryZxid: true,
  existsNeedsRead: true,
  aclCountsAtOnce: true,
  syncSeesEverything: true,
  hiddenWatchesStay: true,
  watchModesCoexist: true,
  watchesRemovedByMode: true,
  checksOwnWatches: true,
  emptyPathIsNothing: true,
  malformedLeavesNothing: true,
  localEphemeralsAlike: true,
  hasPages: true,
};

export const ZOOKEEPER_3_8_0: Dialect = {
  eventsCarryZxid: false,
  existsNeedsRead: false,
  aclCountsAtOnce: false,
  syncSeesEverything: false,
  hiddenWatchesStay: false,
  watchModesCoexist: false,
  watchesRemovedByMode: false,
  checksOwnWatches: false,
  emptyPathIsNothing: false,
  malformedLeavesNothing: false,
  localEphemeralsAlike: false,
  hasPages: false,
};
