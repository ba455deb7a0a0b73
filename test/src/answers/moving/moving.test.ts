/**
 * Moving in and out, against a real ZooKeeper 3.8.0: a data directory that it wrote under load
 * until SIGKILL is imported, and it starts on a directory that was exported. Every znode is
 * compared with its data and its Stat.
 *
 * `ROOKERY_IMPORT_ROUNDS` is the number of directories that are imported; 2 by default.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { CreateFlag, type Stat } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import type { Member } from '../../harness/member.js';
import {
  create,
  getChildren,
  getData,
  remove,
  sendCreates,
  sendRefusedCreate,
  setData,
  sync,
} from '../../harness/operations.js';
import { productNamed, ROOKERY_MAIN } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';
import type { WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 180_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';
const ROUNDS = Number(process.env['ROOKERY_IMPORT_ROUNDS'] ?? 2);
const WRITERS = 4;

const run = promisify(execFile);

async function rookery(...args: readonly string[]): Promise<string> {
  return (await run(process.execPath, [ROOKERY_MAIN, ...args])).stdout;
}

/** Writes of all kinds without end, until the member is killed. */
async function writeWithoutEnd(client: WireClient, writer: number, done: { writes: number }) {
  const root = `/w${writer}`;
  const random = Math.random;
  await create(client, root, 'root');
  for (let step = 0; ; step++, done.writes++) {
    const path = `${root}/${Math.floor(30 * random())}`;
    const data = 'x'.repeat(Math.floor(300 * random()));
    const writes: readonly (() => Promise<unknown>)[] = [
      () => create(client, path, data),
      () => create(client, path, data),
      () => remove(client, path),
      () => setData(client, path, data),
      () => setData(client, root, data),
      () => create(client, `${root}/s-`, data, CreateFlag.persistentSequential),
      () => create(client, `${root}/e-${step}`, data, CreateFlag.ephemeral),
      () => sendCreates(client, [`${root}/m-${step}`, `${root}/m-${step}/below`]),
      () => sendRefusedCreate(client, `${root}/r-${step}`),
    ];
    const write = writes[Math.floor(writes.length * random())];
    // A znode that already exists, or does not exist, is part of the load.
    await write?.().catch((error: unknown) => {
      if (!client.open) throw error;
    });
  }
}

interface Seen {
  readonly data: string;
  readonly stat: Stat;
}

async function allOf(client: WireClient, skipped: ReadonlySet<string> = new Set()) {
  const seen = new Map<string, Seen>();
  const pending = ['/'];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const { data, stat } = await getData(client, path);
    if (!skipped.has(path)) seen.set(path, { data, stat });
    for (const name of await getChildren(client, path)) {
      pending.push(path === '/' ? `/${name}` : `${path}/${name}`);
    }
  }
  return seen;
}

/**
 * The state that the import must have: without ephemerals, and with what that changes at their
 * parents.
 */
function withoutEphemerals(seen: ReadonlyMap<string, Seen>): Map<string, Seen> {
  const left = new Map([...seen].filter(([, { stat }]) => BigInt(stat.ephemeralOwner) === 0n));
  const lost = new Map<string, number>();
  for (const path of seen.keys()) {
    if (!left.has(path)) lost.set(dirname(path), (lost.get(dirname(path)) ?? 0) + 1);
  }
  return new Map(
    [...left].map(([path, { data, stat }]) => {
      const count = lost.get(path) ?? 0;
      // As if each ephemeral had been deleted; only the zxid is that of the source.
      const numChildren = stat.numChildren - count;
      return [path, { data, stat: { ...stat, numChildren, cversion: stat.cversion + count } }];
    }),
  );
}

/**
 * All znodes, once two walks in a row find the same: on a slow machine the sessions of the killed
 * writers expire, and their ephemerals go, while they are read.
 */
async function settled(client: WireClient): Promise<ReadonlyMap<string, Seen>> {
  let before: ReadonlyMap<string, Seen> | undefined;
  return await until('two equal walks', TEST_DEADLINE_MS, async () => {
    const found = await allOf(client, OWN).catch(() => undefined);
    const isSame = found !== undefined && isDeepStrictEqual(found, before);
    before = found;
    return isSame ? found : undefined;
  });
}

