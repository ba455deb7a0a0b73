/** Mutants of the storage: what is synced and when, the switch of generations, recovery. */
import type { Mutant } from './mutant.js';

export const storageMutants: readonly Mutant[] = [
  {
    name: 'log-append-not-awaited',
    area: 'storage',
    breaks: 'an append is durable when it resolves',
    file: 'storage/log-segment.ts',
    find: '    await file.write(this.end, parts);\n',
    replace: `    await this.written;
    this.written = file.write(this.end, parts);
    this.written.catch(() => undefined);
`,
    also: [
      {
        file: 'storage/log-segment.ts',
        find: '  bytes = 0;\n  ranges',
        replace: '  bytes = 0;\n  written: Promise<void> = Promise.resolve();\n  ranges',
      },
      {
        file: 'storage/txn-log.ts',
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
    file: 'storage/meta.ts',
    find: 'await this.#database.batch([put], { sync: true });',
    replace: 'await this.#database.batch([put], { sync: false });',
  },
  {
    name: 'checkpoint-unsynced',
    area: 'storage',
    breaks: 'a checkpoint is durable before the log up to it is purged',
    file: 'storage/checkpoint.ts',
    find: 'open.batch(batch, batchOptions(next))',
    replace: 'open.batch(batch, { sync: false })',
  },
  {
    name: 'snapshot-unsynced',
    area: 'storage',
    breaks: 'an installed snapshot is durable as a whole',
    file: 'storage/snapshot-sink.ts',
    find: 'const options = batchOptions(tree.checkpoint);',
    replace: 'const options = { sync: false };',
  },
  {
    name: 'persisted-told-before-durable',
    area: 'storage',
    breaks: 'persisted(ticket) says that it and all before it are durable',
    file: 'storage/storage-queue.ts',
    find: `          const ticket = await this.#appendGroup(output);
          this.#hooks.onPersisted(ticket);
        } else if (output !== undefined) {
          await this.#carryOut(output);
          this.#hooks.onPersisted(output.ticket);`,
    replace: `          const written = this.#appendGroup(output);
          this.#hooks.onPersisted(output.ticket);
          this.#hooks.onPersisted(await written);
        } else if (output !== undefined) {
          this.#hooks.onPersisted(output.ticket);
          await this.#carryOut(output);`,
  },
  {
    name: 'accepted-epoch-not-saved',
    area: 'storage',
    breaks: 'no epoch that was promised is forgotten (invariant 3)',
    file: 'storage/storage.ts',
    find: 'const saved = { acceptedEpoch: accepted, currentEpoch: current };',
    replace:
      'const last = Math.max(current, this.#meta.value.acceptedEpoch);\n' +
      '    const saved = { acceptedEpoch: last, currentEpoch: current };',
  },
  {
    name: 'current-epoch-not-saved',
    area: 'storage',
    breaks: 'no epoch that was entered is forgotten (invariant 3)',
    file: 'storage/storage.ts',
    find: 'const saved = { acceptedEpoch: accepted, currentEpoch: current };',
    replace:
      'const currentEpoch = Math.min(current, this.#meta.value.currentEpoch);\n' +
      '    const saved = { acceptedEpoch: accepted, currentEpoch };',
  },
  {
    name: 'flip-before-the-new-log',
    area: 'storage',
    breaks: 'an installed snapshot replaces tree and log in one atomic switch',
    aim: ['kinds=["interrupted-snapshot"]', 'members=3'],
    file: 'storage/storage.ts',
    find: `    await this.#meta.change({ generation, damaged: null, level, ...facts });
    const old`,
    replace: '    await this.#meta.change({ level, ...facts });\n    const old',
    also: [
      {
        file: 'storage/storage.ts',
        find: '    const log = await TxnLog.create(',
        replace: `    await this.#meta.change({ generation, damaged: null, recordedZxid: zxid });
    const log = await TxnLog.create(`,
      },
    ],
  },
  {
    name: 'old-generation-goes-before-the-flip',
    area: 'storage',
    breaks: 'the tree in use is untouched until the switch',
    aim: ['kinds=["interrupted-snapshot"]', 'members=3'],
    file: 'storage/storage.ts',
    find: `    await this.#meta.change({ generation, damaged: null, level, ...facts });
    const old = this.#live;`,
    replace: `    const old = this.#live;
    if (old !== null) await this.#destroyOld(old, generation);
    await this.#meta.change({ generation, damaged: null, level, ...facts });`,
    also: [
      {
        file: 'storage/storage.ts',
        find: '    this.#background.run(() => this.#destroyOld(old, generation));\n',
        replace: '',
      },
    ],
  },
  {
    name: 'recorded-end-ignored',
    area: 'storage',
    breaks: 'a log that ends before the mark of what was durable is damaged',
    aim: ['kinds=["cut-log"]', 'members=3'],
    file: 'storage/recovery.ts',
    find: 'if (log.last < meta.recordedZxid) {',
    replace: 'if (log.last < 0) {',
  },
  {
    name: 'recorded-end-before-it-is-durable',
    area: 'storage',
    breaks: 'the end of the log is recorded once it is durable: a crash is not damage',
    aim: ['kinds=["crash-at-change","crash"]'],
    file: 'storage/storage.ts',
    find: '    await this.#liveGeneration().log.append(batches);\n',
    replace: `    await this.#meta.change({ recordedZxid: batches.at(-1)?.last ?? 0 });
    await this.#liveGeneration().log.append(batches);
`,
  },
  {
    name: 'recorded-end-survives-a-snapshot',
    area: 'storage',
    breaks: 'a snapshot begins a new log, so the mark of what was durable begins again',
    aim: ['kinds=["two-leaderships","crash"]', 'members=3', 'clients.readShare=0.9'],
    file: 'storage/storage.ts',
    find: 'const facts = { logSeq: 0, recordedZxid: zxid, lineage: [...lineage] };',
    replace: 'const facts = { logSeq: 0, lineage: [...lineage] };',
  },
  {
    name: 'recorded-end-survives-a-truncation',
    area: 'storage',
    breaks: 'a truncation lowers the mark of what was durable: a shorter log is not damage',
    aim: ['kinds=["overtaken-leader"]', 'members=3', 'clients.readShare=0.2'],
    file: 'storage/storage.ts',
    find: 'if (after < this.#meta.value.recordedZxid) await',
    replace: 'if (after < 0) await',
  },
  {
    name: 'trunc-not-on-disk',
    area: 'storage',
    breaks: 'what was truncated is no longer in the log on disk',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    file: 'storage/txn-log.ts',
    // What is appended then follows it, in the same segment.
    find: '    await this.#begin();\n',
    replace: '    if (kept?.isAppendable !== true) await this.#begin();\n',
  },
  {
    name: 'trunc-forgotten-at-a-start',
    area: 'storage',
    breaks: 'what a segment contains after the base of its successor is void',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    file: 'storage/log-recovery.ts',
    find: 'const through = next?.base ?? null;',
    replace: 'const through = chain[index + 1] === next ? null : 0;',
  },
  {
    name: 'trunc-one-too-little',
    area: 'storage',
    breaks: 'everything after the common point leaves the log',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    file: 'storage/txn-log.ts',
    find: `      kept.cut(after);
    }
    this.#last = after;
    await this.#begin();
`,
    replace: `      if (holds(kept, after + 1)) more = after + 1;
      kept.cut(after);
    }
    this.#last = more;
    await this.#begin();
    this.#last = after;
`,
    also: [
      {
        file: 'storage/txn-log.ts',
        find: '    this.#truncations += 1;\n',
        replace: '    this.#truncations += 1;\n    let more = after;\n',
      },
    ],
  },
  {
    name: 'segment-noted-before-its-header',
    area: 'storage',
    breaks: 'a segment is recorded in meta once its header is durable: a crash is not damage',
    aim: ['kinds=["crash-at-change","crash"]'],
    file: 'storage/txn-log.ts',
    find: '    const segment = await Segment.begin(',
    replace: '    await onBegun(seq);\n    const segment = await Segment.begin(',
    also: [
      {
        file: 'storage/txn-log.ts',
        find: '    await onBegun(seq);\n    this.#segments',
        replace: '    this.#segments',
      },
    ],
  },
  {
    name: 'lost-segment-unnoticed',
    area: 'storage',
    breaks: 'a log without the segment that was begun last is damaged',
    aim: ['members=3', 'kinds=["cut-log"]'],
    file: 'storage/log-recovery.ts',
    find: 'if (newest === null || newest.seq < logSeq) {',
    replace: 'if (newest === null || logSeq < 0) {',
  },
  {
    name: 'left-write-not-made-durable',
    area: 'storage',
    breaks: 'what a start reads from the last process is durable before it is relied on',
    aim: ['kinds=["crash-at-change","crash"]', 'members=3'],
    file: 'storage/log-recovery.ts',
    find: 'return await makeDurable(file, newest, reader.position);',
    replace: 'return newest < 0 ? await makeDurable(file, newest, reader.position) : undefined;',
  },
  {
    name: 'salt-ignored',
    area: 'storage',
    breaks: 'the content of a file before it was recycled does not count as a record',
    aim: ['kinds=["crash-at-change","crash"]', 'tuning.logSegmentBytes=2000'],
    file: 'storage/log-record.ts',
    find: '  return crc32(salt);\n',
    replace: '  return salt.length;\n',
  },
  {
    name: 'recovery-accepts-a-gap',
    area: 'storage',
    breaks: 'each segment of the log continues where the one before it ends (invariant 2)',
    aim: ['members=3', 'kinds=["flip-bit"]'],
    file: 'storage/log-recovery.ts',
    find: 'if (through === null && !(await reader.hasLaterWrite())) return;',
    replace: 'if (through !== 0 && !(await reader.hasLaterWrite())) return;',
  },
  {
    name: 'damage-taken-for-a-torn-write',
    area: 'storage',
    breaks: 'a damaged record is distinguished from an incomplete write',
    aim: ['members=3', 'kinds=["flip-bit"]'],
    file: 'storage/log-recovery.ts',
    find: 'if (through === null && !(await reader.hasLaterWrite())) return;',
    replace: 'if (through === null) return;',
  },
];
