import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OperatorError } from '../config/operator-error.js';
import { readPeerSecrets } from './peer-secrets.js';

const ONE = 'a'.repeat(32);
const OTHER = 'b'.repeat(44);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-peer-secret-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string, mode = 0o600): string {
  const path = join(folder, `secret-${mode}-${text.length}`);
  writeFileSync(path, text, { mode });
  return path;
}

it.each([
  ['one line', ONE, [ONE]],
  ['a line that ends as on Windows', `${ONE}\r\n`, [ONE]],
  ['two lines', `${ONE}\n${OTHER}\n`, [ONE, OTHER]],
  ['lines with space around them', `\n  ${ONE}  \n\n${OTHER}`, [ONE, OTHER]],
])('%s of a file are secrets', (_what, text, expected) => {
  const secrets = readPeerSecrets(file(text)).map((bytes) => Buffer.from(bytes).toString());
  expect(secrets).toEqual(expected);
});

it.each([
  ['that is empty', '', /is empty/],
  ['of blank lines', '\n \n', /has 0 lines: expected one secret/],
  ['of three lines', `${ONE}\n${OTHER}\n${ONE}`, /has 3 lines/],
  ['with a short secret', 'x'.repeat(31), /a line of 31 characters: expected 32 to 1024/],
  ['with a long secret', 'x'.repeat(1025), /a line of 1025 characters/],
])('a file %s is refused in one sentence, which repeats nothing of it', (_what, text, message) => {
  const path = file(text);
  const error = thrownBy(() => readPeerSecrets(path));
  expect(error).toBeInstanceOf(OperatorError);
  const said = (error as OperatorError).message;
  expect(said).toMatch(message);
  expect(said).toContain(path);
  expect(said).not.toMatch(/\n|xxxx|aaaa|bbbb/);
});

it('a file that others can read is refused with what mends it', () => {
  const path = file(ONE, 0o644);
  const error = thrownBy(() => readPeerSecrets(path));
  expect(String(error)).toContain(`chmod 600 ${path}`);
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
