import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OperatorError } from '../config/operator-error.js';
import { readPublicFile, readSecretFile, readSecretLine } from './secret-file.js';

const SECRET = 'do not tell';
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-secret-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function written(name: string, mode: number, content = `${SECRET}\n`): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'it was read';
}

const isRoot = process.getuid?.() === 0;

it('reads a file that only its owner can read, also through a link', () => {
  const path = written('own', 0o600);
  expect(readSecretFile(path, 'The key').toString()).toBe(`${SECRET}\n`);
  expect(readSecretLine(path, 'The key')).toBe(SECRET);
  const link = join(directory, 'link');
  symlinkSync(path, link);
  expect(readSecretLine(link, 'The key')).toBe(SECRET);
  expect(readSecretLine(written('read-only', 0o400, SECRET), 'The key')).toBe(SECRET);
});

it.each([0o604, 0o602, 0o601, 0o644, 0o620, 0o666, 0o777])(
  'refuses a secret of mode %o with what mends it, and reads it where it is none',
  (mode) => {
    const path = written(`mode-${mode}`, mode);
    const message = refusal(() => readSecretFile(path, 'The key'));
    const shown = mode.toString(8).padStart(4, '0');
    expect(message).toContain(`The key ${path} is open to other users (its mode is ${shown}).`);
    expect(message).toContain(`chmod 600 ${path}`);
    expect(message).not.toContain(SECRET);
    expect(readPublicFile(path, 'The certificate').toString()).toContain(SECRET);
  },
);

it('lets the group read a file only if it is root who owns it', () => {
  const path = written('group', 0o640);
  const message = refusal(() => readSecretFile(path, 'The key'));
  expect(message).toMatch(isRoot ? /^it was read$/ : /open to other users/);
});

it('says in a sentence what else is wrong', () => {
  const missing = join(directory, 'missing');
  expect(refusal(() => readSecretFile(missing, 'The key'))).toBe(
    `The key ${missing} cannot be read: there is no such file.`,
  );
  const empty = written('empty', 0o600, '');
  expect(refusal(() => readSecretFile(empty, 'The key'))).toBe(`The key ${empty} is empty.`);
  const folder = join(directory, 'folder');
  mkdirSync(folder, { mode: 0o700 });
  expect(refusal(() => readSecretFile(folder, 'The key'))).toBe(`The key ${folder} is not a file.`);
  const huge = written('huge', 0o600, 'x'.repeat((1 << 20) + 1));
  expect(refusal(() => readSecretFile(huge, 'The key'))).toContain('larger than 1048576 bytes');
  const lines = written('lines', 0o600, `${SECRET}\nand more\n`);
  expect(refusal(() => readSecretLine(lines, 'The passphrase'))).toBe(
    `The passphrase in ${lines} must be the only line of the file.`,
  );
  expect(refusal(() => readSecretLine(written('blank', 0o600, '\n'), 'It'))).toContain('only line');
});
