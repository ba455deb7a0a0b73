/** Files kept for the operator: whole or not there, and only the newest of them. */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepAside } from './keep-aside.js';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rookery-kept-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function* lines(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

async function* broken(): AsyncGenerator<string> {
  yield 'one\n';
  throw new Error('the log cannot be read');
}

it('keeps all lines under the name, and says where', async () => {
  const path = await keepAside(directory, 'discarded-1.jsonl', lines('{"a":1}\n', '{"b":2}\n'), 8);
  expect(path).toBe(join(directory, 'discarded', 'discarded-1.jsonl'));
  expect(await readFile(path, 'utf8')).toBe('{"a":1}\n{"b":2}\n');
});

it('leaves no half of a file under the name', async () => {
  await expect(keepAside(directory, 'discarded-1.jsonl', broken(), 8)).rejects.toThrow('be read');
  expect(await readdir(join(directory, 'discarded'))).toEqual(['discarded-1.jsonl.part']);
});

it('keeps eight of them, the newest', async () => {
  for (let at = 10; at < 20; at++) {
    await keepAside(directory, `discarded-${at}.jsonl`, lines('x\n'), 8);
  }
  const kept = (await readdir(join(directory, 'discarded'))).sort();
  expect(kept).toEqual([12, 13, 14, 15, 16, 17, 18, 19].map((at) => `discarded-${at}.jsonl`));
});

it('an old file that cannot be removed costs neither the new one nor the removal of others', async () => {
  const folder = join(directory, 'discarded');
  // No file system removes a directory as a file.
  await mkdir(join(folder, 'discarded-10.jsonl'), { recursive: true });
  for (let at = 11; at < 14; at++) {
    await keepAside(directory, `discarded-${at}.jsonl`, lines('x\n'), 1);
  }
  expect((await readdir(folder)).sort()).toEqual(['discarded-10.jsonl', 'discarded-13.jsonl']);
});
