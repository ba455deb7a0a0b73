/**
 * Goal: data of release 0.2.0 moves to this release by a backup, and nothing of it is lost; its
 * directories are refused in one sentence that says so, and are not touched.
 *
 * The fixture was written by release 0.2.0: `members/3` is the directory of a member, `backup` has
 * its backup by `rookery backup save`, and `acknowledged.json` has a row for each znode that a
 * client read: path, length, the first 8 hex digits of the SHA-256 of the data, version, czxid,
 * mzxid and ephemeral owner.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { connect, NoAuthError } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { useEnsemble } from '../../harness/ensemble.js';
import { ROOKERY_MAIN } from '../../harness/product.js';

const ARCHIVE = new URL('release-0.2.0.tar.br', import.meta.url);
const CREDENTIALS = { scheme: 'digest', auth: 'ann:secret' };
const MEMBER = 3;
const TEST_MS = 120_000;

const run = promisify(execFile);

type Row = readonly [string, number, string, number, string, string, string];

/** Returns a folder with the fixture, which is removed when the test ends. */
function unpacked(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-former-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const input = brotliDecompressSync(readFileSync(ARCHIVE));
  execFileSync('tar', ['-xf', '-', '-C', folder], { input });
  return folder;
}

/** Every file below the directory with the SHA-256 of its content. */
function filesIn(directory: string): readonly (readonly [string, string])[] {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path): [string, string] => [
      path,
      createHash('sha256').update(readFileSync(path)).digest('hex'),
    ])
    .toSorted();
}

it(
  'a backup of 0.2.0 is restored with everything that was acknowledged, but for ephemerals',
  async () => {
    const folder = unpacked();
    const text = readFileSync(join(folder, 'acknowledged.json'), 'utf8');
    const acknowledged: readonly Row[] = JSON.parse(text);
    const kept = acknowledged.filter(([, , , , , , owner]) => owner === '0');
    expect(kept.length).toBeGreaterThan(300);
    expect(kept.length).toBeLessThan(acknowledged.length);
    const backups = join(folder, 'backup');
    const name = readdirSync(backups).find((one) => one.endsWith('.gz')) ?? '';
    const ensemble = await useEnsemble();
    const config = join(ensemble.directory, 'config-1.json');
    const restore = ['restore', join(backups, name), '--config', config];
    await run(process.execPath, [ROOKERY_MAIN, ...restore]);
    ensemble.start();
    await ensemble.serving();
    for (const port of ensemble.ports) {
      const zk = await connect(`127.0.0.1:${port}`, { auth: [CREDENTIALS] });
      onTestFinished(() => zk.close());
      await zk.sync('/');
      const rows = kept.map(async ([path]): Promise<Row> => {
        const { data, stat } = await zk.getData(path);
        const bytes = data ?? Buffer.alloc(0);
        const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
        const { version, czxid, mzxid, ephemeralOwner } = stat;
        const zxids = [`${czxid}`, `${mzxid}`, `${ephemeralOwner}`] as const;
        return [path, bytes.length, hash, version, ...zxids];
      });
      expect(await Promise.all(rows), `port ${port}`).toEqual(kept);
      for (const [path, , , , , , owner] of acknowledged) {
        if (owner !== '0') expect(await zk.exists(path), path).toBe(null);
      }
    }
    const anybody = await connect(`127.0.0.1:${ensemble.ports[0]}`);
    onTestFinished(() => anybody.close());
    await expect(anybody.getData('/private')).rejects.toThrow(NoAuthError);
  },
  TEST_MS,
);

it(
  'a directory of 0.2.0 is refused with the way to move it, and is not touched',
  async () => {
    const folder = unpacked();
    const ensemble = await useEnsemble();
    const member = ensemble.member(MEMBER);
    rmSync(member.dataDir, { recursive: true, force: true });
    cpSync(join(folder, 'members', `${MEMBER}`), member.dataDir, { recursive: true });
    const before = filesIn(member.dataDir);
    member.start();
    expect(await member.exited).toMatchObject({ code: 2 });
    expect(member.log()).toMatch(
      /has format 1, this release reads format 10: data of a release before 0\.3\.0 moves by a /,
    );
    expect(filesIn(member.dataDir)).toEqual(before);
  },
  TEST_MS,
);
