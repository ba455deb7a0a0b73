import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { History, isHarmless } from './history.js';

function newHistory(): { readonly history: History; readonly file: string; readonly home: string } {
  const home = mkdtempSync(join(tmpdir(), 'rookery-history-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, 'rookery'));
  return {
    home,
    history: new History({ XDG_STATE_HOME: home }),
    file: join(home, 'rookery/history'),
  };
}

it.each([
  'addauth digest ann:secret',
  '  addauth digest ann:secret',
  '"addauth" digest ann:secret',
  "'addauth' digest ann:secret",
  'add"auth" digest ann:secret',
  'add\\auth digest ann:secret',
  '"addauth digest ann:secret',
  'AddAuth digest ann:secret',
  'adauth digest ann:secret',
  'adauth "digest" "ann:secret"',
])('%s is not kept', (line) => {
  expect(isHarmless(line)).toBe(false);
  const { history } = newHistory();
  history.save([line, 'ls /']);
  expect(history.load()).toEqual(['ls /']);
});

it.each(['ls /digest', 'acl set /a digest:ann:9fQk=:cdrwa', 'create /a x'])(
  '%s is kept',
  (line) => {
    expect(isHarmless(line)).toBe(true);
  },
);

it('a file that others can read becomes one for its owner alone', () => {
  const { history, file } = newHistory();
  writeFileSync(file, 'ls /\n');
  chmodSync(file, 0o644);
  history.save(['get /a']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('a planted link is replaced, and the file to which it leads stays', () => {
  const { history, file, home } = newHistory();
  const victim = join(home, 'victim');
  writeFileSync(victim, 'before');
  symlinkSync(victim, file);
  expect(history.save(['get /a'])).toBe(true);
  expect(readFileSync(victim, 'utf8')).toBe('before');
  expect(readFileSync(file, 'utf8')).toBe('get /a\n');
});
