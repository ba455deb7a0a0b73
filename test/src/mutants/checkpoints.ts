/**
 * Mutants of checkpoints, of the purge of the log after them, and of snapshots that are being
 * received.
 */
import type { Mutant } from './mutant.js';

export const checkpointMutants: readonly Mutant[] = [
  {
    name: 'checkpoint-a-turn-late',
    area: 'storage',
    // Its zxid and digest are those of one turn, its records those of the next.
    breaks: 'a checkpoint is the state at exactly its zxid',
    file: 'storage/checkpointer.ts',
    find: "    if (this.#phase === 'idle' && this.#due(nowMs, room)) this.#start(nowMs);\n",
    replace: `    if (this.#phase === 'idle' && this.#due(nowMs, room)) {
      this.#start(nowMs);
      return true;
    }
`,
    also: [
      {
        file: 'state/replicated-state.ts',
        find: '    this.#capture.freeze(blockBytes);\n',
        replace: '    this.#blockBytesLater = blockBytes;\n',
      },
      {
        file: 'state/replicated-state.ts',
        find: '    return this.#capture.captureSome(max, bytesMax);\n',
        replace: `    if (this.#blockBytesLater > 0) this.#capture.freeze(this.#blockBytesLater);
    this.#blockBytesLater = 0;
    return this.#capture.captureSome(max, bytesMax);
`,
      },
      {
        file: 'state/replicated-state.ts',
        find: '\n  #loading = false;\n',
        replace: '\n  #loading = false;\n  #blockBytesLater = 0;\n',
      },
    ],
  },
  {
    name: 'checkpoint-one-ahead',
    area: 'storage',
    breaks: 'a checkpoint is the state at exactly its zxid',
    file: 'storage/checkpointer.ts',
    find: `    this.#storage.beginCheckpoint(this.#state.lastZxid);
    this.#frozen = this.#state.freeze(this.#options.blockBytes);`,
    replace: `    const zxid = Math.min(this.#state.lastZxid + 1, this.#storage.last);
    this.#storage.beginCheckpoint(zxid);
    this.#frozen = { ...this.#state.freeze(this.#options.blockBytes), zxid };`,
  },
  {
    name: 'checkpoint-loses-a-dirty-flag',
    area: 'state',
    breaks: 'what changes after a freeze is in the next checkpoint',
    file: 'state/capture.ts',
    find: 'this.#tree.mark(node) === this.#generation - 1) {',
    replace: 'this.#tree.mark(node) >= this.#generation - 1) {',
  },
  {
    name: 'checkpoint-forgets-the-parent',
    area: 'state',
    breaks: 'every changed record is in the next checkpoint',
    file: 'state/replicated-state.ts',
    find: '    this.#capture.beforeChange(parent);\n    const node = this.tree.create(',
    replace: '    const node = this.tree.create(',
  },
  {
    name: 'checkpoint-keeps-the-deleted',
    area: 'state',
    // A node whose first record is written because it is deleted during the capture.
    breaks: 'what was deleted is not in the next checkpoint',
    file: 'state/capture.ts',
    find: '    this.#captureIfFrozen(node);\n    const record = this.#tree.record(node);\n',
    replace: '    const record = this.#tree.record(node);\n    this.#captureIfFrozen(node);\n',
  },
  {
    name: 'checkpoint-forgets-closed-sessions',
    area: 'state',
    breaks: 'a session that was closed is not in the next checkpoint',
    file: 'state/session-table.ts',
    find: 'this.#changes.set(id, null);',
    replace: 'this.#changes.delete(id);',
  },
  {
    name: 'purge-beyond-the-checkpoint',
    area: 'storage',
    breaks: 'purged <= checkpoint (invariant 1)',
    aim: [
      'kinds=["slow-disk","crash"]',
      'clients.thinkMaxMs=0',
      'clients.outstandingMax=32',
      'tuning.logKeepBytes=0',
      'tuning.logSegmentBytes=2000',
      'tuning.checkpointLogBytes=500',
    ],
    file: 'storage/txn-log.ts',
    find: 'if (first === undefined || second === undefined || second.base > checkpoint) return false;',
    replace: 'if (first === undefined || second === undefined) return false;',
    also: [
      {
        file: 'storage/txn-log.ts',
        find: 'if (segment !== first && segment.last <= checkpoint) kept',
        replace: 'if (segment !== first && checkpoint > 0) kept',
      },
    ],
  },
  {
    name: 'purge-at-the-freeze',
    area: 'storage',
    breaks: 'the log is purged only up to a durable checkpoint',
    file: 'storage/checkpointer.ts',
    find: '      const done = await this.#storage.writeCheckpoint(changes,',
    replace: `      this.#storage.purgeTo(zxid, treeBytes);
      const done = await this.#storage.writeCheckpoint(changes,`,
    also: [
      {
        file: 'storage/storage.ts',
        find: '  /** Waits for all background work, then throws its first failure. */\n',
        replace: `  purgeTo(zxid: Zxid, treeBytes: number): void {
    const keepBytes = Math.max(this.#options.retainedBytesMin, treeBytes / 4);
    this.#liveGeneration().log.purge(zxid, keepBytes);
  }

  /** Waits for all background work, then throws its first failure. */
`,
      },
    ],
  },
  {
    name: 'snapshot-installed-old-tree-kept',
    area: 'driver',
    breaks: 'an installed snapshot is what the pipeline serves from then on',
    aim: ['members=3', 'kinds=["slow-disk","wipe"]'],
    file: 'driver/state-keeper.ts',
    find: '    this.#parts.pipeline.replaceState(state);\n',
    replace: '',
  },
  {
    name: 'snapshot-done-overtakes-its-chunks',
    area: 'driver',
    breaks: 'SnapshotDone waits until every chunk is durable',
    file: 'driver/snapshot-receiver.ts',
    find: 'if (incoming.pending > 0 || incoming.waiting === null || incoming.isChecked) return;',
    replace: 'if (incoming.waiting === null || incoming.isChecked) return;',
    also: [
      {
        file: 'driver/snapshot-receiver.ts',
        find: 'await sink.verify(incoming.zxid, state);',
        replace: 'await Promise.resolve(sink);',
      },
    ],
  },
  {
    name: 'snapshot-without-what-is-behind-it',
    area: 'zab',
    // The learner continues from what the leader has now, not from the snapshot's zxid, and does
    // not notice it: with its own check it drops the link and the next one brings it up to date.
    breaks: 'what follows a snapshot continues from its zxid',
    file: 'zab/catch-up.ts',
    find: '    learner.sentThrough = through;\n',
    replace: '    learner.sentThrough = Math.max(through, this.#member.history.last);\n',
    also: [
      {
        file: 'zab/following.ts',
        find: '      message.last === history.last &&\n',
        replace: '      history.last >= 0 &&\n',
      },
    ],
  },
];
