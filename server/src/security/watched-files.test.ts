import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { WatchedFiles } from './watched-files.js';

/** Files with a watch whose every look is waited for: no time passes by itself. */
function scene() {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-watched-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [first, second] = ['first', 'second'].map((name) => join(directory, name));
  if (first === undefined || second === undefined) throw new Error('two files are needed');
  const write = (path: string, text: string) => writeFileSync(path, text);
  write(first, 'a1');
  write(second, 'b1');
  let look: (() => void) | null = null;
  let scheduled: () => void = () => undefined;
  const { logger, lines } = keptLog();
  const load = () => {
    const [a, b] = [first, second].map((path) => readFileSync(path, 'utf8'));
    if (a?.slice(1) !== b?.slice(1)) throw new Error(`${a} and ${b} differ`);
    return `${a} ${b}`;
  };
  const timers = {
    after: (_: number, action: () => void) => {
      look = action;
      scheduled();
      return { cancel: () => (look = null) };
    },
  };
  const watched = new WatchedFiles('pair', [first, second], load, timers, logger);
  onTestFinished(() => watched.close());
  const heard: string[] = [];
  watched.onChange((content) => heard.push(content));
  watched.start();
  /** One look at the files, to its end. */
  const pass = () =>
    new Promise<void>((resolve) => {
      scheduled = resolve;
      look?.();
    });
  const events = () => lines.map(({ msg }) => msg);
  return { directory, first, second, write, watched, pass, heard, events };
}

it('notices a file that is written in place, and one that is renamed over it', async () => {
  const { directory, first, second, write, watched, pass, heard } = scene();
  for (let look = 0; look < 3; look++) await pass();
  expect(watched.current).toBe('a1 b1');
  write(first, 'a2');
  const fresh = join(directory, 'fresh');
  write(fresh, 'b2');
  renameSync(fresh, second);
  await pass();
  expect(watched.current).toBe('a1 b1');
  await pass();
  expect(watched.current).toBe('a2 b2');
  expect(heard.at(-1)).toBe('a2 b2');
});

it('loads nothing while one file of two is new and the other follows by the next look', async () => {
  const { first, second, write, watched, pass, events } = scene();
  await pass();
  await pass();
  write(first, 'a2');
  await pass();
  write(second, 'b2');
  await pass();
  await pass();
  expect(watched.current).toBe('a2 b2');
  expect(events()).toEqual(['files.reloaded']);
});

it('keeps what it has while the files cannot be used, says so once, and recovers', async () => {
  const { first, second, write, watched, pass, heard, events } = scene();
  for (let look = 0; look < 2; look++) await pass();
  const before = heard.length;
  write(first, 'a9');
  for (let look = 0; look < 4; look++) await pass();
  expect(watched.current).toBe('a1 b1');
  expect(watched.isStale).toBe(true);
  rmSync(second);
  for (let look = 0; look < 4; look++) await pass();
  expect(watched.current).toBe('a1 b1');
  expect(events()).toEqual(['files.not_reloaded', 'files.not_reloaded']);
  expect(heard).toHaveLength(before);
  write(second, 'b9');
  chmodSync(second, 0o600);
  for (let look = 0; look < 2; look++) await pass();
  expect(watched.current).toBe('a9 b9');
  expect(watched.isStale).toBe(false);
  expect(events().at(-1)).toBe('files.reloaded');
});
