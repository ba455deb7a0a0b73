import { Readable } from 'node:stream';
import { checkSettings } from '@rookery/server';
import { expect, it } from 'vitest';
import { runHashPassword } from './hash-password-command.js';

async function hashed(user: string, input: string): Promise<string> {
  let text = '';
  const out = (part: string) => {
    text += part;
  };
  await runHashPassword(user, { stdin: Readable.from([input]), out, err: () => undefined });
  return text.trimEnd();
}

it('prints what the settings take', async () => {
  const entry = await hashed('super', 'secret\nmore\n');
  expect(entry).toMatch(/^super:\$scrypt\$/);
  const servers = [{ id: 1, host: '127.0.0.1', clientPort: 1, peerPort: 2 }];
  const settings = { superDigest: entry, adminUsers: [entry], adminReaders: [entry] };
  expect(checkSettings({ dataDir: 'd', servers, ...settings }).problems).toEqual([]);
});

it('refuses what can be no user, and no password', async () => {
  await expect(hashed('a:b', 'x')).rejects.toThrow('cannot be a user');
  await expect(hashed('ops', '\n')).rejects.toThrow('There is no password');
  await expect(hashed('ops', '')).rejects.toThrow('There is no password');
});

it('reads no input for ever that has no line', async () => {
  await expect(hashed('ops', 'x'.repeat((1 << 20) + 1))).rejects.toThrow('more than 1048576 bytes');
});
