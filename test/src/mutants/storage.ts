/** Mutants of the storage: what is synced and when, the switch of generations, recovery. */
import type { Mutant } from './mutant.js';

export const storageMutants: readonly Mutant[] = [
  {
    name: 'log-append-not-awaited',
    area: 'storage',
    breaks: 'an append is durable when it resolves',
    in: 'Segment.append',
    find: 'await file.write(this.end, parts);',
    replace: `await this.written;
      this.written = file.write(this.end, parts);
      this.written.catch(() => undefined);`,
    also: [
      {
        in: 'Segment.ranges',
        find: 'ranges: GrowingRanges = [];',
        replace: `written: Promise<void> = Promise.resolve();
          ranges: GrowingRanges = [];`,
      },
      {
        in: 'TxnLog.#begin',
        find: 'this.#background.run(() => previous.endAppending());',
        replace:
          'this.#background.run(() => previous.written.then(() => previous.endAppending()));',
      },
    ],
  },
  {
    name: 'meta-unsynced',
    area: 'storage',
    breaks: 'epochs are durable when they are saved',
    in: 'MetaStore.#put',
    find: 'await this.#database.batch([put], { sync: true });',
    replace: 'await this.#database.batch([put], { sync: false });',
  },
  {
    name: 'checkpoint-unsynced',
    area: 'storage',
    breaks: 'a checkpoint is durable before the log up to it is purged',
    in: 'CheckpointedTree.#writeNow',
    find: 'await this.database.use((open) => open.batch(batch, TREE_BATCH));',
    replace: 'await this.database.use((open) => open.batch(batch, { sync: false }));',
  },
  {
    name: 'snapshot-unsynced',
    area: 'storage',
    breaks: 'an installed snapshot is durable as a whole',
    in: 'GenerationSink.#writeNow',
    find: 'await tree.database.use((open) => open.batch(operations, TREE_BATCH));',
    replace: 'await tree.database.use((open) => open.batch(operations, { sync: false }));',
  },
  {
    name: 'persisted-told-before-durable',
    area: 'storage',
    breaks: 'persisted(ticket) says that it and all before it are durable',
    in: 'StorageQueue.#run',
    find: `const ticket = await this.#appendGroup(output);
      this.#hooks.onPersisted(ticket);`,
    replace: `const written = this.#appendGroup(output);
      this.#hooks.onPersisted(output.ticket);
      this.#hooks.onPersisted(await written);`,
    also: [
      {
        in: 'StorageQueue.#run',
        find: `await this.#carryOut(output);
          this.#hooks.onPersisted(output.ticket);`,
        replace: `this.#hooks.onPersisted(output.ticket);
          await this.#carryOut(output);`,
      },
    ],
  },
  {
    name: 'accepted-epoch-not-saved',
    area: 'storage',
    breaks: 'no epoch that was promised is forgotten (invariant 3)',
    in: 'Storage.saveEpochs',
    find: 'const saved = { acceptedEpoch: accepted, currentEpoch: current };',
    replace: `const last = Math.max(current, this.#meta.value.acceptedEpoch);
      const saved = { acceptedEpoch: last, currentEpoch: current };`,
  },
  {
    name: 'current-epoch-not-saved',
    area: 'storage',
    breaks: 'no epoch that was entered is forgotten (invariant 3)',
    in: 'Storage.saveEpochs',
    find: 'const saved = { acceptedEpoch: accepted, currentEpoch: current };',
    replace: `const currentEpoch = Math.min(current, this.#meta.value.currentEpoch);
      const saved = { acceptedEpoch: accepted, currentEpoch };`,
  },
  {
    name: 'flip-before-the-new-log',
    area: 'storage',
    breaks: 'an installed snapshot replaces tree and log in one atomic switch',
    aim: ['kinds=["interrupted-snapshot"]', 'members=3'],
    in: 'Storage.installSnapshot',
    find: 'await this.#meta.change({ generation, damaged: null, level, ...facts });',
    replace: 'await this.#meta.change({ level, ...facts });',
    also: [
      {
        in: 'Storage.installSnapshot',
        find: 'const log = await TxnLog.create(this.#setup, at);',
        replace: `await this.#meta.change({ generation, damaged: null, recordedZxid: zxid });
          const log = await TxnLog.create(this.#setup, at);`,
      },
    ],
  },
  {
    name: 'old-generation-goes-before-the-flip',
    area: 'storage',
    breaks: 'the tree in use is untouched until the switch',
    aim: ['kinds=["interrupted-snapshot"]', 'members=3'],
    in: 'Storage.installSnapshot',
    find: `await this.#meta.change({ generation, damaged: null, level, ...facts });
      log.goLive(this.#recordBegun);
      const old = this.#live;`,
    replace: `const old = this.#live;
      if (old !== null) await this.#destroyOld(old, generation);
      await this.#meta.change({ generation, damaged: null, level, ...facts });
      log.goLive(this.#recordBegun);`,
    also: [
      {
        in: 'Storage.installSnapshot',
        find: 'this.#background.run(() => this.#destroyOld(old, generation));',
        replace: '',
      },
    ],
  },
  {
    name: 'recorded-end-ignored',
    area: 'storage',
    breaks: 'a log that ends before the mark of what was durable is damaged',
    aim: ['kinds=["cut-log"]', 'members=3'],
    in: 'soundStorage',
    find: 'if (log.last < meta.recordedZxid) $BODY',
    replace: 'if (log.last < 0) $BODY',
  },
  {
    name: 'recorded-end-before-it-is-durable',
    area: 'storage',
    breaks: 'the end of the log is recorded once it is durable: a crash is not damage',
    aim: ['kinds=["crash-at-change","crash"]'],
    in: 'Storage.append',
    find: 'await this.#liveGeneration().log.append(batches);',
    replace: `await this.#meta.change({ recordedZxid: batches.at(-1)?.last ?? 0 });
      await this.#liveGeneration().log.append(batches);`,
  },
  {
    name: 'recorded-end-survives-a-snapshot',
    area: 'storage',
    breaks: 'a snapshot begins a new log, so the mark of what was durable begins again',
    aim: ['kinds=["two-leaderships","crash"]', 'members=3', 'clients.readShare=0.9'],
    in: 'Storage.installSnapshot',
    find: 'const facts = { logSeq: 0, recordedZxid: zxid, lineage: [...lineage] };',
    replace: 'const facts = { logSeq: 0, lineage: [...lineage] };',
  },
  {
    name: 'recorded-end-survives-a-truncation',
    area: 'storage',
    breaks: 'a truncation lowers the mark of what was durable: a shorter log is not damage',
    aim: ['kinds=["overtaken-leader"]', 'members=3', 'clients.readShare=0.2'],
    in: 'Storage.truncate',
    find: 'if (after < this.#meta.value.recordedZxid) await this.#meta.change({ recordedZxid: after });',
    replace: 'if (after < 0) await this.#meta.change({ recordedZxid: after });',
  },
  {
    name: 'trunc-not-on-disk',
    area: 'storage',
    breaks: 'what was truncated is no longer in the log on disk',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    in: 'TxnLog.truncate',
    find: 'await this.#begin();',
    replace: 'if (kept?.isAppendable !== true) await this.#begin();',
    // What is appended then follows it, in the same segment.
  },
  {
    name: 'trunc-forgotten-at-a-start',
    area: 'storage',
    breaks: 'what a segment contains after the base of its successor is void',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    in: 'readChain',
    find: 'const through = next?.base ?? null;',
    replace: 'const through = chain[index + 1] === next ? null : 0;',
  },
  {
    name: 'trunc-one-too-little',
    area: 'storage',
    breaks: 'everything after the common point leaves the log',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    in: 'TxnLog.truncate',
    find: 'kept.cut(after);',
    replace: `if (holds(kept, after + 1)) more = after + 1;
      kept.cut(after);`,
    also: [
      {
        in: 'TxnLog.truncate',
        find: `this.#last = after;
          await this.#begin();`,
        replace: `this.#last = more;
          await this.#begin();
          this.#last = after;`,
      },
      {
        in: 'TxnLog.truncate',
        find: 'const dropped = $VALUE;',
        replace: `let more = after;
          const dropped = $VALUE;`,
      },
    ],
  },
  {
    name: 'segment-noted-before-its-header',
    area: 'storage',
    breaks: 'a segment is recorded in meta once its header is durable: a crash is not damage',
    aim: ['kinds=["crash-at-change","crash"]'],
    in: 'TxnLog.#begin',
    find: `const segment = await Segment.begin($DIRECTORY, $FILE, $HEADER);
      await this.#recordBegun?.(seq);`,
    replace: `await this.#recordBegun?.(seq);
      const segment = await Segment.begin($DIRECTORY, $FILE, $HEADER);`,
  },
  {
    name: 'lost-segment-unnoticed',
    area: 'storage',
    breaks: 'a log without the segment that was begun last is damaged',
    aim: ['members=3', 'kinds=["cut-log"]'],
    in: 'chainOf',
    find: 'if (newest === null || newest.seq < logSeq) $BODY',
    replace: 'if (newest === null || logSeq < 0) $BODY',
  },
  {
    name: 'salt-ignored',
    area: 'storage',
    breaks: 'the content of a file before it was recycled does not count as a record',
    aim: ['kinds=["crash-at-change","crash"]', 'tuning.logSegmentBytes=2000'],
    in: 'seedOf',
    find: 'return crc32(salt);',
    replace: 'return salt.length;',
  },
  {
    name: 'recovery-accepts-a-gap',
    area: 'storage',
    breaks: 'each segment of the log continues where the one before it ends (invariant 2)',
    aim: ['members=3', 'kinds=["flip-bit"]'],
    in: 'checkEnd',
    find: 'if (through === null && !(await reader.hasLaterWrite())) return;',
    replace: 'if (through !== 0 && !(await reader.hasLaterWrite())) return;',
  },
  {
    name: 'damage-taken-for-a-torn-write',
    area: 'storage',
    breaks: 'a damaged record is distinguished from an incomplete write',
    aim: ['members=3', 'kinds=["flip-bit"]'],
    in: 'checkEnd',
    find: 'if (through === null && !(await reader.hasLaterWrite())) return;',
    replace: 'if (through === null) return;',
  },
];