async function killed(ensemble: Ensemble): Promise<Member> {
  const [member] = ensemble.members;
  if (member === undefined) throw new Error('there is a member');
  await member.kill();
  return member;
}

/** The data of these is different on each member. */
const OWN = new Set(['/zookeeper/config']);

it.skipIf(mayLack(ZOOKEEPER))(
  'a directory that ZooKeeper wrote under load until a SIGKILL is imported znode by znode',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      // It writes snapshots all the time, while its tree changes.
      const product = productNamed('apache');
      const source = await useServingEnsemble({ size: 1, product, settings: { snapCount: 200 } });
      const [zookeeper] = source.members;
      if (zookeeper === undefined) throw new Error('there is a member');
      const clients = await Promise.all(
        Array.from({ length: WRITERS }, () => useClient(zookeeper)),
      );
      const done = { writes: 0 };
      const writing = clients.map((client, writer) =>
        writeWithoutEnd(client, writer, done).catch(() => undefined),
      );
      const enough = 300 + Math.floor(3000 * Math.random());
      await until(`${enough} writes`, TEST_DEADLINE_MS, async () => {
        return done.writes >= enough || undefined;
      });
      await killed(source);
      await Promise.all(writing);
      // The import must show what ZooKeeper answers after its own restart.
      source.start();
      await source.serving();
      const expected = withoutEphemerals(await settled(await useClient(zookeeper)));
      await killed(source);
      expect(expected.size).toBeGreaterThan(20);
      const target = await useServingEnsemble({ size: 1 });
      const member = await killed(target);
      rmSync(member.dataDir, { recursive: true });
      const config = join(target.directory, `config-${member.id}.json`);
      const from = ['--data-dir', zookeeper.dataDir, '--config', config, '--json'];
      const report = JSON.parse(await rookery('import', 'zookeeper', ...from));
      const logs = join(zookeeper.dataDir, 'version-2');
      const [first = ''] = readdirSync(logs).filter((name) => name.startsWith('log.'));
      const lines = await rookery('inspect', 'log', join(logs, first), '--path', '/w1', '--json');
      expect(JSON.parse(lines.split('\n', 1)[0] ?? '')).toMatchObject({
        kind: 'write',
        changes: [{ kind: 'create', path: '/w1' }],
      });
      expect(report).toMatchObject({ digests: expect.stringMatching(/^[1-9]\d* compared/) });
      target.start();
      await target.serving();
      const imported = await allOf(await useClient(member), OWN);
      expect([...imported.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
      for (const [path, seen] of expected) expect(imported.get(path), path).toEqual(seen);
      await killed(target);
    }
  },
  TEST_DEADLINE_MS * Math.max(1, ROUNDS / 4),
);

