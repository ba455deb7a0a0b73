/**
 * The named events that a campaign must have seen: marks, each with one sentence.
 *
 * A property that holds in a campaign says nothing about a situation in which no run ever was. So
 * each run counts these events as its observations pass, and a long campaign that lacks one of them
 * fails. It is a listener like the checkers, and never breaks a property.
 */
import { ErrorCode, type Zxid } from '@rookery/protocol';
import type { ZabOutput } from '../../simulated.js';
import { isWrite } from '../checkers/clients/part.js';
import type { Checker } from '../contract/checker.js';
import type { ReadOnlySeen, Reply } from '../contract/history.js';
import type {
  Applied,
  ClockSet,
  DiskStruck,
  Gone,
  Started,
  Step,
} from '../contract/observation.js';

export const MARKS = {
  'diff-sent': 'a leader brings a learner up to date with proposals that it lacks',
  'trunc-sent': 'a leader makes a learner drop the end of its log',
  'snap-sent': 'a leader replaces the history of a learner with a snapshot',
  'snapshot-installed': 'a learner installs a snapshot, which begins a log and its mark again',
  truncated: 'a member truncates its log',
  'went-back-met': 'a member learns from another one that its directory is an old copy',
  'history-disputed': 'a leader meets a voter that obeyed another leadership of its epoch',
  'history-given-up': 'a member gives up its history, which is not that of the ensemble',
  'divergence-discarded': 'a member drops proposals of another leadership and keeps them aside',
  'former-list-counted': 'a member votes while an earlier list of members counts, too',
  'serving-ended': 'a member that served clients stops, as its lease or its role has ended',
  'no-leader-found': 'a member stops an attempt to lead or to follow before it has served',
  'promise-recovered': 'a start finds a promise to a leader that the member has not followed',
  'damaged-start': 'a member finds damage on its disk as it starts',
  'damage-met': 'a member that runs finds damage on its disk',
  'damage-repaired': 'a member that runs has repaired its disk from what it has in memory',
  'log-given-up-at-start': 'a start destroys damaged segments that only learners could need',
  'suffix-recovered': 'a start finds proposals after the checkpoint in its log',
  'ended-by-its-disk': 'a failed or full disk ends a member',
  'stepped-out': 'a follower with a full disk leaves a leader that does without it',
  'handed-over': 'a leader with a full disk leaves the lead to members with room',
  'data-refused': 'a leader refuses data, because members with room are no quorum',
  'struck-again':
    'a disk is struck while its member, or another one, has not served since a strike',
  'wiped-disk': 'a disk is replaced with an empty one',
  'last-record-flipped': 'the newest write in a log is damaged while its member is down',
  'flipped-end-cut': 'a start takes a damaged end of the log for a write that never ended',
  'flipped-end-reported': 'a start knows that the damaged end of its log was durable',
  'restored-copy': 'an old copy replaces the directories of a member',
  'wrong-clock': 'the wall clock of a member is set to a wrong time',
  'clock-contradicted': 'the clocks of most members contradict that of a member',
  'acl-changed': 'the ACL of a znode is replaced',
  'reads-at-once': 'several reads are answered together, of one zxid',
  'ephemerals-listed': 'a session asks for its ephemerals and has some',
  'watch-removed': 'a client removes a watch that would have reported a change',
  'no-watch-removed': 'a client removes a watch that has fired, or was never set',
  'permission-wanting': 'a write is refused, because its client lacks the permission',
  'secret-kept': 'a read shows nothing, because its client may not read the znode',
  'known-served': 'a connection that has proven who it is reads or changes what not all may',
  'limit-reached': 'a write is refused, because a quota has a hard limit',
  'quota-kept': 'a write is done below a path that has a quota',
  'sequence-raised': 'the number of the next sequential child of a znode is raised',
  'read-only-shown': 'a member without a quorum answers a read of a client that allows it',
  'read-only-refused': 'a member without a quorum refuses a write in a read-only session',
  'container-created': 'a container is created, which is removed once its last child is gone',
  'session-expired': 'a leader ends a session of which nothing is heard',
  'closing-in-parts': 'a session ends whose ephemerals take several transactions',
  'tree-of-hundreds': 'a member has a tree of more than 300 znodes',
  'sessions-by-dozens': 'more than 24 sessions are open',
  'ran-for-a-minute': 'a run has gone on for more than a minute of simulated time',
  'link-lost': 'a member notices that its connection with a peer is gone',
  'link-dropped': 'a core disconnects a peer',
  'majority-lost': 'a majority loses its disks, and an ensemble begins anew with what is left',
} as const;

export type Mark = keyof typeof MARKS;
export const MARK_NAMES = Object.keys(MARKS) as readonly Mark[];

/** Events that members log, and the marks that they are. */
const LOGGED: Readonly<Record<string, Mark>> = {
  'clock.contradicted': 'clock-contradicted',
  'disk.damaged': 'damage-met',
  'disk.repaired': 'damage-repaired',
};

const NOTED: Readonly<Record<string, Mark>> = {
  'history.disputed': 'history-disputed',
  'disk.stepped_out': 'stepped-out',
  'disk.hands_over': 'handed-over',
};

export class Marks implements Checker {
  readonly property = 'marks are counted';
  readonly counts = new Map<Mark, number>();
  /** Members that serve clients. */
  readonly #serving = new Set<number>();
  /** Members that have not begun to serve since their disks were struck. */
  readonly #struck = new Set<number>();
  /** Members whose newest write was damaged, until they start, and what may be left of the log. */
  readonly #flipped = new Map<number, Zxid | undefined>();

