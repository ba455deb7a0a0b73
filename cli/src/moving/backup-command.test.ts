/**
 * Backups of a member's directory that the test makes are saved, listed, verified and pruned, every
 * byte of one is changed, and a missing file or member is reported.
 */
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadEnsembleConfig, OperatorError, RestorePlanner, restoreMembers } from '@rookery/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runBackupList, runBackupPrune, runBackupSave, runBackupVerify } from './backup-command.js';
import { runRestore } from './restore-command.js';

const output: string[] = [];
let directory = '';
let config = '';
let backups = '';

beforeAll(async () => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      output.push(String(text));
      return true;
    });
  }
  directory = await mkdtemp(join(tmpdir(), 'rookery-backup-'));
  config = join(directory, 'ensemble.json');
  backups = join(directory, 'backups');
  const servers = [{ id: 1, host: '127.0.0.1', clientPort: 20_001, peerPort: 21_001 }];
  await writeFile(config, JSON.stringify({ dataDir: 'data', servers }));
  const plan = new RestorePlanner().plan(5n);
  await restoreMembers({ config: loadEnsembleConfig(config), ids: [1], ensembleId: 'e', plan });
});

afterAll(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

describe('a backup', () => {
  it('is saved, listed and verified', async () => {
    expect(await runBackupSave({ config, id: 1 }, backups)).toBe(0);
    const [name = ''] = await readdir(backups);
    expect(await readdir(backups)).toEqual([name, `${name}.sha256`]);
    expect(await runBackupList(backups)).toBe(0);
    expect(output.at(-1)).toContain('0x3e800000000');
    expect(await runBackupVerify(join(backups, name))).toBe(0);
    expect(output.at(-1)).toMatch(/^sound: .*, 4 znodes, digest 0x[\da-f]+, SHA-256 equal\n$/);
  });

  it('with any byte changed is refused, by verify and by restore', async () => {
    const [name = ''] = await readdir(backups);
    const path = join(backups, name);
    const sound = await readFile(path);
    const target = { config, id: null, ensembleId: null, plan: true, json: false };
    for (let at = 0; at < sound.length; at++) {
      const changed = Buffer.from(sound);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      await writeFile(path, changed);
      expect(await runBackupVerify(path), `byte ${at}`).toBe(1);
      if (at % 20 === 0) expect(await runRestore(path, target), `byte ${at}`).toBe(1);
    }
    await writeFile(path, sound);
    expect(await runBackupVerify(path)).toBe(0);
    await expect(runRestore(path, target)).rejects.toThrow('is not empty');
    const anew = join(directory, 'anew.json');
    const settings = JSON.parse(await readFile(config, 'utf8'));
    await writeFile(anew, JSON.stringify({ ...settings, dataDir: 'anew' }));
    expect(await runRestore(path, { ...target, config: anew })).toBe(0);
  });

  it('is pruned together with its checksum, the oldest first', async () => {
    for (const [daysAgo, zxid] of [
      [3, '1'],
      [2, '2'],
      [1, 'ff'],
    ] as const) {
      const path = join(backups, `snapshot.${zxid}.gz`);
      await writeFile(path, '');
      const written = new Date(Date.now() - daysAgo * 24 * 3_600_000);
      await utimes(path, written, written);
      await writeFile(join(backups, `snapshot.${zxid}.gz.sha256`), '');
    }
    expect(await runBackupPrune(backups, { newest: 2, days: 0 })).toBe(0);
    const left = (await readdir(backups)).filter((name) => name.endsWith('.gz'));
    expect(left.toSorted()).toEqual(['snapshot.3e800000000.gz', 'snapshot.ff.gz']);
    expect(await readdir(backups)).toHaveLength(4);
  });
});

it('a link and a directory with names of backups are reported and take the place of none', async () => {
  const folder = join(directory, 'with-links');
  await mkdir(join(folder, 'snapshot.3.gz'), { recursive: true });
  const path = join(folder, 'snapshot.1.gz');
  await writeFile(path, '');
  await utimes(path, 1, 1);
  await symlink(path, join(folder, 'snapshot.2.gz'));
  const before = output.length;
  expect(await runBackupPrune(folder, { newest: 1, days: 0 })).toBe(0);
  const reason = 'is not a regular file, so it is no backup: left alone';
  expect(output.slice(before).toSorted()).toEqual([
    'kept: 1\n',
    ...['2', '3'].map((each) => `rookery: ${join(folder, `snapshot.${each}.gz`)} ${reason}\n`),
  ]);
  expect(await readdir(folder)).toHaveLength(3);
  expect(await runBackupList(folder)).toBe(0);
  expect(output.at(-1)).toMatch(/^1970-.* 0x1 {2}0 bytes /);
});

describe('a restore', () => {
  const target = () => ({ config, id: null, ensembleId: null, plan: true, json: false });

  it('names the file that is cut off, and no place where it is the whole that is wrong', async () => {
    const [name = ''] = await readdir(backups);
    const cut = join(directory, 'cut.gz');
    await writeFile(cut, (await readFile(join(backups, name))).subarray(0, 100));
    expect(await runRestore(cut, target())).toBe(1);
    const reason = 'it cannot be decompressed: unexpected end of file';
    expect(output.at(-1)).toBe(`rookery: ${cut} is damaged: ${reason}\n`);
  });

  it('says of a file of a later format which one this release reads', async () => {
    const later = join(directory, 'snapshot.1');
    const header = Buffer.alloc(16);
    header.write('ZKSN');
    header.writeInt32BE(3, 4);
    await writeFile(later, header);
    expect(await runRestore(later, target())).toBe(1);
    expect(output.at(-1)).toContain('its version is 3; this release reads version 2');
  });

  it('asks for a file where it is given a directory', async () => {
    const said = 'it is a directory; name one of the files in it';
    await expect(runRestore(backups, target())).rejects.toThrow(
      `${backups} cannot be read: ${said}`,
    );
  });
});

describe('a mistake of the caller', () => {
  it('is reported in a sentence that names the file or the member', async () => {
    const target = { config, id: null, ensembleId: null, plan: false, json: false };
    const [name = ''] = (await readdir(backups)).filter((each) => each.startsWith('snapshot.3e8'));
    await expect(runRestore(join(backups, name), target)).rejects.toThrow('is not empty');
    await expect(runRestore('/nowhere', target)).rejects.toThrow(OperatorError);
    await expect(runRestore(name, { ...target, id: 9 })).rejects.toThrow('no server with the id 9');
    await expect(runBackupSave({ config, id: 2 }, backups)).rejects.toThrow('id 2');
    await expect(runBackupVerify('/nowhere')).rejects.toThrow('/nowhere cannot be read');
    await expect(runBackupList('/nowhere')).rejects.toThrow('/nowhere cannot be read');
  });
});
