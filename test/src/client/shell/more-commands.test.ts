/**
 * Goal: watch, multi, edit, ACLs, quotas and contexts do what their page says, on both products.
 */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, connect, Lock, Perms } from '@rookery/client';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../../harness/ensemble.js';
import { sharedEnsemble } from '../shared-ensemble.js';
import { ShellUser } from './shell-command.js';

const ensemble = sharedEnsemble({ size: 1 });
const home = newTestDirectory();
let user: ShellUser;
let tests = 0;

beforeAll(() => {
  user = new ShellUser(`127.0.0.1:${ensemble().ports[0]}`, home);
});

async function fixture(): Promise<{ readonly client: Client; readonly at: string }> {
  const client = await connect(user.connect);
  onTestFinished(() => client.close());
  const at = `/more-${++tests}`;
  await client.create(at);
  return { client, at };
}

it('watches a subtree and ends after as many events as asked', async () => {
  const { client, at } = await fixture();
  const watching = user.run(['watch', '-r', at, '--count', '3', '-o', 'json'], {
    onSaid: async () => {
      await client.create(`${at}/a`);
      await client.setData(`${at}/a`, 'x');
      await client.delete(`${at}/a`);
    },
  });
  const { code, out, said } = await watching;
  expect([code, said]).toEqual([0, expect.stringContaining('Ctrl-C ends it')]);
  const events = out
    .trim()
    .split('\n')
    .map((line) => user.check('watch', JSON.parse(line)));
  expect(events).toMatchObject([
    { type: 'created', path: `${at}/a` },
    { type: 'dataChanged', path: `${at}/a` },
    { type: 'deleted', path: `${at}/a` },
  ]);
});

it('does several operations or none', async () => {
  const { client, at } = await fixture();
  expect(await user.json(['multi', `create ${at}/a "with space"`, `set ${at} v 0`])).toEqual([
    { kind: 'create', path: `${at}/a`, version: null },
    { kind: 'setData', path: at, version: 1 },
  ]);
  expect((await client.getData(`${at}/a`)).data?.toString()).toBe('with space');
  const input = `# both or none\nrm ${at}/a\ncheck ${at} 7\n`;
  const refused = await user.run(['multi'], { input });
  expect([refused.code, refused.out]).toEqual([3, '']);
  expect(refused.said).toContain('Operation 2 of the transaction fails, nothing is done');
  expect(await client.exists(`${at}/a`)).not.toBe(null);
  expect((await user.run(['multi', 'destroy /'])).code).toBe(2);
});

it('edits data, and never over what somebody else wrote meanwhile', async () => {
  const { client, at } = await fixture();
  await client.setData(at, 'one\n');
  const editor = join(home, 'editor.sh');
  const edit = (script: string) => {
    writeFileSync(editor, `#!/bin/sh\n${script}\n`);
    chmodSync(editor, 0o755);
    return user.run(['edit', at], { environment: { EDITOR: editor } });
  };
  expect((await edit('echo two >> "$1"')).code).toBe(0);
  expect((await client.getData(at)).data?.toString()).toBe('one\ntwo\n');
  const same = await edit('true');
  expect([same.code, same.said]).toEqual([0, expect.stringContaining('nothing is written')]);
  const set = `"${process.execPath}" "${process.cwd()}/cli/dist/main.js" set ${at} theirs`;
  const late = await edit(`echo mine >> "$1"; ${set} >/dev/null 2>&1`);
  expect(late.code).toBe(3);
  expect((await client.getData(at)).data?.toString()).toBe('theirs');
  const [, file = ''] = /What you wrote is in (\S+)\.\n/.exec(late.said) ?? [];
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nmine\n');
  expect((await edit('exit 1')).code).toBe(2);
});

