/**
 * A run leaves nothing behind, and removes nothing that belongs to others. The tests use
 * directories as a dead, a living and a foreign process would have left them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { newCopy, removeLeftovers } from './copies.js';

const parent = mkdtempSync(join(tmpdir(), 'rookery-copies-'));
afterAll(() => rmSync(parent, { recursive: true }));

it('a copy is removed with all of its content when the process that made it has ended', () => {
  const copy = folder('rookery-mutants-dead', { pid: pidOfTheDead(), host: hostname() });
  mkdirSync(join(copy, 'server/src'), { recursive: true });
  writeFileSync(join(copy, 'server/src/index.ts'), '');
  expect(removeLeftovers(parent)).toEqual([copy]);
  expect(existsSync(copy)).toBe(false);
});

it('a copy stays as long as the process that made it lives', () => {
  const own = newCopy(parent);
  const parents = folder('rookery-mutants-alive', { pid: process.ppid, host: hostname() });
  expect(removeLeftovers(parent)).toEqual([]);
  expect(existsSync(own)).toBe(true);
  expect(existsSync(parents)).toBe(true);
});

it('a directory that this tool did not make stays, whatever its name', () => {
  const dead = { pid: pidOfTheDead(), host: hostname() };
  const kept = [
    folder('rookery-mutants-unmarked', null),
    folder('rookery-mutants-strange', ['owner']),
    folder('rookery-mutants-elsewhere', { ...dead, host: `not-${hostname()}` }),
    folder('rookery-other', dead),
  ];
  writeFileSync(join(folder('rookery-mutants-torn', null), 'owner.json'), '{"pid":');
  writeFileSync(join(parent, 'rookery-mutants-file'), '');
  const before = readdirSync(parent);
  expect(removeLeftovers(parent)).toEqual([]);
  expect(readdirSync(parent)).toEqual(before);
  for (const path of kept) expect(existsSync(path), path).toBe(true);
});

function folder(name: string, owner: unknown): string {
  const path = join(parent, name);
  mkdirSync(path);
  if (owner !== null) writeFileSync(join(path, 'owner.json'), JSON.stringify(owner));
  return path;
}

/** The id of a process that has just ended: nobody gets that id again so soon. */
function pidOfTheDead(): number {
  return spawnSync(process.execPath, ['--eval', '']).pid;
}
