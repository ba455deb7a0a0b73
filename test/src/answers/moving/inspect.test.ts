/**
 * `rookery inspect` beside ZooKeeper's own programs: SnapshotFormatter and TxnLogToolkit of
 * Debian's ZooKeeper 3.8.0 print the same of what a real ZooKeeper wrote, and of what Rookery
 * exports. Then du, diff and checkpoint on states that are known.
 */
import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CreateFlag,
  CreateRequest,
  ErrorCode,
  OpCode,
  Perms,
  RaiseSequenceRequest,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import {
  create,
  remove,
  sendCreates,
  sendRefusedCreate,
  setData,
} from '../../harness/operations.js';
import { productNamed, ROOKERY_MAIN } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';
import type { WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 120_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';
const CLASS_PATH = [ZOOKEEPER, '/usr/share/java/slf4j-nop.jar', '/usr/share/java/commons-cli.jar'];
const FLAGS = [
  ...['-XX:TieredStopAtLevel=1', '-Dzookeeper.extendedTypesEnabled=true'],
  ...['-Duser.timezone=UTC', '-Duser.language=en', '-Duser.country=US'],
  ...['-Dfile.encoding=UTF-8', '-Dstdout.encoding=UTF-8', '-Dsun.stdout.encoding=UTF-8'],
];
const OPEN = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

const run = promisify(execFile);

async function java(program: string, ...args: readonly string[]): Promise<string> {
  const command = ['-cp', CLASS_PATH.join(':'), ...FLAGS, `org.apache.zookeeper.${program}`];
  return (await run('java', [...command, ...args])).stdout;
}

async function rookery(...args: readonly string[]): Promise<string> {
  return (await run(process.execPath, [ROOKERY_MAIN, ...args])).stdout;
}

/** The order of siblings is that of a hash table in ZooKeeper. */
function blocksOf(text: string): readonly string[] {
  const blocks = text.trimEnd().split('----\n');
  return [blocks[0] ?? '', ...blocks.slice(1).toSorted()];
}

async function writeOfAllKinds(client: WireClient): Promise<void> {
  await create(client, '/app', 'hello');
  await create(client, '/app/\u00fc-\u754c', '\u00e4 \u754c');
  await create(client, '/app/s-', '', CreateFlag.persistentSequential);
  await create(client, '/app/e', 'owned', CreateFlag.ephemeral);
  await create(client, '/app/gone', 'x');
  await remove(client, '/app/gone');
  await setData(client, '/app', 'changed');
  await sendCreates(client, ['/m', '/m/below']);
  await sendRefusedCreate(client, '/r').catch(() => undefined);
  await client.request(OpCode.createContainer, CreateRequest, {
    path: '/box',
    data: Buffer.alloc(0),
    flags: CreateFlag.container,
    acl: OPEN,
  });
}

it.skipIf(mayLack(ZOOKEEPER))(
  "a snapshot and a log of ZooKeeper are printed as ZooKeeper's own programs print them",
  async () => {
    const product = productNamed('apache');
    const ensemble = await useServingEnsemble({ size: 1, product });
    const [member] = ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    await writeOfAllKinds(await useClient(member));
    await member.kill();
    ensemble.start();
    await ensemble.serving();
    await member.kill();
    const directory = join(member.dataDir, 'version-2');
    const names = readdirSync(directory);
    const zooKeeper = ['--format', 'zookeeper'];
    let transactions = 0;
    let told = '';
    for (const name of names.filter((each) => each.startsWith('log.'))) {
      const file = join(directory, name);
      const expected = await java('server.persistence.TxnLogToolkit', file);
      expect(await rookery('inspect', 'log', file, ...zooKeeper)).toBe(expected);
      transactions += expected.split(' zxid ').length - 1;
      told += await rookery('inspect', 'log', file);
    }
    for (const mode of ['persistent', 'ephemeral', 'container']) {
      expect(told).toMatch(new RegExp(`create "/[^"]+" .*, ${mode}$`, 'm'));
    }
    expect(told).toMatch(/ session 0x[\da-f]+ {2}createSession$/m);
    expect(transactions).toBeGreaterThan(10);
    for (const name of names.filter((each) => each.startsWith('snapshot.'))) {
      const file = join(directory, name);
      for (const [theirs, ours] of [[], ['-d']].map((own) => [own, own.map(() => '--data')])) {
        const expected = await java('server.SnapshotFormatter', ...(theirs ?? []), file);
        const printed = await rookery('inspect', 'snapshot', file, ...zooKeeper, ...(ours ?? []));
        expect(blocksOf(printed)).toEqual(blocksOf(expected));
      }
    }
  },
  TEST_DEADLINE_MS,
);

it.skipIf(mayLack(ZOOKEEPER))(
  'the states of a member, of a backup and of an export are told apart znode by znode',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1 });
    const [member] = ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    const client = await useClient(member);
    await writeOfAllKinds(client);
    await until('the number is raised, once the level is', TEST_DEADLINE_MS, async () => {
      const asked = { path: '/m', atLeast: 5_000_000 };
      const { error } = await client.request(OpCode.raiseSequence, RaiseSequenceRequest, asked);
      return error === ErrorCode.ok || undefined;
    });
    await member.stop();
    const config = join(ensemble.directory, `config-${member.id}.json`);
    const own = ['--config', config, '--id', `${member.id}`];
    const checkpoint = JSON.parse(await rookery('inspect', 'checkpoint', ...own, '--json'));
    expect(checkpoint).toMatchObject({ member: member.id, 'has served': true, znodes: 11 });
    const session = `0x${client.session.id.toString(16)}`;
    const logged = await rookery('inspect', 'log', ...own, '--session', session, '--json');
    const transactions = logged
      .split('\n', 3)
      .slice(0, 2)
      .map((line) => JSON.parse(line));
    expect(transactions).toMatchObject([
      { session, kind: 'createSession', zxid: session },
      { session, kind: 'write' },
    ]);
    const raised = await rookery('inspect', 'log', ...own, '--path', '/m');
    expect(raised).toMatch(/ raiseSequence "\/m" next number 5000000$/m);
    const backups = join(ensemble.directory, 'backups');
    await rookery('backup', 'save', backups, ...own);
    const [first = ''] = readdirSync(backups).filter((name) => name.endsWith('.gz'));
    const backup = join(backups, first);
    expect(await rookery('inspect', 'diff', `${config}:${member.id}`, backup, '--stats')).toBe('');

    ensemble.start();
    await ensemble.serving();
    const next = await useClient(member);
    await setData(next, '/app', 'changed again');
    await create(next, '/new', '');
    await remove(next, '/m/below');
    await member.stop();
    const theirs = join(ensemble.directory, 'zookeeper');
    await rookery('export', 'zookeeper', ...own, '--into', theirs);
    const differing = run(process.execPath, [ROOKERY_MAIN, 'inspect', 'diff', backup, theirs]);
    await expect(differing).rejects.toMatchObject({
      code: 1,
      stdout: '~ "/app"  data\n- "/m/below"\n+ "/new"\n',
    });
    const du = JSON.parse(await rookery('inspect', 'du', theirs, '--path', '/app', '--json'));
    expect(du).toEqual([
      { path: '/app', znodes: 4, dataBytes: 13 + 6 + 5 },
      { path: '/app/\u00fc-\u754c', znodes: 1, dataBytes: 6 },
      { path: '/app/e', znodes: 1, dataBytes: 5 },
      { path: '/app/s-0000000001', znodes: 1, dataBytes: 0 },
    ]);
    const [exported = ''] = readdirSync(join(theirs, 'version-2'));
    const file = join(theirs, 'version-2', exported);
    const formatted = await java('server.SnapshotFormatter', '-d', file);
    const printed = await rookery('inspect', 'snapshot', file, '--format', 'zookeeper', '--data');
    expect(blocksOf(printed)).toEqual(blocksOf(formatted));
    const ofRaised = blocksOf(formatted).find((block) => block.startsWith('/m\n'));
    // Here it is the number of the next sequential znode.
    expect(ofRaised).toContain('cversion = 5000000\n');
  },
  TEST_DEADLINE_MS,
);

