/**
 * `rookery mirror` and `cp --acls` where ACLs would lock them out of what they are making: znodes
 * are whole before their final ACLs are on, nobody sees in between what he may not, what is refused
 * is named before anything is done, and an interrupted run is finished by the next one.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { type Client, connect, NoAuthError, NoNodeError } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { type Product, productNamed, ROOKERY_MAIN } from '../../harness/product.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 180_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';
const SUPER = 'digest:super:control';
const SETTINGS = { superDigest: 'super:H8A9p8zmEqGes/QUR4WeRDKL+Xk=' };
const MIRROR = 'digest:mirror:secret';

function idOf(userAndPassword: string): string {
  const digest = createHash('sha1').update(userAndPassword).digest('base64');
  return `${userAndPassword.split(':')[0]}:${digest}`;
}

const ALICE = { scheme: 'digest', id: idOf('alice:pw') };
const ALICE_ALL = [{ perms: 31, ...ALICE }];
const READ_ONLY = [{ perms: 1, scheme: 'world', id: 'anyone' }];
const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
/** The mirror reads everything and changes nothing. */
const MIRROR_READS = [...ALICE_ALL, { perms: 1, scheme: 'digest', id: idOf('mirror:secret') }];

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

interface Running {
  said(): string;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

function start(args: readonly string[], environment: Readonly<Record<string, string>>): Running {
  const child = spawn(process.execPath, [ROOKERY_MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    out += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    said += part;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, out, said }));
  });
  return { said: () => said, kill: (signal) => void child.kill(signal), ended };
}

function hostsOf(ensemble: Ensemble): string {
  return ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
}

async function useSuper(hosts: string): Promise<Client> {
  const client = await connect(hosts, { auth: [{ scheme: 'digest', auth: 'super:control' }] });
  onTestFinished(() => client.close());
  return client;
}

async function useStranger(hosts: string): Promise<Client> {
  const client = await connect(hosts);
  onTestFinished(() => client.close());
  return client;
}

interface World {
  readonly from: string;
  readonly to: string;
  readonly source: Client;
  readonly target: Client;
  mirror(args: readonly string[], identity: string | null): Running;
}

async function useWorld(
  product: Product,
  environment: Readonly<Record<string, string>> = {},
): Promise<World> {
  const [one, other] = await Promise.all([
    useServingEnsemble({ size: 1, settings: SETTINGS, product: productNamed('rookery') }),
    useServingEnsemble({ size: 1, settings: SETTINGS, product, environment }),
  ]);
  const [from, to] = [hostsOf(one), hostsOf(other)];
  const [source, target] = await Promise.all([useSuper(from), useSuper(to)]);
  const mirror = (args: readonly string[], identity: string | null) =>
    start(['mirror', '--from', `${from}/app`, '--to', `${to}/copy`, ...args], {
      ROOKERY_MIRROR_FROM_AUTH: SUPER,
      ...(identity === null ? {} : { ROOKERY_MIRROR_TO_AUTH: identity }),
    });
  return { from, to, source, target, mirror };
}

/** Everything below the path with data and ACL, by relative path. */
async function contentOf(client: Client, top: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  const pending = [top];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const [{ data }, { acl }, { children }] = await Promise.all([
      client.getData(path),
      client.getAcl(path),
      client.getChildren(path),
    ]);
    const entries = acl.map((entry) => JSON.stringify(entry)).sort();
    content[path.slice(top.length)] = `${data ?? ''} ${entries.join(' ')}`;
    for (const name of children) pending.push(`${path}/${name}`);
  }
  return content;
}

/** ACLs that lock out whoever is not super at each depth, with what is below them. */
async function createAll(source: Client): Promise<void> {
  await source.create('/app', 'root', { acl: OPEN });
  await source.create('/app/s', 'hello', { acl: READ_ONLY });
  await source.create('/app/s/a', 'below', { acl: READ_ONLY });
  await source.create('/app/s/a/b', 'deep', { acl: ALICE_ALL });
  await source.create('/app/secret', 'secret', { acl: ALICE_ALL });
  await source.create('/app/secret/a', 'secret', { acl: MIRROR_READS });
  await source.create('/app/secret/a/b', 'secret', { acl: OPEN });
  await source.create('/app/q', '', { acl: READ_ONLY });
  for (let count = 0; count < 3; count++) {
    await source.create('/app/q/n-', 'x', { mode: 'persistentSequential', acl: READ_ONLY });
  }
  await source.delete('/app/q/n-0000000001');
}

