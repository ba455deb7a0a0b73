/**
 * `rookery mirror` between real ensembles: from ZooKeeper 3.8.0 into Rookery while clients write,
 * killed in the middle and begun again; what it tells before it does anything; and what it refuses.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Client, connect } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { productNamed, ROOKERY_MAIN } from '../../harness/product.js';
import { Random } from '../../harness/random.js';
import { ended } from '../../harness/run-to-end.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 180_000;
const DEADLINE_MS = 60_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';
const DIGEST = [{ perms: 31, scheme: 'digest', id: 'ops:1vdFRDCql3UzcxJ7kySyFCmtSF0=' }];
const ANYONE_READS = [...DIGEST, { perms: 31, scheme: 'world', id: 'anyone' }];

const run = promisify(execFile);

function hostsOf(ensemble: Ensemble): string {
  return ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
}

async function useConnected(hosts: string): Promise<Client> {
  const client = await connect(hosts);
  onTestFinished(() => client.close());
  return client;
}

interface Mirror {
  readonly child: ChildProcess;
  /** All that it said. */
  said(): string;
  /** Resolves with the exit code. */
  ended(): Promise<number | null>;
}

function useMirror(...args: readonly string[]): Mirror {
  const child = spawn(process.execPath, [ROOKERY_MAIN, 'mirror', ...args], { stdio: 'pipe' });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  const closed = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    said: () => text,
    ended: async () => {
      const [code] = await closed;
      return code;
    },
  };
}

async function follows(mirror: Mirror): Promise<void> {
  await until('the mirror follows', DEADLINE_MS, async () => {
    if (mirror.child.exitCode !== null) throw new Error(`it ended: ${mirror.said()}`);
    return mirror.said().includes('following the source') || undefined;
  });
}

/** Data and ACLs by path, without ephemerals. The order of an ACL's entries means nothing. */
async function contentOf(client: Client, top: string): Promise<Map<string, string>> {
  const content = new Map<string, string>();
  const pending = [top];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const [{ data, stat }, { acl }, { children }] = await Promise.all([
      client.getData(path),
      client.getAcl(path),
      client.getChildren(path),
    ]);
    const owner = stat.ephemeralOwner;
    const isSession = owner !== 0n && BigInt.asUintN(64, owner) >> 63n === 0n;
    if (isSession) continue;
    const kind = owner === 0n ? '' : BigInt.asUintN(64, owner).toString(16);
    content.set(
      path.slice(top.length),
      JSON.stringify([data?.toString('base64'), sortedAcl(acl), kind]),
    );
    for (const name of children) pending.push(`${path}/${name}`);
  }
  return content;
}

function sortedAcl(acl: readonly object[]): string[] {
  return acl.map((entry) => JSON.stringify(entry)).sort();
}

/** Writes without end until `isOver`; resolves with their number. */
async function writeUntil(client: Client, random: () => number, isOver: () => boolean) {
  let writes = 0;
  for (; !isOver(); writes++) {
    const path = `/app/d${Math.floor(5 * random())}/${Math.floor(40 * random())}`;
    const data = 'x'.repeat(Math.floor(200 * random()));
    const kinds: readonly (() => Promise<unknown>)[] = [
      () => client.create(path, data),
      () => client.create(path, data),
      () => client.setData(path, data),
      () => client.delete(path),
      () => client.create(`${path}/below`, data),
      () => client.delete(`${path}/below`),
      () => client.create('/app/q/n-', data, { mode: 'persistentSequential' }),
      () => client.create(`/app/e/${writes}`, data, { mode: 'ephemeral' }),
      () => client.setAcl(path, random() < 0.5 ? ANYONE_READS : [...ANYONE_READS].reverse()),
    ];
    // A znode that is there already, or is not, is part of the load.
    await kinds[Math.floor(kinds.length * random())]?.().catch(() => undefined);
  }
  return writes;
}

