/**
 * A data directory of ZooKeeper, made here, from which a log is missing. Directories that a real
 * ZooKeeper wrote: answers/moving/moving.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { adler32Of, snapshotOf } from '../simulated/zookeeper-files/snapshot-writer.js';
import { readZooKeeperDirectory } from './data-directory.js';
import { TYPE } from './log-record.js';

/** A log whose transactions are requests that failed, of these zxids. */
function logOf(zxids: readonly bigint[]): Buffer {
  const entries = zxids.map((zxid) => {
    const record = Buffer.alloc(36);
    record.writeBigInt64BE(zxid, 12);
    record.writeInt32BE(TYPE.error, 28);
    const head = Buffer.alloc(12);
    head.writeBigInt64BE(BigInt(adler32Of(record)));
    head.writeInt32BE(record.length, 8);
    return Buffer.concat([head, record, Buffer.of(0x42)]);
  });
  return Buffer.concat([Buffer.from('5a4b4c47000000020000000000000000', 'hex'), ...entries]);
}

async function read(logs: readonly (readonly bigint[])[], stopAtDamage: boolean) {
  const dataDir = await mkdtemp(join(tmpdir(), 'rookery-data-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const folder = join(dataDir, 'version-2');
  await mkdir(folder);
  await writeFile(join(folder, 'snapshot.0'), snapshotOf(['']));
  for (const zxids of logs) {
    await writeFile(join(folder, `log.${zxids[0]?.toString(16)}`), logOf(zxids));
  }
  return await readZooKeeperDirectory({ dataDir, logDir: dataDir, stopAtDamage });
}

it('transactions missing between two logs are named, and none behind them is taken', async () => {
  const logs = [
    [1n, 2n],
    [5n, 6n],
  ];
  const missing = 'the transactions 0x3 to 0x4 before it are missing';
  await expect(read(logs, false)).rejects.toThrow(missing);
  const { damage, lastZxid } = await read(logs, true);
  expect([damage, lastZxid]).toEqual([expect.stringContaining(missing), 2n]);
});

it('an epoch begins anew, so nothing is missing before its first transaction', async () => {
  const { damage, lastZxid } = await read([[1n, 2n], [0x1_0000_0001n]], false);
  expect([damage, lastZxid]).toEqual([null, 0x1_0000_0001n]);
});
