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
    in: 'ReplicatedState.freeze',
    find: 'this.#capture.freeze(blockBytes);',
    replace: 'this.#blockBytesLater = blockBytes;',
    also: [
      {
        in: 'ReplicatedState.captureSome',
        find: 'return this.#capture.captureSome(max, bytesMax);',
        replace: `if (this.#blockBytesLater > 0) this.#capture.freeze(this.#blockBytesLater);
          this.#blockBytesLater = 0;
          return this.#capture.captureSome(max, bytesMax);`,
      },
      {
        in: 'ReplicatedState.#loading',
        find: '#loading = false;',
        replace: `#loading = false;
          #blockBytesLater = 0;`,
      },
    ],
  },
  {
    name: 'checkpoint-one-ahead',
    area: 'storage',
    breaks: 'a checkpoint is the state at exactly its zxid',
    in: 'Checkpointer.#start',
    find: `this.#storage.beginCheckpoint(this.#state.lastZxid);
      this.#frozen = this.#state.freeze(this.#options.blockBytes);`,
    replace: `const zxid = Math.min(this.#state.lastZxid + 1, this.#storage.last);
      this.#storage.beginCheckpoint(zxid);
      this.#frozen = { ...this.#state.freeze(this.#options.blockBytes), zxid };`,
  },
  {
    name: 'checkpoint-loses-a-dirty-flag',
    area: 'state',
    breaks: 'what changes after a freeze is in the next checkpoint',
    in: 'Capture.#captureNodes',
    find: 'this.#tree.mark(node) === this.#generation - 1',
    replace: 'this.#tree.mark(node) >= this.#generation - 1',
  },
  {
    name: 'checkpoint-forgets-the-parent',
    area: 'state',
    breaks: 'every changed record is in the next checkpoint',
    in: 'ReplicatedState.#create',
    find: 'this.#capture.beforeChange(parent);',
    replace: '',
  },
  {
    name: 'checkpoint-keeps-the-deleted',
    area: 'state',
    // A node whose first record is written because it is deleted during the capture.
    breaks: 'what was deleted is not in the next checkpoint',
    in: 'Capture.beforeDelete',
    find: `this.#captureIfFrozen(node);
      const record = this.#tree.record(node);`,
    replace: `const record = this.#tree.record(node);
      this.#captureIfFrozen(node);`,
  },
  {
    name: 'checkpoint-forgets-closed-sessions',
    area: 'state',
    breaks: 'a session that was closed is not in the next checkpoint',
    in: 'SessionTable.close',
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
    in: 'TxnLog.#mayDropFirst',
    find: 'if (first === undefined || second === undefined || second.base > checkpoint) return false;',
    replace: 'if (first === undefined || second === undefined) return false;',
    also: [
      {
        in: 'TxnLog.#mayDropFirst',
        find: 'if (segment !== first && segment.last <= checkpoint) kept += segment.bytes;',
        replace: 'if (segment !== first && checkpoint > 0) kept += segment.bytes;',
      },
    ],
  },
  {
    name: 'purge-at-the-freeze',
    area: 'storage',
    breaks: 'the log is purged only up to a durable checkpoint',
    in: 'Checkpointer.#write',
    find: 'const done = await this.#storage.writeCheckpoint(changes, frozen);',
    replace: `this.#storage.purgeTo(zxid, treeBytes);
      const done = await this.#storage.writeCheckpoint(changes, frozen);`,
    also: [
      {
        in: 'Storage.#isChanging',
        find: '#isChanging = false;',
        replace: `#isChanging = false;

          purgeTo(zxid: Zxid, treeBytes: number): void {
            const keepBytes = Math.max(this.#options.retainedBytesMin, treeBytes / 4);
            this.#liveGeneration().log.purge(zxid, keepBytes);
          }`,
      },
    ],
  },
  {
    name: 'snapshot-installed-old-tree-kept',
    area: 'driver',
    breaks: 'an installed snapshot is what the pipeline serves from then on',
    aim: ['members=3', 'kinds=["slow-disk","wipe"]'],
    in: 'StateKeeper.#replace',
    find: 'this.#parts.pipeline.replaceState(state);',
    replace: '',
  },
  {
    name: 'snapshot-done-overtakes-its-chunks',
    area: 'driver',
    breaks: 'SnapshotDone waits until every chunk is durable',
    in: 'SnapshotReceiver.#maybeRelease',
    find: 'if (incoming.pending > 0 || incoming.waiting === null || incoming.isChecked) return;',
    replace: 'if (incoming.waiting === null || incoming.isChecked) return;',
    also: [
      {
        in: 'SnapshotReceiver.#verify',
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
    in: 'CatchUp.onHistorySent',
    find: 'learner.sentThrough = through;',
    replace: 'learner.sentThrough = Math.max(through, this.#replica.history.last);',
    also: [
      {
        in: 'Following.#onNewLeader',
        find: 'message.last === history.last',
        replace: 'history.last >= 0',
      },
    ],
  },
];
