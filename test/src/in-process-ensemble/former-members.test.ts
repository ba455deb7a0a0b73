/**
 * Goal: members go on with directories that a real former release left, and miss nothing.
 *
 * The fixture is an archive of three members' directories of format 4, written by the release of
 * commit b785b9c, and of what its client was told. The leader was killed under load and started
 * again. Then member 1 was killed and stayed behind, member 3 was killed under load, and member 2
 * was stopped. `acknowledged.json` has a row for each znode: path, length, the beginning of the
 * SHA-256 of the data, version, czxid, mzxid and ephemeral owner.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { connect, NoAuthError } from '@rookery/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { started } from './fixture.js';

const ARCHIVE = new URL('fixtures/former-members.tar.br', import.meta.url);
const CREDENTIALS = { scheme: 'digest', auth: 'ann:secret' };

type Row = readonly [string, number, string, number, string, string, string];

/** Returns a folder with the fixture, which is removed when the test ends. */
function unpacked(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-former-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['-xf', '-', '-C', folder], {
    input: brotliDecompressSync(readFileSync(ARCHIVE)),
  });
  return folder;
}

describe('the directories of members of a former release', () => {
  it('have everything that was acknowledged, at each member', async () => {
    const folder = unpacked();
    const text = readFileSync(join(folder, 'acknowledged.json'), 'utf8');
    const acknowledged: readonly Row[] = JSON.parse(text);
    expect(acknowledged.length).toBeGreaterThan(300);
    const ensemble = await started({ dataDir: join(folder, 'members') });
    for (const { id, clientAddress } of ensemble.members) {
      const zk = await connect(clientAddress, { auth: [CREDENTIALS] });
      onTestFinished(() => zk.close());
      await zk.sync('/');
      const rows = acknowledged.map(async ([path]): Promise<Row> => {
        const { data, stat } = await zk.getData(path);
        const bytes = data ?? Buffer.alloc(0);
        const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
        const { version, czxid, mzxid, ephemeralOwner } = stat;
        const zxids = [`${czxid}`, `${mzxid}`, `${ephemeralOwner}`] as const;
        return [path, bytes.length, hash, version, ...zxids];
      });
      expect(await Promise.all(rows), `member ${id}`).toEqual(acknowledged);
      expect(await zk.exists('/gone')).toBe(null);
      const log = readdirSync(join(folder, 'members', `${id}`, 'log'));
      expect(log.filter((name) => name.startsWith('log-'))).toEqual([]);
    }
    const anybody = await connect(ensemble.connectString);
    onTestFinished(() => anybody.close());
    await expect(anybody.getData('/private')).rejects.toThrow(NoAuthError);
    expect((await anybody.getData('/readable')).stat.dataLength).toBe(20);
  });
});
