/**
 * Goal: the commands for data do what their page says, on Rookery and on ZooKeeper alike. Method:
 * each is run as a process; what it changed is looked at by a client.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, connect } from '@rookery/client';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../../harness/ensemble.js';
import { sharedEnsemble } from '../shared-ensemble.js';
import { ShellUser } from './shell-command.js';

const ensemble = sharedEnsemble();
const home = newTestDirectory();
let user: ShellUser;
let tests = 0;

beforeAll(() => {
  user = new ShellUser(
    ensemble()
      .ports.map((port) => `127.0.0.1:${port}`)
      .join(','),
    home,
  );
});

/** A client, and a directory of its own. */
async function fixture(): Promise<{ readonly client: Client; readonly at: string }> {
  const client = await connect(user.connect);
  onTestFinished(() => client.close());
  const at = `/shell-${++tests}`;
  await client.create(at);
  return { client, at };
}

async function ok(...args: string[]): Promise<string> {
  const { code, out, said } = await user.run(args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`);
  return out;
}

it('creates, reads, writes and deletes one znode', async () => {
  const { client, at } = await fixture();
  expect(await ok('create', `${at}/a`, 'one')).toBe(`${at}/a\n`);
  expect(await ok('get', `${at}/a`)).toBe('one');
  expect(await user.json(['stat', `${at}/a`])).toMatchObject({ version: 0, dataLength: 3 });
  expect(await user.json(['set', `${at}/a`, 'two', '--version', '0'])).toMatchObject({
    stat: { version: 1 },
  });
  const conflict = await user.run(['set', `${at}/a`, 'three', '--version', '0']);
  expect([conflict.code, conflict.out]).toEqual([3, '']);
  expect(conflict.said).toContain('has another version');
  expect(await user.json(['get', `${at}/a`])).toMatchObject({ data: 'two', encoding: 'utf8' });
  expect(await user.json(['exists', `${at}/a`])).toEqual({ path: `${at}/a`, exists: true });
  expect(await user.json(['rm', `${at}/a`])).toEqual({ path: `${at}/a`, deleted: 1 });
  expect(await client.exists(`${at}/a`)).toBe(null);
  expect(await user.json(['exists', `${at}/a`], 3)).toEqual({ path: `${at}/a`, exists: false });
});

it('takes bytes from standard input and files, and gives them back as they were', async () => {
  const { client, at } = await fixture();
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  expect((await user.run(['create', `${at}/bytes`, '-'], { input: bytes })).code).toBe(0);
  expect((await user.run(['get', `${at}/bytes`])).bytes.equals(bytes)).toBe(true);
  expect(await user.json(['get', `${at}/bytes`])).toMatchObject({
    data: Buffer.from(bytes).toString('base64'),
    encoding: 'base64',
  });
  const file = join(home, 'value');
  writeFileSync(file, bytes.subarray(100));
  await ok('set', `${at}/bytes`, `@${file}`);
  expect((await client.getData(`${at}/bytes`)).data?.equals(bytes.subarray(100))).toBe(true);
  await ok('set', `${at}/bytes`, '@@home');
  expect(await ok('get', `${at}/bytes`)).toBe('@home');
  expect(await ok('get', `${at}/bytes`, '-o', 'table')).toContain('dataLength   5');
});

it('creates znodes of every kind', async () => {
  const { client, at } = await fixture();
  expect(await ok('create', '-s', `${at}/s-`)).toBe(`${at}/s-0000000000\n`);
  expect(await ok('create', '-s', `${at}/`)).toBe(`${at}/0000000001\n`);
  expect(await ok('create', '-p', `${at}/x/y/z`, 'deep')).toBe(`${at}/x/y/z\n`);
  await ok('create', '-c', `${at}/container`);
  await ok('create', '--ttl', '600000', `${at}/ttl`);
  await ok('create', '--acl', 'world:anyone:r', `${at}/locked`);
  expect((await client.getAcl(`${at}/locked`)).acl).toEqual([
    { scheme: 'world', id: 'anyone', perms: 1 },
  ]);
  expect(await ok('ls', at)).toBe(
    ['0000000001', 'container', 'locked', 's-0000000000', 'ttl', 'x', ''].join('\n'),
  );
  const two = await user.run(['create', '-c', '-e', `${at}/both`]);
  expect([two.code, two.said]).toEqual([2, expect.stringContaining('ephemeral, a container')]);
  await ok('set', '-p', `${at}/made/by/set`, 'v');
  expect(await ok('get', `${at}/made/by/set`)).toBe('v');
});

it('lists, draws, finds and sums', async () => {
  const { client, at } = await fixture();
  for (const path of ['b', 'a', 'a/x', 'a/y', 'a/x/deep']) await client.create(`${at}/${path}`);
  await client.setData(`${at}/a/x`, 'needle\nhay\n');
  await client.create(`${at}/a/mine`, 'E', { mode: 'ephemeral' });
  expect(await ok('ls', at)).toBe('a\nb\n');
  expect(await user.json(['ls', at])).toEqual([{ name: 'a' }, { name: 'b' }]);
  expect(await user.json(['ls', '-l', at])).toMatchObject([{ numChildren: 3 }, { name: 'b' }]);
  expect(await ok('tree', at)).toBe(
    [
      at.slice(1),
      '├─ a',
      '│  ├─ mine  (ephemeral, 1 B)',
      '│  ├─ x  (11 B)',
      '│  │  └─ deep',
      '│  └─ y',
      '└─ b',
      '',
    ].join('\n'),
  );
  expect(await user.json(['tree', at, '--depth', '1'])).toHaveLength(3);
  expect(await ok('find', at, '--name', '?')).toBe(`${at}/a\n${at}/a/x\n${at}/a/y\n${at}/b\n`);
  expect(await ok('find', at, '--kind', 'ephemeral')).toBe(`${at}/a/mine\n`);
  const session = `0x${BigInt.asUintN(64, client.session?.id ?? 0n).toString(16)}`;
  expect(await user.json(['find', at, '--session', session])).toMatchObject([
    { ownerSession: session },
  ]);
  expect(await ok('find', at, '--children-over', '2')).toBe(`${at}/a\n`);
  expect((await user.run(['find', at, '--name', 'none'])).code).toBe(3);
  expect(await ok('grep', 'need', at)).toBe(`${at}/a/x:1:needle\n`);
  expect(await user.json(['grep', '-i', 'HAY', at])).toEqual([
    { path: `${at}/a/x`, line: 2, text: 'hay' },
  ]);
  expect((await user.run(['grep', '[', at])).code).toBe(2);
  expect(await user.json(['du', at])).toEqual([
    { path: `${at}/a`, nodes: 5, bytes: 12, ephemerals: 1 },
    { path: `${at}/b`, nodes: 1, bytes: 0, ephemerals: 0 },
    { path: at, nodes: 7, bytes: 12, ephemerals: 1 },
  ]);
});

it('copies, compares and moves subtrees', async () => {
  const { client, at } = await fixture();
  await ok('create', '-p', `${at}/from/a/b`, 'data');
  await client.create(`${at}/from/session`, '', { mode: 'ephemeral' });
  expect(await user.json(['cp', '-r', `${at}/from`, `${at}/to`])).toMatchObject({
    created: 3,
    replaced: 0,
    skipped: 1,
    bytes: 4,
  });
  expect(await user.json(['diff', `${at}/from`, `${at}/to`], 3)).toEqual([
    { path: 'session', change: 'only-a', a: { kind: 'ephemeral', dataLength: 0 }, b: null },
  ]);
  await client.setData(`${at}/to/a/b`, 'other');
  const differing = await user.run(['diff', `${at}/from/a`, `${at}/to/a`]);
  expect([differing.code, differing.out]).toEqual([3, '~ b: data and other\n']);
  expect((await user.run(['cp', '-r', `${at}/from`, `${at}/to`])).code).toBe(3);
  await ok('cp', '-r', '--overwrite', `${at}/from`, `${at}/to`);
  expect(await ok('diff', `${at}/from/a`, `${at}/to/a`, '--to', user.connect)).toBe('');
  expect(await user.json(['mv', `${at}/to`, `${at}/moved`])).toMatchObject({ moved: 3 });
  expect(await client.exists(`${at}/to`)).toBe(null);
  expect(await ok('get', `${at}/moved/a/b`)).toBe('data');
  const ephemeral = await user.run(['mv', `${at}/from`, `${at}/elsewhere`]);
  expect([ephemeral.code, ephemeral.said]).toEqual([2, expect.stringContaining('is ephemeral')]);
  expect(await client.exists(`${at}/elsewhere`)).toBe(null);
});

it('copies ACLs that would lock the copy out, and says beforehand what it cannot', async () => {
  const { client, at } = await fixture();
  const readOnly = [{ perms: 1, scheme: 'world', id: 'anyone' }];
  const all = [{ perms: 31, scheme: 'world', id: 'anyone' }];
  await client.create(`${at}/from`, 'hello');
  await client.create(`${at}/from/a`, 'below');
  await client.create(`${at}/from/a/b`, 'deep', { acl: readOnly });
  await client.create(`${at}/from/z`, 'last', { acl: all });
  for (const path of [`${at}/from/a`, `${at}/from`]) await client.setAcl(path, readOnly);
  const copy = ['cp', '-r', '--acls', `${at}/from`, `${at}/to`];
  for (const line of [[...copy, '--dry-run'], copy]) {
    const { code, said } = await user.run(line);
    expect([line, code]).toEqual([line, 2]);
    expect(said).toContain(`The ACL of ${at}/from would keep you from copying what is below it`);
  }
  expect(await client.exists(`${at}/to`)).toBe(null);
  const environment = { ROOKERY_AUTH: 'digest:me:secret' };
  const done = await user.run(copy, { environment });
  expect([done.code, done.out], done.said).toEqual([0, '']);
  for (const [path, acl] of [
    ['', readOnly],
    ['/a', readOnly],
    ['/a/b', readOnly],
    ['/z', all],
  ] as const) {
    expect((await client.getAcl(`${at}/to${path}`)).acl, path).toEqual(acl);
    const [one, other] = [`${at}/from${path}`, `${at}/to${path}`];
    expect((await client.getData(other)).data).toEqual((await client.getData(one)).data);
  }
  // What is there already and cannot be written stops it; all that is made is as it should be.
  await client.create(`${at}/half`, '');
  await client.create(`${at}/half/z`, 'kept', { acl: readOnly });
  const half = ['cp', '-r', '--acls', '--overwrite', `${at}/from`, `${at}/half`];
  const failed = await user.run(half, { environment });
  expect(failed.code).not.toBe(0);
  expect(failed.said).toContain(`such as that of ${at}/half, still have an entry of yours`);
});

it('sets the ACL of a subtree although it forbids its user to read it', async () => {
  const { at } = await fixture();
  await ok('create', '-p', `${at}/top/a/b`, 'x');
  await ok('create', `${at}/top/c`, 'x');
  const acl = 'digest:other:RRCKWv2U2e99M6UmsFaJiQ2xStw=:cdrwa';
  expect(await user.json(['acl', 'set', '-r', `${at}/top`, acl])).toMatchObject({ changed: 4 });
  const other = await connect(user.connect);
  onTestFinished(() => other.close());
  await expect(other.getChildren(`${at}/top`)).rejects.toMatchObject({ name: 'NoAuthError' });
  await expect(other.getData(`${at}/top/a/b`)).rejects.toMatchObject({ name: 'NoAuthError' });
});

it('only says what it would do with --dry-run, and asks before it deletes a subtree', async () => {
  const { client, at } = await fixture();
  await ok('create', '-p', `${at}/a/b`, 'x');
  for (const line of [
    ['set', `${at}/a/b`, 'y', '--dry-run'],
    ['create', `${at}/c`, '--dry-run'],
    ['rm', `${at}/a/b`, '--dry-run'],
    ['rm', '-r', `${at}/a`, '--dry-run'],
    ['cp', '-r', `${at}/a`, `${at}/copy`, '--dry-run'],
    ['mv', `${at}/a`, `${at}/moved`, '--dry-run'],
  ]) {
    const { code, said } = await user.run(line);
    expect([line.join(' '), code, said]).toEqual([
      line.join(' '),
      0,
      expect.stringMatching(/^Would /),
    ]);
  }
  const unasked = await user.run(['rm', '-r', `${at}/a`]);
  expect([unasked.code, unasked.said]).toEqual([2, expect.stringContaining('give --yes')]);
  expect(await client.countDescendants(at)).toBe(2);
  expect(await user.json(['rm', '-r', '-y', `${at}/a`])).toEqual({ path: `${at}/a`, deleted: 2 });
  expect(await client.countDescendants(at)).toBe(0);
});

it('tells a missing znode (3), a mistake (2) and a missing ensemble (4) apart', async () => {
  const missing = await user.run(['get', '/no/such/znode']);
  expect([missing.code, missing.out]).toEqual([3, '']);
  expect(missing.said).toBe('rookery: /no/such/znode does not exist.\n');
  const orphan = await user.run(['create', '/no/such', 'data']);
  expect([orphan.code, orphan.out]).toEqual([3, '']);
  expect(orphan.said).toBe(
    'rookery: The parent of /no/such does not exist; --parents creates it, too.\n',
  );
  const both = await user.run(['multi', 'create /no/such data']);
  expect([both.code, both.said]).toEqual([
    3,
    expect.stringContaining('/no/such or its parent does not exist.'),
  ]);
  expect((await user.run(['ls', '/', '-o', 'xml'])).code).toBe(2);
  const away = await user.run([
    'ls',
    '/',
    '--connect',
    '127.0.0.1:1,127.0.0.1:2',
    '--timeout',
    '1',
  ]);
  expect([away.code, away.out]).toEqual([4, '']);
  expect(away.said).toContain('0 of 2 servers can be reached');
  const bad = await user.run(['ls', '/', '--connect', 'a:b:c']);
  expect([bad.code, bad.out]).toEqual([2, '']);
  const several = await user.run(['ls', '/'], { environment: { ROOKERY_AUTH: 'nonsense' } });
  expect([several.code, several.said]).toEqual([2, expect.stringContaining('scheme:auth')]);
});

it('ends without a word, as by SIGPIPE, when its reader has gone', async () => {
  const { client, at } = await fixture();
  await Promise.all(
    Array.from({ length: 2000 }, (_, n) => client.create(`${at}/${'n'.repeat(60)}${n}`)),
  );
  const line = `"$0" "$1" ls ${at} | head -1`;
  const { code, out, said } = await user.shell(line);
  expect([code, out.split('\n').length, said]).toEqual([141, 2, '']);
});