it('shows who holds a lock and who waits, by the names of several clients', async () => {
  const { client, at } = await fixture();
  expect(await user.run(['locks', at])).toMatchObject({
    code: 3,
    out: '',
    said: 'No lock and no election was found.\n',
  });
  const lease = await new Lock(client, `${at}/job`).acquire();
  for (const path of ['/writers', '/other']) await client.create(`${at}${path}`);
  const prefix = `${at}/writers/${'0'.repeat(32)}`;
  for (const kind of ['rlock', 'rlock', 'lock']) {
    await client.create(`${prefix}__${kind}__`, 'host1', { mode: 'ephemeralSequential' });
  }
  await client.create(`${at}/other/lock-file`);
  const found = await user.json(['locks', at]);
  expect(found).toMatchObject([
    { path: `${at}/job`, kind: 'lock', holderCount: 1, waiterCount: 0 },
    {
      path: `${at}/writers`,
      kind: 'read-write-lock',
      holderCount: 2,
      waiterCount: 1,
      waiters: [{ name: expect.stringMatching(/__lock__0000000002$/) }],
      holders: [{ data: 'host1' }, { data: 'host1' }],
    },
  ]);
  const { out } = await user.run(['locks', `${at}/writers`]);
  expect(out).toMatch(/read-write-lock .* 1 +0x[\da-f]+ +host1 and 1 more$/m);
  await lease.release();
});

it('shows and changes ACLs', async () => {
  const { client, at } = await fixture();
  await client.create(`${at}/a`);
  expect(await user.json(['acl', 'get', at])).toMatchObject({
    acl: [{ scheme: 'world', id: 'anyone', perms: 'cdrwa' }],
  });
  const acl = ['acl', 'set', '-r', at, 'world:anyone:ra,ip:127.0.0.1:cdrwa'];
  expect(await user.json(acl)).toEqual({ path: at, changed: 2 });
  expect((await user.run(['acl', 'get', `${at}/a`])).out).toBe(
    'world:anyone:ra\nip:127.0.0.1:cdrwa\n',
  );
  expect((await user.run(['acl', 'set', at, 'everybody'])).code).toBe(2);
});

it('shows and changes quotas', async () => {
  const { client, at } = await fixture();
  expect((await user.run(['quota', 'get', at])).code).toBe(3);
  const set = ['quota', 'set', at, '--nodes', '10', '--hard-bytes', '1000'];
  expect(await user.json(set)).toEqual({
    path: at,
    limits: 'count=10,bytes=-1=;byteHardLimit=1000;countHardLimit=-1',
  });
  await client.create(`${at}/a`, 'four');
  const quota = { path: at, nodes: 10, hardBytes: 1000, usedNodes: 2, usedBytes: 4 };
  expect(await user.json(['quota', 'get', at])).toMatchObject(quota);
  expect(await user.json(['quota', 'ls'])).toMatchObject([quota]);
  expect(await user.json(['quota', 'rm', at])).toEqual({ path: at });
  expect(await user.json(['quota', 'ls'])).toEqual([]);
});

it('keeps contexts with their credentials for this user alone', async () => {
  const { client, at } = await fixture();
  const file = join(home, 'credentials');
  writeFileSync(file, 'digest:me:secret\n', { mode: 0o644 });
  const none = { ROOKERY_CONNECT: '' };
  const save = ['context', 'save', 'here', '--connect', user.connect, '--auth-file', file];
  for (const command of [save, ['ls', '/', '--auth-file', file]]) {
    const open = await user.run(command);
    expect([open.code, open.said]).toEqual([2, expect.stringContaining(`chmod 600 ${file}`)]);
  }
  chmodSync(file, 0o600);
  expect(await user.json(save)).toMatchObject({ name: 'here', credentials: 1 });
  const saved = join(home, '.config/rookery/context/here.json');
  expect(statSync(saved).mode & 0o777).toBe(0o600);
  await user.json(['context', 'save', 'there', '--connect', '127.0.0.1:1']);
  const list = [
    { name: 'here', selected: true },
    { name: 'there', selected: false },
  ];
  expect(await user.json(['context', 'ls'])).toMatchObject(list);
  expect((await user.run(['context', 'ls'])).out).not.toContain('secret');
  const created = await user.run(['create', `${at}/mine`, '--acl', 'auth::cdrwa'], {
    environment: none,
  });
  expect([created.code, created.out]).toEqual([0, `${at}/mine\n`]);
  expect((await client.getAcl(`${at}/mine`).catch(() => null))?.acl ?? []).not.toContain('world');
  const stranger = await user.run(['get', `${at}/mine`]);
  expect([stranger.code, stranger.said]).toEqual([1, expect.stringContaining('does not permit')]);
  const away = ['ls', '/', '--timeout', '1', '--context', 'there'];
  expect((await user.run(away, { environment: none })).code).toBe(4);
  await user.json(['context', 'select', 'there']);
  chmodSync(saved, 0o644);
  const readable = await user.run(['ls', '/', '--context', 'here'], { environment: none });
  expect([readable.code, readable.said]).toEqual([2, expect.stringContaining('chmod 600')]);
  chmodSync(saved, 0o600);
  await user.json(['context', 'rm', 'here']);
  expect((await user.run(['ls', '/', '--context', 'here'])).code).toBe(2);
});