const TARGETS = ['rookery', 'apache'] as const;

it.each(TARGETS)(
  'a mirror is not locked out of a target of %s, which is finished when it ends',
  async (name) => {
    if (name === 'apache' && mayLack(ZOOKEEPER)) return;
    const { source, target, to, mirror } = await useWorld(productNamed(name));
    await createAll(source);
    const stranger = await useStranger(to);
    const plan = await mirror(['--plan', '--json'], MIRROR).ended;
    expect(plan.code, plan.said + plan.out).toBe(0);
    expect(JSON.parse(plan.out)).toMatchObject({ 'would create': 10 });
    expect(JSON.parse(plan.out)).not.toHaveProperty('refused');
    expect((await target.getChildren('/')).children).toEqual(['zookeeper']);

    const seen: string[] = [];
    let isOver = false;
    const spying = (async () => {
      while (!isOver) {
        for (const path of ['/copy/secret', '/copy/secret/a', '/copy/s/a/b']) {
          await stranger.getData(path).then(
            ({ data }) => seen.push(`${path} ${data}`),
            (error: unknown) => {
              if (!(error instanceof NoAuthError || error instanceof NoNodeError)) throw error;
            },
          );
        }
      }
    })();
    const once = await mirror(['--once', '--json'], MIRROR).ended;
    isOver = true;
    await spying;
    expect(once.code, once.said + once.out).toBe(0);
    expect(JSON.parse(once.out)).toMatchObject({ equal: true });
    expect(await contentOf(target, '/copy')).toEqual(await contentOf(source, '/app'));
    expect(seen).toEqual([]);
    const next = await target.create('/copy/q/n-', '', { mode: 'persistentSequential' });
    expect(next.path).toBe('/copy/q/n-0000000003');
  },
  TEST_DEADLINE_MS,
);

it.each(TARGETS)(
  'a mirror without an identity says what a target of %s refuses before it begins, and makes no half',
  async (name) => {
    if (name === 'apache' && mayLack(ZOOKEEPER)) return;
    const { source, target, mirror } = await useWorld(productNamed(name));
    await createAll(source);
    await source.create('/app/leaf', 'alone', { acl: READ_ONLY });
    const named = ['/s', '/secret', '/q'].map((path) => {
      return new RegExp(
        `^refused: "${path}": create at the target: .*ROOKERY_MIRROR_TO_AUTH$`,
        'm',
      );
    });
    const plan = await mirror(['--plan'], null).ended;
    expect(plan.code).toBe(1);
    for (const text of named) expect(plan.said).toMatch(text);
    expect((await target.getChildren('/')).children).toEqual(['zookeeper']);

    const once = await mirror(['--once'], null).ended;
    expect(once.code).toBe(1);
    expect(once.said).toMatch(/^will be refused: "\/s": create at the target: /m);
    for (const text of named) expect(once.said).toMatch(text);
    // What can be copied is there, and nothing that shuts its own content out.
    expect((await target.getChildren('/copy')).children).toEqual(['leaf']);
    const again = await mirror(['--once'], MIRROR).ended;
    expect(again.code, again.said + again.out).toBe(0);
    expect(await contentOf(target, '/copy')).toEqual(await contentOf(source, '/app'));
  },
  TEST_DEADLINE_MS,
);

