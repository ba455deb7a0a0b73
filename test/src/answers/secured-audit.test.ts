/**
 * The audit log of running members: who did what, what was refused, nothing secret; and a member
 * that must be audited and cannot be.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthPacket, CreateRequest, ErrorCode, OpCode, Perms } from '@rookery/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../harness/ensemble.js';
import { sendSetData } from '../harness/operations.js';
import { freePorts } from '../harness/ports.js';
import { runServerToEnd } from '../harness/run-to-end.js';
import { useClient } from '../harness/use-client.js';

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
