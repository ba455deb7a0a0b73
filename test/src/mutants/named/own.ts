/**
 * Bugs that ZooKeeper did not have and that no seed shows: each fails a scenario of its own.
 *
 * The simulator goes by what meta says of the log, and its transfers are over before much is
 * written.
 */
import { type NamedMutant, trace } from './named-mutant.js';

const LOG_RECOVERY = 'server/src/storage/log-recovery.test.ts';
const LOST = 'is given up, with all before it, when a learner needs it and it cannot be read: lose';
const ATTACHMENTS = 'server/src/pipeline/attachments.test.ts';
const UNREAD = 'server/src/storage/unread-segments.test.ts';

export const ownMutants: readonly NamedMutant[] = [
  {
    name: 'attach-before-the-writes-of-its-turn',
    area: 'named',
    file: 'driver/to-leader.ts',
    find: '  for (const attach of attaches) toLeader(attach);\n',
    replace: '',
    also: [
      {
        file: 'driver/to-leader.ts',
        find: '  // Avoids an iterator in turns that brought only reads.\n',
        replace: '  for (const attach of attaches) toLeader(attach);\n',
      },
    ],
    breaks: 'what an older connection had sent on is done before its session goes on',
    scenario: { file: ATTACHMENTS, name: 'leaves as writes, then syncs, then attaches' },
  },
  {
    name: 'window-as-small-while-streaming',
    area: 'named',
    file: 'zab/member.ts',
    find: 'if (link.streaming) return streamingBytesMax;',
    replace: 'if (link.streaming && streamingBytesMax < 1) return windowBytesMax;',
    breaks: 'while a learner is brought up from disk memory holds more, else it never ends',
    scenario: trace('diff-from-disk-while-writes-go-on'),
  },
  {
    name: 'moved-on-window-skipped',
    area: 'named',
    file: 'zab/catch-up.ts',
    find: 'learner.sentThrough = through;',
    replace: 'learner.sentThrough = Math.max(through, this.#member.history.windowBase);',
    breaks: 'what leaves memory while a learner is brought up from disk is read from disk too',
    scenario: trace('diff-from-disk-while-writes-go-on'),
  },
  {
    name: 'begun-segment-not-noted',
    area: 'named',
    file: 'storage/txn-log.ts',
    find: '    await onBegun(seq);\n',
    replace: '    if (seq < 0) await onBegun(seq);\n',
    breaks: 'a segment that is lost with all behind it is missed',
    scenario: { file: LOG_RECOVERY, name: 'with all from number 1 on' },
  },
  {
    name: 'old-segment-is-appended-to',
    area: 'named',
    file: 'storage/txn-log.ts',
    find: '    this.#segments = [...parts.segments];\n',
    replace:
      '    this.#segments = [...parts.segments];\n' +
      '    this.#active = this.#segments.at(-1) ?? null;\n',
    breaks: 'nothing durable is ever written over: a process writes to segments that it began',
    scenario: {
      file: LOG_RECOVERY,
      name: 'is written by the process that began it and by no other',
    },
  },
  {
    name: 'first-of-a-segment-follows-anything',
    area: 'named',
    file: 'storage/log-recovery.ts',
    find: '  if (previous === last) return;\n',
    replace: '  if (last >= 0) return;\n',
    breaks: 'each proposal of the log names its predecessor (invariant 2)',
    scenario: {
      file: LOG_RECOVERY,
      name: 'that another one says it follows holds what that one goes on after',
    },
  },
  {
    name: 'unread-damage-is-not-given-up',
    area: 'named',
    file: 'storage/storage.ts',
    find: 'if (isOld || live.log.dropThrough(error.through, live.tree.checkpoint.zxid)) {',
    replace: 'if (isOld) {',
    breaks: 'what only a learner needs and cannot be read costs no member its vote',
    scenario: { file: UNREAD, name: LOST },
  },
  {
    name: 'cut-off-ranges-are-told-of',
    area: 'named',
    file: 'storage/log-segment.ts',
    find: 'cutRanges(this.ranges, after);',
    replace: 'cutRanges(this.ranges, Number.MAX_SAFE_INTEGER);',
    breaks: 'what was cut off a segment is not said to be in it',
    scenario: { file: UNREAD, name: 'knows what one does that reads it, seed 2' },
  },
  {
    name: 'headroom-of-a-part-is-the-proposal-before',
    area: 'named',
    file: '../../protocol/src/peer/proposal-batch.ts',
    find: 'this.bytes.subarray(from, to));',
    replace: 'this.bytes.subarray(from, to), HEADROOM_BYTES);',
    breaks: 'a frame is written into the headroom of its batch: what others read stays as it is',
    scenario: {
      file: 'server/src/storage/shared-batches.test.ts',
      name: 'a part of a batch that is sent leaves what lies before it as it was',
    },
  },
];