it(
  'what is there already is changed and deleted although its ACL forbids it, where it can be set',
  async () => {
    const { source, target, mirror } = await useWorld(productNamed('rookery'));
    await source.create('/app', 'root', { acl: OPEN });
    for (const path of ['/app/data', '/app/acl', '/app/both', '/app/dir', '/app/shut']) {
      await source.create(path, 'new', { acl: READ_ONLY });
    }
    await source.create('/app/dir/more', 'new', { acl: READ_ONLY });
    await source.create('/app/shut/more', 'new', { acl: READ_ONLY });
    const admin = [{ perms: 16, scheme: 'digest', id: idOf('mirror:secret') }];
    await target.create('/copy', 'root', { acl: OPEN });
    for (const path of ['/copy/data', '/copy/both', '/copy/dir', '/copy/dir/old']) {
      await target.create(path, 'old', { acl: admin });
    }
    await target.create('/copy/acl', 'new', { acl: admin });
    await target.create('/copy/gone', 'old', { acl: admin });
    await target.create('/copy/gone/below', 'old', { acl: admin });
    await target.create('/copy/shut', 'new', { acl: READ_ONLY });
    const refused = /^(?:will be )?refused: "\/shut\/more": create at the target: /m;
    const before = await contentOf(target, '/copy');
    const plan = await mirror(['--plan', '--delete'], MIRROR).ended;
    expect([plan.code, plan.said], plan.out).toEqual([1, expect.stringMatching(refused)]);
    expect(plan.said.match(/^refused/gm)).toHaveLength(1);
    // What is below what it may not read yet shows only when it is deleted.
    expect(plan.out).toMatch(/^would delete +1$/m);
    expect(await contentOf(target, '/copy')).toEqual(before);

    const once = await mirror(['--once', '--delete'], MIRROR).ended;
    expect([once.code, once.said], once.out).toEqual([1, expect.stringMatching(refused)]);
    expect(once.out).toMatch(/^deleted +3$/m);
    await target.setAcl('/copy/shut', OPEN);
    const again = await mirror(['--once'], MIRROR).ended;
    expect(again.code, again.said + again.out).toBe(0);
    expect(await contentOf(target, '/copy')).toEqual(await contentOf(source, '/app'));
  },
  TEST_DEADLINE_MS,
);

it(
  'a mirror that follows goes on where ACLs would lock it out, and finishes them at the cut-over',
  async () => {
    const { source, target, mirror } = await useWorld(productNamed('rookery'));
    await createAll(source);
    const running = mirror([], MIRROR);
    await until('the mirror follows', TEST_DEADLINE_MS, async () => {
      return running.said().includes('following the source') || undefined;
    });
    await source.create('/app/s/late', 'late', { acl: ALICE_ALL });
    await source.create('/app/s/late/below', 'late', { acl: READ_ONLY });
    await source.setData('/app/s/a/b', 'changed');
    await source.delete('/app/secret/a/b');
    await until('the last change is there', TEST_DEADLINE_MS, async () => {
      return (await target.exists('/copy/secret/a/b')) === null || undefined;
    });
    running.kill('SIGTERM');
    const { code, said, out } = await running.ended;
    expect(code, said + out).toBe(0);
    expect(await contentOf(target, '/copy')).toEqual(await contentOf(source, '/app'));
  },
  TEST_DEADLINE_MS,
);

it(
  'a run that was killed is finished by the next one, and a signal before the end ends it at once',
  async () => {
    const { source, target, mirror } = await useWorld(productNamed('rookery'));
    await source.create('/app', 'root', { acl: READ_ONLY });
    for (let top = 0; top < 10; top++) {
      await source.create(`/app/${top}`, 'x', { acl: READ_ONLY });
      const names = Array.from({ length: 200 }, (_, index) => `/app/${top}/${index}`);
      await Promise.all(names.map((path) => source.create(path, 'x', { acl: READ_ONLY })));
    }
    const moments = [
      ['SIGTERM', '/copy/0'],
      ['SIGKILL', '/copy/0/10'],
      ['SIGKILL', '/copy/5/20'],
    ] as const;
    for (const [signal, path] of moments) {
      const running = mirror(['--once'], MIRROR);
      await until(`${path} is there`, TEST_DEADLINE_MS, async () => {
        return (await target.exists(path).catch(() => null)) !== null || undefined;
      });
      running.kill(signal);
      const { code, said } = await running.ended;
      expect([signal, code]).toEqual([signal, signal === 'SIGKILL' ? null : 1]);
      if (signal === 'SIGTERM')
        expect(said).toContain('the same command goes on from what is there');
    }
    const last = await mirror(['--once', '--json'], MIRROR).ended;
    expect(last.code, last.said + last.out).toBe(0);
    expect(JSON.parse(last.out)).toMatchObject({
      equal: true,
      'ACLs finished': expect.any(Number),
    });
    expect(await contentOf(target, '/copy')).toEqual(await contentOf(source, '/app'));
  },
  TEST_DEADLINE_MS,
);

