/**
 * Mutants that were written from the source of the core, its storage and its sessions alone,
 * without a look at what the simulator draws or checks.
 */
import type { Mutant } from './mutant.js';
import { VANISHING } from './sessions.js';

/** Short runs with many faults: where a bug shows at once, long ones only take time. */
const BRIEF = ['durationMs=6000', 'spreadMs=6000', 'faults=12', 'clients.thinkMaxMs=20'] as const;

/** A leader proposes while it reaches nobody, and returns after the next one was elected. */
const OVERTAKEN = [
  ...BRIEF,
  'kinds=["overtaken-leader"]',
  'members=3',
  'clients.readShare=0.2',
] as const;

/** Members lose their quorum for long, and offer reads. */
const READ_ONLY = [
  ...BRIEF,
  'members=3',
  'kinds=["isolate-follower","partition-halves","crash-several"]',
  'settings.readOnlyMode=true',
  'settings.peerTimeoutMs=200',
  'settings.peerHeartbeatMs=20',
  'clients.readOnlyReaders=3',
] as const;

/** Watches are set and removed while others write. */
const REMOVALS = [
  ...BRIEF,
  'clients.works=["removals","registers","families"]',
  'clients.count=6',
] as const;

/** Users meet znodes that are not for everybody. */
const SECRETS = [...BRIEF, 'clients.works=["secrets"]', 'clients.count=6'] as const;

/** Clients create as much as quotas allow, and more. */
const LIMITS = [...BRIEF, 'clients.works=["limits"]', 'clients.count=4'] as const;

/** Sessions with more ephemerals than one transaction deletes end all the time. */
const ENDS_IN_PARTS = [
  ...BRIEF,
  'members=3',
  'kinds=["crash-leader"]',
  'tuning.ephemeralsPerPart=1',
  'clients.hoards=true',
  'clients.closeEveryMs=1000',
  'clients.vanishEveryMs=0',
  'clients.readerShare=0',
] as const;

