/** Files that end where they should, and devices that never do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readFileUpTo } from './bounded-file.js';
import { loadConfig } from './config.js';

it('reads a file up to the bound and not beyond', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bounded-file-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'file');
  writeFileSync(file, 'x'.repeat(50_000));
  expect(readFileUpTo(file, 50_000)).toHaveLength(50_000);
  expect(() => readFileUpTo(file, 49_999)).toThrow('it has more than 49999 bytes');
});

it.runIf(process.platform === 'linux')('a config file that never ends is refused', () => {
  expect(() => loadConfig('/dev/zero', 1)).toThrow('it has more than 8388608 bytes');
});
