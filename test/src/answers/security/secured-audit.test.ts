/**
 * The audit log of running members: who did what, what was refused, nothing secret; and a member
 * that must be audited and cannot be.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthPacket, CreateRequest, ErrorCode, OpCode, Perms } from '@rookery/protocol';
import { scryptEntry } from '@rookery/server';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { fourLetterWord } from '../../harness/four-letter.js';
import { sendSetData } from '../../harness/operations.js';
import { freePorts } from '../../harness/ports.js';
import { runServerToEnd } from '../../harness/run-to-end.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 60_000;
const PATH = '/sealed';

function newDirectory(): string {
  const directory = newTestDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it(
  'tells who created, changed and was refused, at the member of the client, and nothing secret',
  async () => {
    const directory = newDirectory();
    const settings = { auditFile: join(directory, 'audit.jsonl'), auditRequired: true };
    const ensemble = await useServingEnsemble({ settings });
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('there is no follower');
    const owner = await useClient(follower);
    const packet = { type: 0, scheme: 'digest', auth: Buffer.from('ann:open sesame') };
    expect((await owner.request(OpCode.auth, AuthPacket, packet)).error).toBe(ErrorCode.ok);
    const acl = [{ perms: Perms.all, scheme: 'auth', id: '' }];
    const request = { path: PATH, data: Buffer.from('my data'), acl, flags: 0 };
    const created = await owner.request(OpCode.create, CreateRequest, request);
    expect(created.error).toBe(ErrorCode.ok);
    await sendSetData(owner, PATH, 'more data');
    const stranger = await useClient(follower);
    for (let count = 0; count < 20; count++) {
      expect((await sendSetData(stranger, PATH, 'x')).error).toBe(ErrorCode.noAuth);
    }
    await Promise.all(ensemble.members.map((member) => member.stop()));

    const text = readFileSync(join(directory, `audit-${follower.id}.jsonl`), 'utf8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const of = (operation: string) => lines.filter((line) => line.operation === operation);
    expect(of('serverStart')).toHaveLength(1);
    expect(of('serverStop')).toHaveLength(1);
    expect(of('createSession').length).toBeGreaterThanOrEqual(2);
    expect(of('authenticate')).toMatchObject([{ result: 'success', ip: '127.0.0.1' }]);
    const [create] = of('create').filter(({ znode }) => znode === PATH);
    const user = [expect.stringMatching(/^digest:ann:.{4}$/)];
    expect(create).toMatchObject({ user, ip: '127.0.0.1', znode_type: 'persistent', bytes: 7 });
    expect(create.acl).toMatch(/^digest:ann:.{4}:rwcda$/);
    expect(create.zxid).toMatch(/^0x[0-9a-f]+$/);
    const changes = of('setData').filter(({ znode }) => znode === PATH);
    const [changed, ...refusals] = changes;
    expect(changed).toMatchObject({ result: 'success', version: 1, bytes: 9, user });
    expect(refusals[0]).toMatchObject({ result: 'failure', error: ErrorCode.noAuth, user: [] });
    const told = refusals.map(({ leftOut }) => leftOut ?? 1);
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(refusals.length).toBeLessThan(20);
    for (const secret of ['sesame', 'my data', 'more data']) expect(text).not.toContain(secret);
    for (const { id } of ensemble.members.filter((member) => member !== follower)) {
      expect(readFileSync(join(directory, `audit-${id}.jsonl`), 'utf8')).not.toContain(PATH);
    }
  },
  TEST_DEADLINE_MS,
);

it(
  'tells what operators and strangers did, each failed login at the bounded rate',
  async () => {
    const directory = newDirectory();
    const adminUsers = [await scryptEntry('ops:hunter2')];
    const adminReaders = [digestOf('viewer:looks')];
    const auditFile = join(directory, 'audit.jsonl');
    const ensemble = await useServingEnsemble({
      size: 1,
      operated: true,
      settings: { auditFile, adminUsers, adminReaders },
    });
    const [member] = ensemble.members;
    if (member === undefined) throw new Error('there is a member');
    const asked = async (user: string, path: string, method = 'GET') => {
      const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
      const url = `http://127.0.0.1:${member.adminPort}${path}`;
      const response = await fetch(url, { method, headers: { authorization } });
      await response.arrayBuffer();
      return response.status;
    };
    for (let count = 0; count < 3; count++) {
      expect(await asked('ops:not my password', '/api/v1')).toBe(401);
    }
    expect(await asked('ops:hunter2', '/api/v1/backup')).toBe(200);
    expect(await asked('viewer:looks', '/api/v1/backup')).toBe(403);
    expect(await asked('ops:hunter2', '/api/v1/node?path=/made', 'POST')).toBe(201);
    expect(await asked('ops:hunter2', '/commands/srst')).toBe(200);
    expect(await asked('viewer:looks', '/commands/srst')).toBe(403);
    const client = await useClient(member);
    const { id } = client.session;
    const wrong = { ...client.session, password: new Uint8Array(16).fill(7) };
    for (let count = 0; count < 5; count++) {
      await expect(useClient(member, { session: wrong })).rejects.toThrow();
    }
    expect(await asked('ops:hunter2', `/api/v1/sessions/0x${id.toString(16)}`, 'DELETE')).toBe(202);
    await fourLetterWord(member.clientPort, 'crst');
    await member.stop();

    const text = readFileSync(join(directory, 'audit-1.jsonl'), 'utf8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const of = (operation: string) => lines.filter((line) => line.operation === operation);
    const countOf = (found: readonly { leftOut?: number }[]) =>
      found.reduce((sum, { leftOut }) => sum + (leftOut ?? 1), 0);
    const ip = '127.0.0.1';
    const ops = { ip, user: ['admin:ops'], result: 'success' };
    const failed = of('authenticate').filter(({ result }) => result === 'failure');
    expect(failed[0]).toMatchObject({ ip, user: [], error: ErrorCode.authFailed });
    expect(countOf(failed)).toBe(3);
    expect(of('backup')).toMatchObject([{ ...ops, zxid: expect.stringMatching(/^0x/) }]);
    expect(countOf(of('adminRequest'))).toBe(2);
    const refused = { ip, user: ['admin:viewer'], result: 'failure', error: ErrorCode.noAuth };
    expect(of('adminRequest')[0]).toMatchObject({ ...refused, request: 'GET /backup' });
    const [made] = of('create').filter(({ znode }) => znode === '/made');
    expect(made).toMatchObject({ ip, user: [expect.stringMatching(/^digest:ops:.{4}$/)] });
    expect(of('adminCommand')).toMatchObject([{ ...ops, request: 'stat_reset' }]);
    const resumes = of('resumeSession').filter(({ result }) => result === 'failure');
    expect(resumes[0]).toMatchObject({ ip, session: `0x${id.toString(16)}`, error: -115 });
    expect(countOf(resumes)).toBe(5);
    expect(of('expireSession')).toMatchObject([{ ...ops, session: `0x${id.toString(16)}` }]);
    expect(of('fourLetterWord')).toMatchObject([{ ip, request: 'crst', result: 'success' }]);
    for (const secret of ['hunter2', 'not my password', 'looks"']) {
      expect(text).not.toContain(secret);
    }
  },
  TEST_DEADLINE_MS,
);

function digestOf(user: string): string {
  const digest = createHash('sha1').update(user).digest('base64');
  return `${user.split(':', 1)[0]}:${digest}`;
}

/** What a member says that must be audited and ends by itself. */
async function ending(directory: string, auditFile: string) {
  const [clientPort, peerPort] = await freePorts(2);
  const servers = [{ id: 1, host: '127.0.0.1', clientPort, peerPort }];
  const file = join(directory, 'config.json');
  const auditing = { auditFile, auditRequired: true };
  writeFileSync(file, JSON.stringify({ dataDir: './data', servers, ...auditing }));
  return await runServerToEnd(file, 1);
}