export const sourceMutants: readonly Mutant[] = [
  {
    name: 'truncation-leaves-durable',
    area: 'zab',
    breaks: 'what was truncated is not durable any more',
    aim: OVERTAKEN,
    in: 'History.truncate',
    find: 'this.#durable = Math.min(this.#durable, after);',
    replace: 'this.#durable = Math.max(this.#durable, after);',
  },
  {
    name: 'common-point-of-the-longer-log',
    area: 'zab',
    breaks: 'two logs have in common what the shorter one has',
    in: 'commonPoint',
    find: 'const last = Math.min(range.last, other.last);',
    replace: 'const last = Math.max(range.last, other.last);',
  },
  {
    name: 'applied-history-is-truncated',
    area: 'zab',
    breaks: 'what a learner has applied is replaced by a snapshot and never truncated',
    aim: [...BRIEF, 'kinds=["two-leaderships","crash"]', 'members=3'],
    in: 'planSync',
    find: 'if (common < learner.applied) $BODY',
    replace: 'if (common < learner.applied && learner.applied > learner.last) $BODY',
  },
  {
    name: 'earlier-answer-confirms',
    area: 'zab',
    breaks: 'a question is confirmed by answers that were given after it',
    aim: [...BRIEF, 'kinds=["isolate-leader","stall-long","partition-halves"]', 'members=3'],
    in: 'Confirmations.#maybeComplete',
    find: 'const answered = (learner: Learner) => learner.synced && learner.confirmedRound >= round;',
    replace:
      'const answered = (learner: Learner) => learner.synced && learner.confirmedRound >= Math.min(round, 1);',
  },
  {
    name: 'mark-lowered-after-the-cut',
    area: 'storage',
    breaks: 'the mark of the log is lowered before the log is cut: a crash is not damage',
    aim: OVERTAKEN,
    in: 'Storage.truncate',
    find: `if (after < this.#meta.value.recordedZxid) await this.#meta.change({ recordedZxid: after });
      await this.#liveGeneration().log.truncate(after);`,
    replace: `await this.#liveGeneration().log.truncate(after);
      if (after < this.#meta.value.recordedZxid) await this.#meta.change({ recordedZxid: after });`,
  },
  {
    name: 'giving-up-is-forgotten',
    area: 'storage',
    breaks: 'a member that gave up its history does not have it after a restart',
    aim: [...BRIEF, 'kinds=["two-leaderships","went-back","crash","crash-at-change"]', 'members=3'],
    in: 'Storage.giveUp',
    find: "damaged: reason, ensembleId: '', founded: false",
    replace: "ensembleId: '', founded: reason === ''",
  },
  {
    name: 'snapshot-leaves-the-damage',
    area: 'storage',
    breaks: 'a member with a fresh snapshot has a sound disk',
    aim: [...BRIEF, 'kinds=["flip-bit","crash"]', 'members=3'],
    in: 'Storage.installSnapshot',
    find: 'await this.#meta.change({ generation, damaged: null, level, ...facts });',
    replace: 'await this.#meta.change({ generation, level, ...facts });',
  },
  {
    name: 'renewed-lease-is-lost',
    area: 'sessions',
    breaks: 'a session whose deadline has moved is looked at again',
    aim: VANISHING,
    in: 'Leases.#examine',
    find: 'this.#putInBucket(lease);',
    replace: "assert(lease.timeoutMs > 0, 'it has a timeout');",
  },
  {
    name: 'delete-leaves-the-parent',
    area: 'state',
    breaks: 'the zxid of the last change of the children is that of a delete, too',
    in: 'ReplicatedState.#deleteFamily',
    find: 'tree.losesChildren(parent, at);',
    replace: 'if (children.length > 1) tree.losesChildren(parent, at);',
  },
  {
    name: 'persistent-watch-misses-children',
    area: 'state',
    breaks: 'a persistent watch hears of the children of its znode',
    aim: [...BRIEF, 'clients.works=["watches","families","own"]'],
    in: 'WatchTable.trigger',
    find: 'const all = this.#withPersistent(above, parent);',
    replace: 'const all: ReadonlySet<WatcherId> = above;',
  },
  {
    name: 'deleted-parent-is-not-told',
    area: 'state',
    breaks: 'a child watch hears that its own znode is deleted',
    aim: [...BRIEF, 'clients.works=["watches","families"]', 'clients.count=8'],
    in: 'WatchTable.trigger',
    find: "if (kind === 'deleted') $BODY",
    replace: "if (kind === 'deleted' && path === '/') $BODY",
  },
  {
    name: 'reap-ignores-what-is-in-flight',
    area: 'pipeline',
    breaks: 'a znode is removed for its age only where nothing in flight touches it',
    aim: [...BRIEF, 'tuning.containerCheckMs=50', 'clients.ttls=true', 'clients.works=["own"]'],
    in: 'TxnPreparer.prepareReap',
    find: 'if (node === NO_NODE || this.overlay.touches(pathViewOf(path))) return;',
    replace: 'if (node === NO_NODE) return;',
  },
  {
    name: 'leadership-without-identity',
    area: 'zab',
    breaks: 'a disk that holds a proposal also holds which leadership proposed it',
    in: 'Replica.enterEpoch',
    find: 'if (identity !== 0) this.lineage.set(epoch, identity);',
    replace: 'if (identity < 0) this.lineage.set(epoch, identity);',
  },
  {
    name: 'durable-here-is-durable-there',
    area: 'zab',
    breaks: 'a learner commits what is durable at its leader, too',
    aim: [...BRIEF, 'members=3', 'clients.outstandingMax=32', 'clients.readShare=0.2'],
    in: 'Following.#countQuorum',
    find: 'return this.#leaderDurable;',
    replace: 'return history.durable;',
  },
  {
    name: 'ephemeral-deleted-twice',
    area: 'pipeline',
    breaks: 'the end of a session deletes only what nothing in flight deletes',
    aim: ENDS_IN_PARTS,
    in: 'SessionEnds.#pathsToDelete',
    find: 'if (overlay.ownerOf(path) !== session) return true;',
    replace: 'if (overlay.ownerOf(path) !== session && session < 0) return true;',
  },
  {
    name: 'parts-in-flight-never-end',
    area: 'pipeline',
    breaks: 'the end of a session goes on when a part of it is applied',
    aim: ENDS_IN_PARTS,
    in: 'SessionEnds.applied',
    find: 'this.#deletesInFlight -= part.deletes;',
    replace: 'if (part.deletes < 0) this.#deletesInFlight -= part.deletes;',
  },
  {
    name: 'acl-not-captured',
    area: 'state',
    breaks: 'an ACL that was replaced is in the next checkpoint',
    aim: [...BRIEF, 'clients.works=["acls","own"]', 'kinds=["crash"]', 'members=3'],
    in: 'ReplicatedState.#setAcl',
    find: 'this.#capture.beforeChange(node);',
    replace: 'if (op.version > 1) this.#capture.beforeChange(node);',
  },
  {
    name: 'removal-of-all-leaves-one',
    area: 'pipeline',
    breaks: 'a removal of all watches of a path removes the persistent one, too',
    aim: REMOVALS,
    in: 'MODES_BY_TYPE',
    find: "['data', 'child', 'persistent', 'recursive']",
    replace: "['data', 'child', 'recursive']",
  },
  {
    name: 'removal-takes-a-neighbour',
    area: 'pipeline',
    breaks: 'a removal of child watches leaves the data watch of the path',
    aim: REMOVALS,
    in: 'MODES_BY_TYPE',
    find: "['child']",
    replace: "['child', 'data']",
  },
  {
    name: 'refused-read-ends-the-others',
    area: 'pipeline',
    breaks: 'each read of a multiRead is answered by itself',
    aim: [...BRIEF, 'clients.works=["readsAtOnce","registers"]'],
    in: 'readMany',
    find: 'return { opcode: OpCode.error, error: refused };',
    replace: `{
        work = MULTI_READ_WORK_MAX + 1;
        return { opcode: OpCode.error, error: refused };
      }`,
  },
  {
    name: 'ephemerals-below-the-prefix-alone',
    area: 'pipeline',
    breaks: 'a prefix of ephemerals is one of characters, not of segments',
    aim: [...BRIEF, 'clients.works=["ownEphemerals"]'],
    in: 'readEphemerals',
    find: 'path.startsWith(prefix)',
    replace: "path.startsWith(prefix.concat('/'))",
  },
  {
    name: 'mark-spares-one-proposal',
    area: 'storage',
    breaks: 'a log that ends one proposal before its mark is damaged',
    aim: [...BRIEF, 'kinds=["flip-last"]', 'members=3', 'clients.thinkMaxMs=200'],
    in: 'soundStorage',
    find: 'if (log.last < meta.recordedZxid) $BODY',
    replace: 'if (log.last + 1 < meta.recordedZxid) $BODY',
  },
  {
    name: 'read-only-write-looks-lost',
    area: 'pipeline',
    breaks: 'a write in read-only mode is answered -119',
    aim: READ_ONLY,
    in: 'Requests.#refuse',
    find: 'const code = ErrorCode.notReadOnly;',
    replace: 'const code = ErrorCode.connectionLoss;',
  },
  {
    name: 'reader-creates',
    area: 'pipeline',
    breaks: 'a create takes the permission to create below the parent',
    aim: SECRETS,
    in: 'decideCreate',
    find: 'if (!mayDo(context, parent.acl, Perms.create)) return ErrorCode.noAuth;',
    replace: 'if (!mayDo(context, parent.acl, Perms.create | Perms.read)) return ErrorCode.noAuth;',
  },
  {
    name: 'acl-in-flight-permits-nothing',
    area: 'pipeline',
    breaks: 'a write is decided by the newest ACL, also by one that is in flight',
    aim: [...SECRETS, 'clients.outstandingMax=32'],
    in: 'Overlay.setAcl',
    find: 'own.acl = acl;',
    replace: 'if (znode.acl.length === 0) own.acl = acl;',
  },
  {
    name: 'reads-at-once-show-everything',
    area: 'pipeline',
    breaks: 'each read of a multiRead takes the permission to read its znode',
    aim: SECRETS,
    in: 'refusal',
    find: 'return mayRead(scene, node) ? ErrorCode.ok : ErrorCode.noAuth;',
    replace: 'return mayRead(scene, node) || node > 0 ? ErrorCode.ok : ErrorCode.noAuth;',
  },
  {
    name: 'reads-go-on-as-before-the-proof',
    area: 'pipeline',
    breaks: 'what a connection has proven counts from its next request on',
    aim: SECRETS,
    in: 'ReadScenes.of',
    find: 'const isSame = last?.watcher === watcher && last.requester === requester;',
    replace: 'const isSame = last?.watcher === watcher;',
  },
  {
    name: 'auth-means-one-user',
    area: 'pipeline',
    breaks: 'the entry auth stands for all that a connection has proven to be',
    aim: SECRETS,
    in: 'legalAcl',
    find: "const meant = acl.scheme === 'auth' ? own.map((id) => ({ perms: acl.perms, ...id })) : [acl];",
    replace:
      "const meant = acl.scheme === 'auth' ? own.slice(0, 1).map((id) => ({ perms: acl.perms, ...id })) : [acl];",
  },
  {
    name: 'last-entry-of-a-user-counts',
    area: 'pipeline',
    breaks: 'all entries of a long ACL that name a user count together',
    aim: SECRETS,
    in: 'AclGrants.#add',
    find: 'this.#exact.set(scheme, ids.set(id, (ids.get(id) ?? 0) | perms));',
    replace: 'this.#exact.set(scheme, ids.set(id, perms));',
  },
  {
    name: 'shorter-data-stays-counted',
    area: 'state',
    breaks: 'what is set counts for the quota above it',
    aim: LIMITS,
    in: 'Quotas.dataGrew',
    find: 'if (this.#prefixes.count > 0) this.#count(op.path, { count: 0, bytes });',
    replace:
      'if (this.#prefixes.count > 0 && bytes > 0) this.#count(op.path, { count: 0, bytes });',
  },
  {
    name: 'quotas-are-forgotten-at-a-start',
    area: 'state',
    breaks: 'a member that starts knows which paths have a quota',
    aim: [...LIMITS, 'kinds=["crash","crash-leader"]'],
    in: 'Quotas.rebuild',
    find: 'this.#learn(limitedBy(path));',
    replace: 'this.#learn(measuredAt(path) && null);',
  },
  {
    name: 'limit-is-passed-by-one',
    area: 'pipeline',
    breaks: 'what is created counts before it is allowed',
    aim: LIMITS,
    in: 'QuotaGuard.refuses',
    find: 'const counted = { soft: limits.count, hard: limits.countHard, value: stats.count + count };',
    replace: 'const counted = { soft: limits.count, hard: limits.countHard, value: stats.count };',
  },
  {
    name: 'acl-version-is-not-checked',
    area: 'pipeline',
    breaks: 'a setAcl with a version changes only that version of the ACL',
    aim: [...BRIEF, 'clients.works=["acls"]', 'clients.readerShare=0'],
    in: 'decideSetAcl',
    find: 'if (version !== ANY_VERSION && version !== node.aversion) return ErrorCode.badVersion;',
    replace: 'if (version !== ANY_VERSION && version > node.aversion) return ErrorCode.badVersion;',
  },
];