  /** What the run itself does. */
  onDone(mark: Mark): void {
    this.#add(mark);
  }

  /** A member has logged this event, at info or above. */
  onLogged(event: string): void {
    const mark = LOGGED[event];
    if (mark !== undefined) this.#add(mark);
  }

  onStarted({ member, recovered }: Started): void {
    const keeps = this.#flipped.get(member);
    const wasFlipped = this.#flipped.delete(member);
    if (wasFlipped && recovered.damaged !== null) this.#add('flipped-end-reported');
    else if (recovered.last === keeps) this.#add('flipped-end-cut');
    const { damaged, unreadableLog, suffix, acceptedEpoch, currentEpoch } = recovered;
    if (damaged !== null) this.#add('damaged-start');
    if (unreadableLog !== undefined) this.#add('log-given-up-at-start');
    if (suffix.length > 0) this.#add('suffix-recovered');
    if (acceptedEpoch > currentEpoch) this.#add('promise-recovered');
  }

  onGone({ member, how }: Gone): void {
    this.#serving.delete(member);
    if (how === 'failed') this.#add('ended-by-its-disk');
  }

  onDiskStruck({ member, how, keeps }: DiskStruck): void {
    if (how === 'lastFlipped') {
      this.#flipped.set(member, keeps);
      this.#add('last-record-flipped');
    }
    if (this.#struck.size > 0) this.#add('struck-again');
    this.#struck.add(member);
    if (how === 'wiped') this.#add('wiped-disk');
    if (how === 'restored') this.#add('restored-copy');
  }

  onReply({ invocation, result }: Reply): void {
    const { error, children, reads } = result;
    const { operation, users } = invocation;
    if (error === ErrorCode.noAuth) {
      this.#add(isWrite(operation) ? 'permission-wanting' : 'secret-kept');
    } else if (error === ErrorCode.ok && users !== undefined) {
      if ('path' in operation && operation.path.startsWith('/s/')) this.#add('known-served');
    }
    if (operation.kind === 'create' && operation.path.startsWith('/l/')) {
      if (error === ErrorCode.quotaExceeded) this.#add('limit-reached');
    }
    switch (operation.kind) {
      case 'multiRead':
        if (reads !== undefined && reads.length > 1) this.#add('reads-at-once');
        return;
      case 'ephemerals':
        if (children !== null && children.length > 0) this.#add('ephemerals-listed');
        return;
      case 'removeWatches':
        if (error === ErrorCode.ok) this.#add('watch-removed');
        else if (error === ErrorCode.noWatcher) this.#add('no-watch-removed');
        return;
      default:
        return;
    }
  }

  onReadOnly({ result }: ReadOnlySeen): void {
    if (result.error === ErrorCode.notReadOnly) this.#add('read-only-refused');
    else this.#add('read-only-shown');
  }

  onClockSet({ errorMs }: ClockSet): void {
    if (errorMs !== 0) this.#add('wrong-clock');
  }

  /** Each member that applies a transaction counts. */
  onApplied({ txn, state, atMs }: Applied): void {
    if (state.tree.nodeCount > 300) this.#add('tree-of-hundreds');
    if (state.sessions.count > 24) this.#add('sessions-by-dozens');
    if (atMs > 60_000) this.#add('ran-for-a-minute');
    if (txn.op.kind === 'create' && txn.op.path.startsWith('/l/') && hasQuota(state)) {
      this.#add('quota-kept');
    }
    if (txn.op.kind === 'setAcl') this.#add('acl-changed');
    if (txn.op.kind === 'raiseSequence') this.#add('sequence-raised');
    if (txn.op.kind === 'create' && txn.op.mode === 'container') this.#add('container-created');
    if (txn.op.kind === 'beginClose') this.#add('closing-in-parts');
    else if (txn.op.kind === 'closeSession' && txn.origin === 0) this.#add('session-expired');
  }

  onStep({ member, input, outputs }: Step): void {
    if (input.kind === 'distrust') this.#add('went-back-met');
    if (input.kind === 'disconnected') this.#add('link-lost');
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output !== undefined) this.#onOutput(member, output);
    }
  }

  #onOutput(member: number, output: ZabOutput): void {
    switch (output.kind) {
      case 'send': {
        const { message } = output;
        if (message.kind === 'syncStart') this.#add(`${message.mode}-sent`);
        else if (message.kind === 'vote' && (message.former?.length ?? 0) > 0) {
          this.#add('former-list-counted');
        }
        return;
      }
      case 'truncate':
        return this.#add(output.diverged ? 'divergence-discarded' : 'truncated');
      case 'giveUp':
        return this.#add('history-given-up');
      case 'installSnapshot':
        return this.#add('snapshot-installed');
      case 'refusal':
        if (output.isOn) this.#add('data-refused');
        return;
      case 'disconnect':
        return this.#add('link-dropped');
      case 'note': {
        const mark = NOTED[output.event];
        if (mark !== undefined) this.#add(mark);
        return;
      }
      case 'role':
        if (output.role !== 'looking') {
          this.#serving.add(member);
          this.#struck.delete(member);
          return;
        }
        return this.#add(this.#serving.delete(member) ? 'serving-ended' : 'no-leader-found');
      default:
        return;
    }
  }

  #add(mark: Mark): void {
    this.counts.set(mark, (this.counts.get(mark) ?? 0) + 1);
  }
}

function hasQuota({ tree }: Applied['state']): boolean {
  return tree.find('/zookeeper/quota/l/zookeeper_limits') >= 0;
}
