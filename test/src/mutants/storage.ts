/**
 * Mutants of the storage: what is synced and when, the flip of generations, recovery.
 */
import type { Mutant } from './mutant.js';

export const storageMutants: readonly Mutant[] = [
  {
    name: 'log-append-unsynced',
    area: 'storage',
    breaks: 'an append is durable when it resolves',
    file: 'storage/segment.ts',
    find: `: records;
    await open.batch(operations, { sync: true });`,
    replace: `: records;
    await open.batch(operations, { sync: false });`,
  },
  {
    name: 'meta-unsynced',
    area: 'storage',
    breaks: 'epochs are durable when they are saved',
    file: 'storage/meta.ts',
    find: 'await this.database.batch([put], { sync: true });',
    replace: 'await this.database.batch([put], { sync: false });',
  },
  {
    name: 'checkpoint-unsynced',
    area: 'storage',
    breaks: 'a checkpoint is durable before the log behind it is purged',
    file: 'storage/checkpoint.ts',
    find: 'open.batch(batch, { sync: true })',
    replace: 'open.batch(batch, { sync: false })',
  },
  {
    name: 'snapshot-unsynced',
    area: 'storage',
    breaks: 'an installed snapshot is durable as a whole',
    file: 'storage/snapshot-sink.ts',
    find: 'open.batch(operations, { sync: true })',
    replace: 'open.batch(operations, { sync: false })',
  },
  {
    name: 'persisted-told-before-durable',
    area: 'storage',
    breaks: 'persisted(ticket) says that it and all before it are durable',
    file: 'storage/storage-queue.ts',
    find: `        await this.runBatch(batch);
        const last = batch.at(-1);
        for (const output of batch) this.bytes -= bytesOf(output);
        if (last !== undefined) this.hooks.onPersisted(last.ticket);`,
    replace: `        const last = batch.at(-1);
        for (const output of batch) this.bytes -= bytesOf(output);
        if (last !== undefined) this.hooks.onPersisted(last.ticket);
        await this.runBatch(batch);`,
  },
  {
    name: 'accepted-epoch-not-saved',
    area: 'storage',
    breaks: 'no epoch that was promised is forgotten (invariant 3)',
    file: 'storage/storage.ts',
    find: 'const saved = { acceptedEpoch: accepted, currentEpoch: current };',
    replace:
      'const last = Math.max(current, this.meta.acceptedEpoch);\n' +
      '    const saved = { acceptedEpoch: last, currentEpoch: current };',
  },
  {
    name: 'current-epoch-not-saved',
    area: 'storage',
    breaks: 'no epoch that was entered is forgotten (invariant 3)',
    file: 'storage/storage.ts',
    find: 'const saved = { acceptedEpoch: accepted, currentEpoch: current };',
    replace:
      'const currentEpoch = Math.min(current, this.meta.currentEpoch);\n' +
      '    const saved = { acceptedEpoch: accepted, currentEpoch };',
  },
  {
    name: 'flip-before-the-new-log',
    area: 'storage',
    breaks: 'an installed snapshot takes the place of tree and log in one atomic flip',
    aim: ['kinds=["interrupted-snapshot"]', 'members=3'],
    file: 'storage/storage.ts',
    find: `      await this.meta.change({ generation, damaged: null, level, ...facts });
      const old`,
    replace: '      await this.meta.change({ level, ...facts });\n      const old',
    also: [
      {
        file: 'storage/storage.ts',
        find: '      const log = await TxnLog.create(',
        replace: `      await this.meta.change({ generation, damaged: null, recordedZxid: zxid });
      const log = await TxnLog.create(`,
      },
    ],
  },
  {
    name: 'old-generation-goes-before-the-flip',
    area: 'storage',
    breaks: 'the tree in use is untouched until the flip',
    aim: ['kinds=["interrupted-snapshot"]', 'members=3'],
    file: 'storage/storage.ts',
    find: `      await this.meta.change({ generation, damaged: null, level, ...facts });
      const old = this.live;`,
    replace: `      const old = this.live;
      if (old !== null) await this.destroyOld(old, generation);
      await this.meta.change({ generation, damaged: null, level, ...facts });`,
    also: [
      {
        file: 'storage/storage.ts',
        find: '      this.background.run(() => this.destroyOld(old, generation));\n',
        replace: '',
      },
    ],
  },
  {
    name: 'recorded-end-ignored',
    area: 'storage',
    breaks: 'a log that ends before where it was when it was quiet is damaged',
    aim: ['kinds=["cut-log"]', 'members=3'],
    file: 'storage/recovery.ts',
    find: 'if (log.last < meta.recordedZxid) {',
    replace: 'if (log.last < 0) {',
  },
  {
    name: 'recorded-end-before-it-is-durable',
    area: 'storage',
    breaks: 'where the log ends is recorded once it is durable: a crash is no damage',
    aim: ['kinds=["crash-at-change","crash"]'],
    file: 'storage/storage.ts',
    find: "    await this.exclusively('append', () => this.sound().log.append(batch));",
    replace: `    await this.exclusively('append', async () => {
      await this.meta.change({ recordedZxid: batch.at(-1)?.at(-1)?.zxid ?? 0 });
      await this.sound().log.append(batch);
    });`,
  },
  {
    name: 'trunc-not-on-disk',
    area: 'storage',
    breaks: 'what was truncated is gone from the log on disk',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    file: 'storage/txn-log.ts',
    find: '      if (!segment.empty) await segment.cut(after);\n',
    replace: '      if (!segment.empty) segment.last = after;\n',
  },
  {
    name: 'trunc-one-too-little',
    area: 'storage',
    breaks: 'everything after the common point leaves the log',
    aim: ['kinds=["isolate-leader","crash"]', 'members=3'],
    file: 'storage/segment.ts',
    find: 'if (zxidOfKey(key) > after) operations',
    replace: 'if (zxidOfKey(key) > after + 1) operations',
    also: [
      {
        file: 'storage/segment.ts',
        find: 'const kept = proposals.filter((proposal) => proposal.zxid <= after);',
        replace: `const kept = proposals.filter((proposal) => proposal.zxid <= after);
  if (kept.length === 0) return [];`,
      },
    ],
  },
  {
    name: 'recovery-ignores-the-end-mark',
    area: 'storage',
    breaks: 'a log that was quiet has lost nothing of its end unnoticed',
    aim: ['members=3', 'kinds=["flip-bit","clean-stop"]'],
    file: 'storage/log-recovery.ts',
    find: 'if (segment.last < end) {',
    replace: 'if (segment.last < 0) {',
  },
  {
    name: 'recovery-accepts-a-gap',
    area: 'storage',
    breaks: 'each proposal of the log names its predecessor (invariant 2)',
    file: 'storage/log-recovery.ts',
    find: 'if (this.last === null || previous === this.last) return;',
    replace: 'if (this.last === null || previous >= 0) return;',
  },
  {
    name: 'recovery-skips-what-is-damaged',
    area: 'storage',
    // A record with a wrong checksum is left out, as if it had never been written.
    breaks: 'a damaged record is told from a torn write',
    file: 'storage/segment.ts',
    find: `  const packed = unseal(key, value);
  if (packed === null) throw`,
    replace: `  const packed = unseal(key, value);
  if (packed === null) return [];
  if (at === name) throw`,
    also: [
      {
        file: 'storage/segment.ts',
        find: 'if (proposals[0]?.zxid !== zxidOfKey(key)) throw',
        replace: 'if (proposals.length > 0 && proposals[0]?.zxid !== zxidOfKey(key)) throw',
      },
      {
        file: 'storage/log-recovery.ts',
        find: 'if (this.last === null || previous === this.last) return;',
        replace: 'if (this.last === null || previous >= 0) return;',
      },
    ],
  },
];
