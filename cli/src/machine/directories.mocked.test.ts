/**
 * Which path is named where a directory is closed to this user: root may enter any, so the system's
 * answers are made here.
 */
import { access, stat } from 'node:fs/promises';
import { loadEnsembleConfig } from '@rookery/server';
import { expect, it, vi } from 'vitest';
import { placeOf, requireDirectories } from './directories.js';

vi.mock('node:fs/promises', { spy: true });

const EXAMPLE = new URL('../../../ensemble.example.json', import.meta.url).pathname;

/** As if this user could not enter `closed`. */
async function close(closed: string): Promise<void> {
  const real = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
  const refused = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  vi.mocked(stat).mockImplementation((path) => {
    if (String(path).startsWith(`${closed}/`)) return Promise.reject(refused);
    return real.stat(path === closed ? '/' : path);
  });
  vi.mocked(access).mockImplementation((path, mode) =>
    path === closed ? Promise.reject(refused) : real.access(path, mode),
  );
}

it('a closed directory is named, and not what it hides', async () => {
  await close('/closed');
  const refusal = { path: '/closed', code: 'EACCES' };
  expect(await placeOf('/closed')).toEqual(refusal);
  expect(await placeOf('/closed/a')).toEqual(refusal);
  expect(await placeOf('/closed/a/b')).toEqual(refusal);
});

it('what is closed to all members is named once', async () => {
  await close('/closed');
  const config = { ...loadEnsembleConfig(EXAMPLE), dataDir: '/closed/data' };
  await expect(requireDirectories(config)).rejects.toThrow(
    /^\/closed, for data of members, cannot be written \(EACCES\)$/,
  );
});