it.skipIf(mayLack(ZOOKEEPER))(
  'a subtree of ZooKeeper is followed under load, past kill -9 of the mirror, until the cut-over',
  async () => {
    const choices = Random.forTest('mirror');
    const random = () => choices.below(1000) / 1000;
    const [zookeeper, rookery] = await Promise.all([
      useServingEnsemble({ size: 1, product: productNamed('apache') }),
      useServingEnsemble({ size: 1 }),
    ]);
    const [source, target] = await Promise.all([
      useConnected(hostsOf(zookeeper)),
      useConnected(hostsOf(rookery)),
    ]);
    await source.create('/app', 'root', { acl: ANYONE_READS });
    for (const name of ['q', 'e', 'd0', 'd1', 'd2', 'd3', 'd4'])
      await source.create(`/app/${name}`);
    for (let count = 0; count < 300; count++) await source.create(`/app/d0/old-${count}`, 'x');
    await source.create('/other', 'is not mirrored');
    let isOver = false;
    const writing = writeUntil(source, random, () => isOver);
    const ends = ['--from', `${hostsOf(zookeeper)}/app`, '--to', `${hostsOf(rookery)}/copy`];
    const first = useMirror(...ends);
    await follows(first);
    first.child.kill('SIGKILL');
    await first.ended();
    const second = useMirror(...ends, '--delete', '--json');
    await follows(second);
    // Connections and sessions come and go meanwhile.
    await rookery.member(1).kill();
    rookery.start();
    await rookery.serving();
    await target.connected();
    const { length } = await target.getChildren('/copy/q').then(({ children }) => children);
    await until('it carries what is written now', DEADLINE_MS, async () => {
      const { children } = await target.getChildren('/copy/q');
      return children.length > length + 20 || undefined;
    });
    isOver = true;
    expect(await writing).toBeGreaterThan(100);
    second.child.kill('SIGTERM');
    expect(await second.ended(), second.said()).toBe(0);
    const report = JSON.parse(second.said().slice(second.said().indexOf('{')));
    expect(report).toMatchObject({ equal: true, 'differs now': 0 });
    const [wanted, found] = [await contentOf(source, '/app'), await contentOf(target, '/copy')];
    expect(found).toEqual(wanted);
    expect((await target.getChildren('/')).children.toSorted()).toEqual(['copy', 'zookeeper']);
    // Numbers of sequential znodes go on where they were.
    const next = await source.create('/app/q/n-', '', { mode: 'persistentSequential' });
    const here = await target.create('/copy/q/n-', '', { mode: 'persistentSequential' });
    expect(here.path.slice('/copy'.length) >= next.path.slice('/app'.length)).toBe(true);
  },
  TEST_DEADLINE_MS,
);

it(
  'a plan changes nothing, all kinds are carried, and what is there already is not removed unasked',
  async () => {
    const [one, other] = await Promise.all([
      useServingEnsemble({ size: 3 }),
      useServingEnsemble({ size: 1 }),
    ]);
    const [source, target] = await Promise.all([
      useConnected(hostsOf(one)),
      useConnected(hostsOf(other)),
    ]);
    await source.create('/app', null);
    await source.create('/app/box', '', { mode: 'container' });
    await source.create('/app/box/in', 'x');
    await source.create('/app/ttl', 'y', { mode: 'persistentWithTtl', ttlMs: 3_600_000 });
    await source.create('/app/mine', 'z', { mode: 'ephemeral' });
    await source.create('/app/closed', '', {
      acl: [...DIGEST, { perms: 1, scheme: 'world', id: 'anyone' }],
    });
    const ends = ['--from', hostsOf(one), '--to', hostsOf(other)];
    const mirror = (...args: readonly string[]) =>
      run(process.execPath, [ROOKERY_MAIN, 'mirror', ...ends, ...args], {
        env: { ...process.env, ROOKERY_MIRROR_FROM_AUTH: 'digest:ops:hunter2' },
      });
    const plan = JSON.parse((await mirror('--plan', '--json')).stdout);
    expect(plan).toMatchObject({
      znodes: 6 + 1 - 1,
      'would create': 5,
      'would change': 0,
      'ACL identities that the target must know': ['digest (1 znode)'],
      'not carried': expect.arrayContaining([expect.stringMatching('^1 ephemeral znode:')]),
    });
    expect((await target.getChildren('/')).children).toEqual(['zookeeper']);

    await target.create('/kept', 'by somebody');
    await expect(mirror('--once')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/1 znode .* "\/kept".*--delete removes/),
    });
    expect((await mirror('--once', '--delete')).stdout).toMatch(/^equal +true\n/);
    expect(await target.exists('/kept')).toBe(null);
    expect(await contentOf(target, '/app')).toEqual(await contentOf(source, '/app'));
    // Again, there is nothing left to do.
    expect(JSON.parse((await mirror('--once', '--json')).stdout)).toMatchObject({
      equal: true,
      created: 0,
      changed: 0,
      deleted: 0,
    });
    await expect(
      run(process.execPath, [
        ...[ROOKERY_MAIN, 'mirror', '--from', `${hostsOf(one)}/none`, '--to', hostsOf(other)],
      ]),
    ).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('no such znode') });
  },
  TEST_DEADLINE_MS,
);