it('a member that must be audited does not start without its file', async () => {
  const directory = newDirectory();
  const { code, said } = await ending(directory, 'missing/audit.jsonl');
  expect(code, said).toBe(2);
  expect(said).toContain(`audit-1.jsonl cannot be written, and auditRequired is set: ENOENT`);
  expect(existsSync(join(directory, 'data'))).toBe(false);
});

it('a member that must be audited follows no link to another file', async () => {
  const directory = newDirectory();
  writeFileSync(join(directory, 'victim'), 'before');
  symlinkSync(join(directory, 'victim'), join(directory, 'audit-1.jsonl'));
  const { code, said } = await ending(directory, 'audit.jsonl');
  expect(code, said).toBe(2);
  expect(said).toContain('audit-1.jsonl is a symbolic link');
  expect(readFileSync(join(directory, 'victim'), 'utf8')).toBe('before');
});

/** Makes another /dev/full; false without the right to do so. */
function makeFullDevice(path: string): boolean {
  return spawnSync('mknod', [path, 'c', '1', '7']).status === 0;
}

it.skipIf(process.getuid?.() !== 0)(
  'a member that must be audited ends when its disk takes no more lines',
  async ({ skip }) => {
    const directory = newDirectory();
    if (!makeFullDevice(join(directory, 'audit-1.jsonl'))) return skip('it needs CAP_MKNOD');
    const { code, said } = await ending(directory, 'audit.jsonl');
    expect(code, said).toBe(1);
    expect(said).toContain('audit-1.jsonl has lost a line, and is required: ENOSPC');
  },
  TEST_DEADLINE_MS,
);
