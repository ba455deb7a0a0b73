/** The order in which a file of ours is replaced. */
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { replaceOwnFile } from './own-file.js';

vi.mock('node:fs', { spy: true });

it('a file is synced before it takes the place of another one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-own-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { fsyncSync } = await import('node:fs');
  replaceOwnFile(join(directory, 'a'), 'text');
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('text');
  const [synced] = vi.mocked(fsyncSync).mock.invocationCallOrder;
  const [renamed] = vi.mocked(renameSync).mock.invocationCallOrder;
  expect(synced).toBeLessThan(renamed ?? 0);
});
