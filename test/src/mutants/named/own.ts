/**
 * Bugs that ZooKeeper did not have and that no seed shows: each fails a scenario of its own.
 *
 * The simulator's disks lose no whole segment, and its transfers are over before much is written.
 */
import { type NamedMutant, trace } from './named-mutant.js';

const LOG_RECOVERY = 'server/src/storage/log-recovery.test.ts';
const LOST = 'is given up, with all before it, when a learner needs it and it cannot be read: lose';
const ATTACHMENTS = 'server/src/pipeline/attachments.test.ts';
const PREDECESSORS = 'server/src/storage/predecessors.test.ts';

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
        find: '  // A turn that brought reads alone makes no iterator.\n',
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
    name: 'next-segment-unmarked',
    area: 'named',
    file: 'storage/txn-log.ts',
    find: '      await last.markSuccessor();\n',
    replace: '',
    breaks: 'a segment that is lost with all behind it is missed',
    scenario: { file: LOG_RECOVERY, name: 'with all from number 1 on' },
  },
  {
    name: 'next-segment-unmarked-after-a-crash',
    area: 'named',
    file: 'storage/log-recovery.ts',
    find: 'if (previous !== undefined && !expected) await previous.markSuccessor();',
    replace: 'if (previous !== undefined && !expected) expected = false;',
    breaks: 'a segment whose mark a crash has prevented is marked before it is used',
    scenario: { file: LOG_RECOVERY, name: 'that was made just before a crash, and used after it' },
  },
  {
    name: 'what-a-segment-says-is-believed-unseen',
    area: 'named',
    file: 'storage/log-recovery.ts',
    find: 'if (summaries.at(-1)?.last !== first[0]?.previous) break;',
    replace: 'if (summaries.length === 0) break;',
    breaks: 'a segment is left unread only if the chain goes on from what is said of it',
    scenario: {
      file: PREDECESSORS,
      name: 'reads all when what a segment says of the others does not fit',
    },
  },
  {
    name: 'unread-damage-is-not-given-up',
    area: 'named',
    file: 'storage/storage.ts',
    find: 'if (isOld || live.log.dropThrough(error.through, live.tree.checkpoint.zxid)) {',
    replace: 'if (isOld) {',
    breaks: 'what only a learner needs and cannot be read costs no member its vote',
    scenario: { file: PREDECESSORS, name: LOST },
  },
  {
    name: 'cut-off-ranges-are-told-of',
    area: 'named',
    file: 'storage/segment.ts',
    find: 'cutRanges(this.ranges, after);',
    replace: 'cutRanges(this.ranges, Number.MAX_SAFE_INTEGER);',
    breaks: 'what was cut off a segment is not said to be in it',
    scenario: { file: PREDECESSORS, name: 'knows what one does that reads it, seed 2' },
  },
  {
    name: 'room-before-a-pack-given-twice',
    area: 'named',
    file: '../../protocol/src/peer/packing.ts',
    find: '  rooms.delete(packed);\n',
    replace: '',
    breaks: 'memory before a pack is written by one: a frame that is under way stays as it is',
    scenario: {
      file: 'server/src/storage/group-seal.test.ts',
      name: 'a group that was sent before it was logged is in both as it was',
    },
  },
];
