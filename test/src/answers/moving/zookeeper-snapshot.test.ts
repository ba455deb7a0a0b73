/**
 * `rookery inspect snapshot` on files that a real ZooKeeper 3.8.0 wrote: znodes of all kinds, a
 * session, the digest, plain and compressed, and with any part changed.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { CreateFlag, CreateRequest, OpCode, Perms } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { create } from '../../harness/operations.js';
import { productNamed, ROOKERY_MAIN } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 120_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';

const run = promisify(execFile);

async function inspect(file: string): Promise<Record<string, unknown>> {
  const args = [ROOKERY_MAIN, 'inspect', 'snapshot', file, '--json'];
  return JSON.parse((await run(process.execPath, args)).stdout);
}

it.skipIf(mayLack(ZOOKEEPER))(
  'shows what is in a snapshot, verifies it by the digest, and refuses a damaged one',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, product: productNamed('apache') });
    const [member] = ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    const client = await useClient(member);
    for (const path of ['/app', '/app/b', '/app/b/ü-界'])
      await create(client, path, 'x'.repeat(10));
    await create(client, '/app/e', 'owned', CreateFlag.ephemeral);
    await client.request(OpCode.createContainer, CreateRequest, {
      path: '/box',
      data: Buffer.alloc(0),
      flags: CreateFlag.container,
      acl: [{ perms: Perms.all, scheme: 'world', id: 'anyone' }],
    });
    await create(client, '/app/s-', '', CreateFlag.persistentSequential);
    await member.kill();
    // ZooKeeper writes a snapshot of what it has replayed when it starts.
    ensemble.start();
    await ensemble.serving();
    await member.kill();
    const directory = join(member.dataDir, 'version-2');
    const names = readdirSync(directory).filter((name) => name.startsWith('snapshot.'));
    const zxids = names.map((name) => Number.parseInt(name.slice('snapshot.'.length), 16));
    const zxid = Math.max(...zxids).toString(16);
    const file = join(directory, `snapshot.${zxid}`);
    const report = await inspect(file);
    expect(report).toMatchObject({
      zxid: `0x${zxid}`,
      sessions: 1,
      znodes: 10,
      ephemerals: 1,
      containers: 1,
      ttlZnodes: 0,
      digest: 'matches',
      digestZxid: `0x${zxid}`,
      missingAcls: 0,
      largest: { path: '/app', bytes: 10 },
    });
    expect(report['subtrees']).toContainEqual({ path: '/app', znodes: 5, dataBytes: 35 });
    const compressed = join(ensemble.directory, `snapshot.${zxid}.gz`);
    writeFileSync(compressed, gzipSync(readFileSync(file)));
    expect(await inspect(compressed)).toEqual({ ...report, file: compressed });
    const bytes = readFileSync(file);
    bytes[300] = (bytes[300] ?? 0) ^ 1;
    const damaged = join(ensemble.directory, 'snapshot.1');
    writeFileSync(damaged, bytes);
    await expect(inspect(damaged)).rejects.toMatchObject({ code: 1 });
    await expect(inspect(join(ensemble.directory, 'none'))).rejects.toMatchObject({ code: 2 });
  },
  TEST_DEADLINE_MS,
);