it(
  'a root that cannot be made, or read, is a sentence with exit code 2, and a plan finds it',
  async () => {
    const { source, target, from, to } = await useWorld(productNamed('rookery'));
    await source.create('/app', 'x', { acl: OPEN });
    await source.create('/closed', 'x', { acl: ALICE_ALL });
    await target.create('/shut', '', { acl: READ_ONLY });
    const environment = { ROOKERY_MIRROR_TO_AUTH: MIRROR };
    const mirror = (ends: readonly string[]) => start(['mirror', ...ends], environment).ended;
    const below = ['--from', `${from}/app`, '--to', `${to}/shut/copy`];
    expect(await mirror([...below, '--once'])).toMatchObject({
      code: 2,
      said: expect.stringMatching(/^rookery: --to .*\/shut\/copy: its root cannot be made: .+\n$/),
    });
    expect(await mirror([...below, '--plan'])).toMatchObject({
      code: 1,
      said: expect.stringMatching(/^refused: "\/": create at the target: /m),
    });
    expect(await mirror(['--from', `${from}/closed`, '--to', `${to}/copy`])).toMatchObject({
      code: 2,
      said: expect.stringMatching(/^rookery: [^\n]*\/closed[^\n]*\n$/),
    });
  },
  TEST_DEADLINE_MS,
);

it(
  'an ACL whose digests the source does not show is refused by name, not copied as it is shown',
  async () => {
    const { source, target, from, to } = await useWorld(productNamed('rookery'));
    await source.create('/app', 'root', { acl: OPEN });
    await source.create('/app/shown', 'x', { acl: [...ALICE_ALL, ...READ_ONLY] });
    const args = ['mirror', '--from', `${from}/app`, '--to', `${to}/copy`];
    for (const how of ['--plan', '--once']) {
      const { code, said } = await start([...args, how], { ROOKERY_MIRROR_TO_AUTH: MIRROR }).ended;
      expect([how, code]).toEqual([how, 1]);
      expect(said).toMatch(/^refused: "\/shown": read at the source: .*digests/m);
    }
    expect(await target.exists('/copy/shown')).toBe(null);
  },
  TEST_DEADLINE_MS,
);

/** ZooKeeper has no request for that. */
it.skipIf(mayLack(ZOOKEEPER))(
  'numbers that are raised by creates are in the plan, and a signal ends that at once',
  async () => {
    const { source, target, mirror } = await useWorld(productNamed('apache'));
    await source.create('/app', 'root');
    await source.create('/app/drained', '');
    await source.create('/app/q', '');
    const child = '/app/drained/n-';
    for (let count = 0; count < 5; count++) {
      const { path } = await source.create(child, '', { mode: 'persistentSequential' });
      await source.delete(path);
    }
    const pair = [
      { kind: 'create', path: '/app/q/x' },
      { kind: 'delete', path: '/app/q/x' },
    ] as const;
    const pairs = Array.from({ length: 2000 }, () => pair).flat();
    for (let count = 0; count < 40; count++) await source.multi(pairs);
    const plan = await mirror(['--plan', '--json'], MIRROR).ended;
    expect(plan.code, plan.said + plan.out).toBe(0);
    expect(JSON.parse(plan.out)).toMatchObject({
      'sequences to raise': [
        '"/drained": its next sequential znode has a number lower by 5',
        '"/q": its next sequential znode has a number lower by 80000',
      ],
      'to raise them': 'it takes about 80005 creates and as many deletes',
    });
    const running = mirror([], MIRROR);
    for (;;) {
      const stat = await target.exists('/copy/q').catch(() => null);
      if (stat !== null && stat.cversion > 0) break;
    }
    running.kill('SIGTERM');
    const { code, said } = await running.ended;
    expect(code).toBe(1);
    expect(said).toContain('the same command goes on from what is there');
    const { cversion } = (await target.exists('/copy/q')) ?? { cversion: 0 };
    expect(cversion).toBeLessThan(160_000);
    const once = await mirror(['--once'], MIRROR).ended;
    expect(once.code, once.said + once.out).toBe(0);
    for (const [path, number] of [
      ['/copy/drained/n-', '0000000005'],
      ['/copy/q/n-', '0000080000'],
    ] as const) {
      const created = await target.create(path, '', { mode: 'persistentSequential' });
      expect(created.path).toBe(`${path}${number}`);
    }
  },
  TEST_DEADLINE_MS,
);