it('a source that cannot be read is a mistake, and the message names it', async () => {
  const ensemble = await useServingEnsemble({ size: 1 });
  const [member] = ensemble.members;
  if (member === undefined) throw new Error('there is a member');
  const config = join(ensemble.directory, `config-${member.id}.json`);
  const inspect = (...args: readonly string[]) =>
    run(process.execPath, [ROOKERY_MAIN, 'inspect', ...args]);
  const said = (text: string) => ({ code: 2, stderr: expect.stringContaining(text) });
  await expect(inspect('du', '/nowhere')).rejects.toMatchObject(said('/nowhere cannot be read'));
  // Whoever has a member of Rookery may give its directory.
  await expect(inspect('du', ensemble.directory)).rejects.toMatchObject(said('names a member'));
  await expect(inspect('du', `${config}:9`)).rejects.toMatchObject(said('the id 9'));
  await expect(inspect('du', config, '--path', 'a')).rejects.toMatchObject(said('start with /'));
  const running = ['checkpoint', '--config', config, '--id', `${member.id}`];
  await expect(inspect(...running)).rejects.toMatchObject(said('in use'));
  const damaged = join(ensemble.directory, 'snapshot.1');
  writeFileSync(damaged, 'not one');
  await expect(inspect('diff', damaged, damaged)).rejects.toMatchObject({
    ...said(`${damaged} is damaged`),
  });
});