it('audits what everybody may change below a path', async () => {
  const { client, at } = await fixture();
  const [ann] = [{ scheme: 'digest', id: 'ann:D/InIHSb7yEEbrWz8b9l71RjZJU=', perms: Perms.all }];
  const everybody = (perms: number) => ({ scheme: 'world', id: 'anyone', perms });
  expect((await user.run(['acl', 'audit', at, '-o', 'raw'])).out).toBe(`${at}\n`);
  await client.create(`${at}/read`, '', { acl: [everybody(Perms.read)] });
  await client.create(`${at}/mixed`, '', { acl: [ann, everybody(Perms.read | Perms.create)] });
  const many = Array.from({ length: 200 }, (_, n) =>
    client.create(`${at}/read-${n}`, '', { acl: [everybody(Perms.read)] }),
  );
  await Promise.all(many);
  await client.setAcl(at, [everybody(Perms.read)]);
  expect(await user.json(['acl', 'audit', at], 3)).toEqual([{ path: `${at}/mixed`, perms: 'c' }]);
  expect(await user.json(['acl', 'audit', `${at}/read`])).toEqual([]);
  // Whoever may not administrate a znode does not see the digests of its ACL.
  const hidden = await user.run(['acl', 'audit', '--sha1', at]);
  expect([hidden.code, hidden.out]).toEqual([1, '']);
  expect(hidden.said).toContain(`The audit is incomplete: the ACLs of 1 znode forbid`);
  await client.create(`${at}/mixed/closed`, '', { acl: [ann] });
  const incomplete = await user.run(['acl', 'audit', at]);
  expect([incomplete.code, incomplete.out]).toEqual([1, `c     ${at}/mixed\n`]);
  expect(incomplete.said).toContain(`${at}/mixed/closed. Run it as a super user.`);
});

it('runs many lines in one shell, and explains commands as they are typed there', async () => {
  const { code, out, said } = await user.run(['sh'], {
    input: `${'pwd\n'.repeat(15)}acl get --help\n`,
  });
  expect([code, out]).toEqual([0, '/\n'.repeat(15)]);
  expect(said).toMatch(/^Usage: acl get \[options\]/);
});

it('names a chroot that does not exist, whatever the command, and says how to create it', async () => {
  const { at } = await fixture();
  const below = new ShellUser(`${user.connect}${at}/missing/app`, home);
  const sentence =
    `rookery: The chroot ${at}/missing/app of the connect string ${below.connect} does not exist: ` +
    'correct it, or create it with "create --parents /".\n';
  const commands = [
    ['ls', '/'],
    ['ls', '/a'],
    ['get', '/a'],
    ['set', '/a', 'x'],
    ['create', '/a'],
    ['rm', '/a'],
    ['tree', '/'],
    ['du', '/'],
    ['find', '/'],
    ['stat', '/a'],
    ['acl', 'get', '/a'],
    ['cp', '/a', '/b'],
    ['multi', 'create /a'],
  ];
  for (const args of commands) {
    const { code, said } = await below.run(args);
    expect({ args, code, said }).toEqual({ args, code: 3, said: sentence });
  }
  const lines = await below.run(['sh'], { input: 'ls /a\n' });
  expect(lines.said).toContain(sentence.slice('rookery: '.length));
  expect(await below.run(['create', '--parents', '/'])).toMatchObject({ code: 0 });
  const { code, said } = await below.run(['get', '/a']);
  expect([code, said]).toEqual([3, expect.stringContaining('/a')]);
  expect(said).not.toContain('chroot');
});
