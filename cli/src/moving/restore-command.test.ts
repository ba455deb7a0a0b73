/**
 * An import whose digests differ says why: because something is damaged, or because ZooKeeper has
 * created more children than its counter holds. The log is as ZooKeeper 3.8 writes it then: it
 * keeps the counter at its end, and computes the digest of the create with one that has wrapped.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { JuteWriter } from '@rookery/protocol';
import { OperatorError, snapshotParts } from '@rookery/server';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runImport, runRestore } from './restore-command.js';

const MAX = 2 ** 31 - 1;
const CREATE = 1;
const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];

function snapshot(cversion: number, acl = OPEN): Buffer {
  const numbers = { czxid: 0n, mzxid: 0n, pzxid: 0n, ctime: 0n, mtime: 0n, ephemeralOwner: 0n };
  const node = { data: null, acl, version: 0, aversion: 0, ...numbers };
  const nodes = [
    { ...node, path: '', cversion: 1 },
    { ...node, path: '/s', cversion },
  ];
  const content = { zxid: 0n, sessions: new Map(), aclLists: new Set([acl]), nodes };
  return Buffer.concat([...snapshotParts(content)]);
}

/** A log with the create of `/s/n`, and with a digest that is not that of the tree. */
function log(parentCversion: number): Buffer {
  const out = new JuteWriter();
  out.long(7n);
  out.int(1);
  out.long(1n);
  out.long(1000n);
  out.int(CREATE);
  out.string('/s/n');
  out.buffer(null);
  out.int(OPEN.length);
  for (const { perms, scheme, id } of OPEN) {
    out.int(perms);
    out.string(scheme);
    out.string(id);
  }
  out.bool(false);
  out.int(parentCversion);
  out.int(2);
  out.long(12345n);
  const record = out.take();
  const head = Buffer.alloc(12);
  // The checksum at the end of a compressed stream is the one that a log has.
  head.writeUInt32BE(deflateSync(record).readUInt32BE(deflateSync(record).length - 4), 4);
  head.writeInt32BE(record.length, 8);
  const header = Buffer.from('5a4b4c47000000020000000000000000', 'hex');
  return Buffer.concat([header, head, record, Buffer.of(0x42)]);
}

async function importOf(
  cversion: number,
  parentCversion: number,
  stopAtDamage = false,
  makeNew: (directory: string) => Promise<unknown> = async () => undefined,
) {
  const dataDir = await mkdtemp(join(tmpdir(), 'rookery-import-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  await mkdir(join(dataDir, 'version-2'));
  await writeFile(join(dataDir, 'version-2', 'snapshot.0'), snapshot(cversion));
  await writeFile(join(dataDir, 'version-2', 'log.1'), log(parentCversion));
  const config = join(dataDir, 'ensemble.json');
  const servers = [{ id: 1, host: '127.0.0.1', clientPort: 20001, peerPort: 20002 }];
  await writeFile(config, JSON.stringify({ dataDir: join(dataDir, 'new'), servers }));
  await makeNew(join(dataDir, 'new'));
  const target = { config, id: null, ensembleId: null, plan: true, json: false };
  return await runImport({ dataDir, logDir: null, stopAtDamage }, target);
}

function printed(stream: 'stdout' | 'stderr'): () => string {
  const write = vi.spyOn(process[stream], 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  return () => write.mock.calls.map(([text]) => String(text)).join('');
}

it('a digest that differs for no known reason is damage', async () => {
  const errors = printed('stderr');
  expect(await importOf(5, 6)).toBe(1);
  expect(errors()).toMatch(/ is damaged: the digest that ZooKeeper wrote at zxid 0x1 is not that/);
});

it('one beyond the end of a counter of creates is not, and the message says why', async () => {
  const refused = importOf(MAX, -MAX - 1);
  await expect(refused).rejects.toThrow(OperatorError);
  await expect(refused).rejects.toThrow(
    /2147483647 children of \/s .* from zxid 0x1 on .* Add --stop-at-damage/,
  );
  await expect(refused).rejects.not.toThrow(/damaged/);
});

it('such data are imported where the digests need not prove them', async () => {
  const report = printed('stdout');
  expect(await importOf(MAX, -MAX - 1, true)).toBe(0);
  expect(report()).toMatch(/znodes +3 /);
});

it.each([
  [
    'is used already',
    'is not empty',
    async (directory: string) => {
      await mkdir(join(directory, '1'), { recursive: true });
      await writeFile(join(directory, '1', 'something'), 'of somebody');
    },
  ],
  ['cannot be made', 'cannot be', (directory: string) => writeFile(directory, 'a file')],
])('a plan finds a directory that %s', async (_, said, makeNew) => {
  const planned = importOf(5, 6, true, makeNew);
  await expect(planned).rejects.toBeInstanceOf(OperatorError);
  await expect(planned).rejects.toThrow(said);
});

it('a scheme of an ACL in the source does not reach the terminal as it is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rookery-restore-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'snapshot.0');
  const entry = { perms: 31, scheme: 'a\u001b[2J', id: '' };
  await writeFile(file, snapshot(5, [entry, entry]));
  const config = join(folder, 'ensemble.json');
  const servers = [{ id: 1, host: '127.0.0.1', clientPort: 20001, peerPort: 20002 }];
  await writeFile(config, JSON.stringify({ dataDir: join(folder, 'new'), servers }));
  const report = printed('stdout');
  expect(
    await runRestore(file, { config, id: null, ensembleId: null, plan: true, json: false }),
  ).toBe(0);
  expect(report()).toMatch(/ACL schemes +a\\u001b\[2J \(2 znodes\)/);
});