/** Resolves once all members are known to know the request; each session asks once. */
async function raisesSequences(hosts: string): Promise<void> {
  await until('the level is raised', DEADLINE_MS, async () => {
    const client = await connect(hosts);
    try {
      return (await client.raisesSequences()) || undefined;
    } finally {
      await client.close();
    }
  });
}

it(
  'numbers of sequential znodes are raised by one request each, as the plan says',
  async () => {
    const [one, other] = await Promise.all([
      useServingEnsemble({ size: 1 }),
      useServingEnsemble({ size: 1 }),
    ]);
    await Promise.all([raisesSequences(hostsOf(one)), raisesSequences(hostsOf(other))]);
    const source = await useConnected(hostsOf(one));
    const target = await useConnected(hostsOf(other));
    // A Stat counts the second below zero. ZooKeeper gives no number after the third.
    const queues = [
      ['/queue', 5_000_000, 'n-0005000000'],
      ['/old', 2 ** 30 + 5, 'n-1073741829'],
      ['/full', 2 ** 31 - 1, 'n-2147483647'],
    ] as const;
    for (const [path, number] of queues) {
      await source.create(path, '');
      await source.raiseSequence(path, Math.min(number, 2 ** 31 - 2));
    }
    await source.create('/full/last', '');
    await source.delete('/full/last');
    const ends = ['--once', '--from', hostsOf(one), '--to', hostsOf(other)];
    const mirror = async (...options: readonly string[]) =>
      (await run(process.execPath, [ROOKERY_MAIN, 'mirror', ...options, ...ends])).stdout;
    for (const [path] of queues.slice(0, 2)) await target.create(path, '');
    const stats = () => Promise.all(queues.map(([path]) => target.exists(path)));
    const planned = await stats();
    const plan = await mirror('--plan');
    expect(plan).toMatch(/to raise them +it takes one request for each\n/);
    expect(plan).toContain('"/old": its next sequential znode has a number lower by 1073741829');
    await target.sync('/');
    expect(await stats()).toEqual(planned);
    const before = target.lastZxidSeen;
    expect(await mirror()).toMatch(/^equal +true\n(?:.|\n)*sequences raised +3\n/);
    await target.sync('/');
    // Sessions, a znode, and the numbers: not thousands of creates and deletes.
    expect(Number(target.lastZxidSeen - before)).toBeLessThan(30);
    for (const [path, , name] of queues) {
      const created = await target.create(`${path}/n-`, '', { mode: 'persistentSequential' });
      expect(created.path).toBe(`${path}/${name}`);
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'what cannot be read is refused by name, and the ends do not count as equal',
  async () => {
    const [one, other] = await Promise.all([
      useServingEnsemble({ size: 1 }),
      useServingEnsemble({ size: 1 }),
    ]);
    const source = await useConnected(hostsOf(one));
    await source.create('/open', 'x');
    await source.create('/secret', 'y', { acl: DIGEST });
    const mirror = [ROOKERY_MAIN, 'mirror', '--once'];
    const ends = ['--from', hostsOf(one), '--to', hostsOf(other)];
    const denied = expect.stringMatching(/^equal +false(?:.|\n)*refused +"\/secret": /);
    const command = [...mirror, ...ends];
    await expect(run(process.execPath, command)).rejects.toMatchObject({ code: 1, stdout: denied });
    const auth = 'digest:ops:hunter2';
    const { stdout } = await run(process.execPath, command, {
      env: { ...process.env, ROOKERY_MIRROR_FROM_AUTH: auth, ROOKERY_MIRROR_TO_AUTH: auth },
    });
    expect(stdout).toMatch(/^equal +true\n/);
  },
  TEST_DEADLINE_MS,
);

it.runIf(process.platform === 'linux')(
  'a full disk makes one sentence of a report that cannot be written, and ends nothing else',
  async () => {
    const hosts = hostsOf(await useServingEnsemble({ size: 1 }));
    const client = await useConnected(hosts);
    await client.create('/one', 'x');
    await client.create('/other', 'y');
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const ends = ['--from', `${hosts}/one`, '--to', `${hosts}/other`];
    const mirror = (...output: readonly ('pipe' | number)[]) =>
      ended(
        spawn(process.execPath, [ROOKERY_MAIN, 'mirror', '--once', ...ends], {
          stdio: ['ignore', ...output],
        }),
      );
    expect(await mirror(full, 'pipe')).toEqual({
      code: 1,
      said: expect.stringMatching(/^rookery: standard output cannot be written: ENOSPC[^\n]*\n$/),
    });
    expect((await client.getData('/other')).data?.toString()).toBe('x');
    expect(await mirror('pipe', full)).toEqual({
      code: 0,
      said: expect.stringMatching(/^equal +true\n/),
    });
  },
  TEST_DEADLINE_MS,
);

it(
  'a subtree is not mirrored into itself, nor out of itself',
  async () => {
    const ensemble = await useServingEnsemble();
    const hosts = hostsOf(ensemble);
    const client = await useConnected(hosts);
    await client.create('/outer', 'kept');
    await client.create('/outer/inner', 'kept too');
    const ends = [
      ['/outer', '/outer/inner'],
      ['/outer/inner', '/outer'],
      ['/outer', '/outer/new'],
      ['', '/outer'],
      ['/outer', '/outer'],
    ] as const;
    for (const [from, to] of ends) {
      const args = ['--from', `${hosts}${from}`, '--to', `${hosts}${to}`, '--once', '--delete'];
      const mirror = useMirror(...args);
      expect(await mirror.ended(), `${from} to ${to}: ${mirror.said()}`).toBe(2);
      expect(mirror.said()).toContain('--from and --to lie within each other in one ensemble');
    }
    // Relative to /outer. The target of the third one was made before it was refused.
    const paths = [...(await contentOf(client, '/outer')).keys()];
    expect(paths.sort()).toEqual(['', '/inner', '/new']);
  },
  TEST_DEADLINE_MS,
);

it(
  'a deletion of the root of the source ends the mirror, and removes nothing unless it was asked to',
  async () => {
    const [one, other] = await Promise.all([
      useServingEnsemble({ size: 1 }),
      useServingEnsemble({ size: 1 }),
    ]);
    const [source, target] = await Promise.all([
      useConnected(hostsOf(one)),
      useConnected(hostsOf(other)),
    ]);
    const paths = ['/app', '/app/a', '/app/a/b'];
    const createAll = async () => {
      for (const path of paths) await source.create(path, `data of ${path}`);
    };
    const deleteAll = async (again: readonly string[]) => {
      const transaction = source.transaction();
      for (const path of paths.toReversed()) transaction.delete(path);
      for (const path of again) transaction.create(path, '');
      await transaction.commit();
    };
    const ends = ['--from', `${hostsOf(one)}/app`, '--to', `${hostsOf(other)}/app`];
    await createAll();
    // One that was created again in the same moment is another znode.
    for (const again of [[], ['/app']]) {
      const mirror = useMirror(...ends);
      await follows(mirror);
      const kept = await contentOf(target, '/app');
      await deleteAll(again);
      expect(await mirror.ended(), mirror.said()).toBe(2);
      expect(mirror.said()).toContain('the target keeps what it has');
      expect(await contentOf(target, '/app')).toEqual(kept);
      for (const path of again) await source.delete(path);
      await createAll();
    }
    const mirror = useMirror(...ends, '--delete-root');
    await follows(mirror);
    await deleteAll([]);
    await until('the target is deleted', DEADLINE_MS, async () => {
      return (await target.exists('/app')) === null || undefined;
    });
  },
  TEST_DEADLINE_MS,
);