it.skipIf(mayLack(ZOOKEEPER))(
  'ZooKeeper starts on an export and answers as Rookery did, from a backup of a backup too',
  async () => {
    const source = await useServingEnsemble({ size: 1 });
    const [member] = source.members;
    if (member === undefined) throw new Error('there is a member');
    const client = await useClient(member);
    for (const path of ['/a', '/a/b', '/a/ü-界']) await create(client, path, `data of ${path}`);
    for (let count = 0; count < 3; count++) {
      await create(client, '/a/s-', '', CreateFlag.persistentSequential);
    }
    await setData(client, '/a', 'changed');
    await remove(client, '/a/b');
    const expected = await allOf(client, OWN);
    await member.stop();
    const config = join(source.directory, `config-${member.id}.json`);
    const own = ['--config', config, '--id', `${member.id}`];
    const backups = join(source.directory, 'backups');
    await rookery('backup', 'save', backups, ...own);
    const listed = await rookery('backup', 'list', backups);
    const backup = /\S+snapshot\.[\da-f]+\.gz/.exec(listed)?.[0] ?? '';
    expect(await rookery('backup', 'verify', backup)).toMatch(/^sound: /);
    rmSync(member.dataDir, { recursive: true });
    await rookery('restore', backup, '--config', config);
    const target = await useServingEnsemble({ size: 1, product: productNamed('apache') });
    const zookeeper = await killed(target);
    rmSync(join(zookeeper.dataDir, 'version-2'), { recursive: true });
    await rookery('export', 'zookeeper', ...own, '--into', zookeeper.dataDir);
    target.start();
    await target.serving();
    const exported = await allOf(await useClient(zookeeper), OWN);
    expect([...exported.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [path, seen] of expected) expect(exported.get(path), path).toEqual(seen);
  },
  TEST_DEADLINE_MS,
);

it(
  'after the loss of a majority, a new ensemble has what a survivor has logged',
  async () => {
    const ensemble = await useServingEnsemble({ size: 3 });
    const client = await useClient(ensemble.member(3));
    for (let count = 0; count < 50; count++) await create(client, `/n${count}`, `data ${count}`);
    await Promise.all(ensemble.members.map((member) => member.kill()));
    for (const id of [1, 2]) ensemble.wipe(id);
    const file = (id: number) => join(ensemble.directory, `config-${id}.json`);
    const lost = join(ensemble.directory, 'lost.json');
    const config = JSON.parse(readFileSync(file(1), 'utf8'));
    writeFileSync(lost, JSON.stringify(config));
    const dataDir = join(ensemble.directory, 'recovered');
    for (const id of ensemble.ids) writeFileSync(file(id), JSON.stringify({ ...config, dataDir }));
    const log = await rookery('inspect', 'log', '--config', lost, '--id', '3', '--path', '/n7');
    expect(log).toMatch(/^0x1[\da-f]{8} {2}\S+Z {2}session 0x\S+ {2}create "\/n7" 6 bytes, /);
    expect(log.trimEnd().split('\n')).toHaveLength(1);
    const ofSurvivor = ['inspect', 'log', '--config', lost, '--id', '3', '--path', '/n7', '--json'];
    expect(JSON.parse(await rookery(...ofSurvivor))).toMatchObject({ origin: 3, kind: 'write' });
    const from = ['--from-config', lost, '--from', '3'];
    expect(await rookery('recover', ...from, '--config', file(1))).toContain('written');
    ensemble.start();
    await ensemble.serving();
    const found = await allOf(await useClient(ensemble.member(1)));
    for (let count = 0; count < 50; count++) {
      expect(found.get(`/n${count}`)?.data).toBe(`data ${count}`);
    }
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it(
  'a backup of a running member holds all that was acknowledged before it, while writes go on',
  async () => {
    const ensemble = await useServingEnsemble({
      size: 3,
      operated: true,
      settings: { adminUsers: ['ops:1vdFRDCql3UzcxJ7kySyFCmtSF0='] },
    });
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('there is a follower');
    const client = await useClient(ensemble.member(1));
    let acknowledged = 0;
    let isOver = false;
    const writing = (async () => {
      for (; !isOver; acknowledged++) await create(client, `/n${acknowledged}`, `${acknowledged}`);
    })();
    // If the test fails earlier, its members end before the load does.
    writing.catch(() => undefined);
    await until(
      'a few hundred writes are acknowledged',
      30_000,
      async () => acknowledged > 300 || undefined,
    );
    const backups = join(ensemble.directory, 'backups');
    const url = `http://127.0.0.1:${follower.adminPort}`;
    const save = (user: string) =>
      run(process.execPath, [ROOKERY_MAIN, 'backup', 'save', backups, '--url', url], {
        env: { ...process.env, ROOKERY_ADMIN_USER: user },
      });
    await expect(save('ops:wrong')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No user has that password'),
    });
    // After a sync the follower has applied what was acknowledged before.
    const before = acknowledged;
    await sync(await useClient(follower));
    const { stdout } = await save('ops:hunter2');
    isOver = true;
    await writing;
    await Promise.all(ensemble.members.map((member) => member.kill()));
    for (const id of ensemble.ids) ensemble.wipe(id);
    const [, backup = ''] = /saved and verified: (\S+),/.exec(stdout) ?? [];
    await rookery('restore', backup, '--config', join(ensemble.directory, 'config-1.json'));
    ensemble.start();
    await ensemble.serving();
    const found = await allOf(await useClient(ensemble.member(2)));
    const names = [...found.keys()].filter((path) => path.startsWith('/n'));
    expect(names.length).toBeGreaterThanOrEqual(before);
    for (let count = 0; count < names.length; count++) {
      expect(found.get(`/n${count}`)?.data, `/n${count}`).toBe(`${count}`);
    }
  },
  TEST_DEADLINE_MS,
);
