/**
 * Bugs that ZooKeeper did not have and that no seed shows: each fails a scenario of its own.
 *
 * The simulator relies on what meta says about the log, and its transfers end before much is
 * written.
 */
import { type NamedMutant, trace } from './named-mutant.js';

const LOG_RECOVERY = 'server/src/storage/log-recovery.test.ts';
const LOST = 'is given up, with all before it, when a learner needs it and it cannot be read: lose';
const ATTACHMENTS = 'server/src/pipeline/attachments.test.ts';
const UNREAD = 'server/src/storage/unread-segments.test.ts';
const CUT_LOG = 'server/src/simulated/cut-log.test.ts';
const UNDER_LOAD = 'misses what was durable for more than a second, although it never was quiet';
const UNFINISHED = 'server/src/storage/recovery.test.ts';
const STORAGE_QUEUE = 'server/src/storage/storage-queue.test.ts';
const LOWERED = 'has a truncation lower a mark that is being written, wherever it dies';

export const ownMutants: readonly NamedMutant[] = [
  {
    name: 'attach-before-the-writes-of-its-turn',
    area: 'named',
    in: 'Outbox.take',
    find: 'return [...writes, ...syncs, ...attaches];',
    replace: 'return [...attaches, ...writes, ...syncs];',
    breaks: 'what an older connection has forwarded is done before its session continues',
    scenario: { file: ATTACHMENTS, name: 'leaves as writes, then syncs, then attaches' },
  },
  {
    name: 'window-as-small-while-streaming',
    area: 'named',
    in: 'Replica.#windowBytesMax',
    find: 'if (link.streaming) return streamingBytesMax;',
    replace: 'if (link.streaming && streamingBytesMax < 1) return windowBytesMax;',
    breaks:
      'while a learner reads history from disk, memory keeps more, because otherwise it never ends',
    scenario: trace('diff-from-disk-while-writes-go-on'),
  },
  {
    name: 'moved-on-window-skipped',
    area: 'named',
    in: 'CatchUp.onHistorySent',
    find: 'learner.sentThrough = through;',
    replace: 'learner.sentThrough = Math.max(through, this.#replica.history.windowBase);',
    breaks: 'history that leaves memory while a learner reads from disk is read from disk, too',
    scenario: trace('diff-from-disk-while-writes-go-on'),
  },
  {
    name: 'begun-segment-not-noted',
    area: 'named',
    in: 'TxnLog.#begin',
    find: 'await this.#recordBegun?.(seq);',
    replace: 'if (seq < 0) await this.#recordBegun?.(seq);',
    breaks: 'the loss of a segment and of all segments after it is detected',
    scenario: { file: LOG_RECOVERY, name: 'with all from number 1 on' },
  },
  {
    name: 'old-segment-is-appended-to',
    area: 'named',
    in: 'TxnLog.#writable',
    find: 'if (newest === undefined || !newest.isAppendable) return null;',
    replace: 'if (newest === undefined) return null;',
    breaks: 'nothing durable is ever overwritten: a process writes only to segments that it began',
    scenario: {
      file: LOG_RECOVERY,
      name: 'is written by the process that began it and by no other',
    },
  },
  {
    name: 'first-of-a-segment-follows-anything',
    area: 'named',
    in: 'checkFollows',
    find: 'if (previous === last) return;',
    replace: 'if (last >= 0) return;',
    breaks: 'each proposal of the log names its predecessor (invariant 2)',
    scenario: {
      file: LOG_RECOVERY,
      name: 'that another one says it follows holds what that one goes on after',
    },
  },
  {
    name: 'unread-damage-is-not-given-up',
    area: 'named',
    in: 'Storage.#throwUnreadable',
    find: 'if (isOld || live.log.dropThrough(error.through, live.tree.checkpoint.zxid)) $BODY',
    replace: 'if (isOld) $BODY',
    breaks: 'unreadable history that only a learner needs costs no member its vote',
    scenario: { file: UNREAD, name: LOST },
  },
  {
    name: 'mark-only-where-it-is-quiet',
    area: 'named',
    in: 'StateKeeper.#maybeMarkEnd',
    find: `if (!isMarked && !isDue) return;
      this.#markedAtMs = nowMs;
      if (!isMarked) this.queue.markLogEnd();`,
    replace: `this.#markedAtMs = nowMs;
      if (!isMarked && isDue) this.queue.markLogEnd();`,
    breaks: 'what was durable for more than about a second is missed, under load too',
    scenario: { file: CUT_LOG, name: UNDER_LOAD },
  },
  {
    name: 'mark-under-way-not-lowered',
    area: 'named',
    in: 'Storage.markLogEnd',
    find: 'this.#meta.remember({ recordedZxid: this.last });',
    replace: 'await this.#meta.change({ recordedZxid: this.last });',
    breaks: 'the mark is never beyond the end of the log, so valid data never looks damaged',
    scenario: { file: STORAGE_QUEUE, name: LOWERED },
  },
  {
    name: 'cut-off-ranges-are-told-of',
    area: 'named',
    in: 'Segment.cut',
    find: 'cutRanges(this.ranges, after);',
    replace: 'cutRanges(this.ranges, Number.MAX_SAFE_INTEGER);',
    breaks: 'what was cut off a segment is not reported as part of it',
    scenario: { file: UNREAD, name: 'knows what one does that reads it, seed 2' },
  },
  {
    name: 'headroom-of-a-part-is-the-proposal-before',
    area: 'named',
    in: 'ProposalBatch.part',
    find: 'return new ProposalBatch({ previous, first, last, count }, this.bytes.subarray(from, to));',
    replace:
      'return new ProposalBatch({ previous, first, last, count }, this.bytes.subarray(from, to), HEADROOM_BYTES);',
    breaks:
      'a frame is written into the headroom of its batch, and what others read stays unchanged',
    scenario: {
      file: 'server/src/storage/shared-batches.test.ts',
      name: 'a part of a batch that is sent leaves what lies before it as it was',
    },
  },
  {
    name: 'founding-marked-complete-first',
    area: 'named',
    in: 'foundStorage',
    find: 'const metaStore = await MetaStore.open(treeStore);',
    replace: `await treeStore.completeFounding();
      const metaStore = await MetaStore.open(treeStore);`,
    breaks: 'what a loss of power leaves of a first start counts as an empty directory',
    scenario: {
      file: UNFINISHED,
      name: 'is marked behind all of its changes: one that fails before it leaves no damage',
    },
  },
  {
    name: 'founded-member-without-meta-is-empty',
    area: 'named',
    in: 'isUnfinished',
    find: "if (founding === 'complete') return false;",
    replace: '',
    breaks: 'a member that may have promised an epoch is never taken for an empty one',
    scenario: {
      file: UNFINISHED,
      name: 'is damage where a founding was complete, though nothing is beside it',
    },
  },
];
