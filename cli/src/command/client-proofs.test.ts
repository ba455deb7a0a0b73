/** What commands read to prove who they are; nothing secret is in a refusal. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { addressesOf } from './addresses.js';
import {
  clientTlsOf,
  proofsOf,
  readCredentials,
  readTls,
  tlsOfEnvironment,
  tlsOfOptions,
} from './client-proofs.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-proofs-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function written(name: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, `the content of ${name}`);
  chmodSync(path, mode);
  return path;
}

describe('TLS of a command', () => {
  it('is asked for by any of its options or variables, and by none of others', () => {
    expect(tlsOfOptions({ connect: 'zk1:2281', timeout: 10 })).toBeNull();
    expect(tlsOfOptions({ tls: true })).toEqual({});
    expect(tlsOfOptions({ tlsCa: 'ca.pem' })).toMatchObject({ ca: 'ca.pem' });
    expect(tlsOfEnvironment({ ROOKERY_CONNECT: 'zk1:2281', ROOKERY_TLS_CA: '' })).toBeNull();
    expect(tlsOfEnvironment({ ROOKERY_TLS: '1' })).toEqual({});
    const named = { OTHER_TLS_CERT: 'me.pem', OTHER_TLS_KEY: 'me.key', ROOKERY_TLS: '1' };
    expect(tlsOfEnvironment(named, 'OTHER_TLS')).toMatchObject({ cert: 'me.pem', key: 'me.key' });
  });

  it('has what the files contain', () => {
    const [ca, cert, key] = [written('ca', 0o644), written('cert', 0o644), written('key')];
    const { ca: authority, ...own } = readTls({ ca, cert, key });
    expect(String(authority)).toBe('the content of ca');
    expect([own.cert, own.key].map(String)).toEqual(['the content of cert', 'the content of key']);
    expect(readTls({})).toEqual({});
  });

  it('is read for each question to a server, and left to the client as paths', () => {
    const ca = written('ca', 0o644);
    expect(clientTlsOf({ ca })).toMatchObject({ caFile: ca });
    const [server] = addressesOf('zk1:2281', { ca });
    expect(String(server?.tls?.()?.ca)).toBe('the content of ca');
    writeFileSync(ca, 'another authority');
    expect(String(server?.tls?.()?.ca)).toBe('another authority');
    rmSync(ca);
    expect(() => server?.tls?.()).toThrow(`${ca}`);
  });

  it('refuses half of a pair, a file that is not there, and a key that others may read', () => {
    const cert = written('cert', 0o644);
    expect(() => readTls({ cert })).toThrow('given together');
    expect(() => readTls({ ca: join(directory, 'none') })).toThrow(/authority.*cannot be read/);
    const open = written('open', 0o644);
    expect(() => readTls({ cert, key: open })).toThrow(`chmod 600`);
    expect(() => readTls({ cert, key: open })).not.toThrow('the content');
  });
});

describe('credentials', () => {
  it("are read from a file that is their owner's alone, and from no other", () => {
    expect(readCredentials(written('own'))).toBe('the content of own');
    // A file of root's may be readable by its group.
    for (const mode of [0o604, 0o644, 0o620]) {
      const path = written('open', mode);
      const sentence = `The file of credentials ${path} is open to other users (its mode is`;
      expect(() => readCredentials(path)).toThrow(sentence);
      expect(() => readCredentials(path)).toThrow(`chmod 600 ${path}`);
      expect(() => readCredentials(path)).not.toThrow('the content');
    }
    const missing = join(directory, 'missing');
    expect(() => readCredentials(missing)).toThrow(`${missing} cannot be read: there is no such`);
  });

  it('may come from a pipe that the shell has made', () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    const writer = spawn('sh', ['-c', 'echo digest:ann:secret > "$1"', 'sh', pipe]);
    onTestFinished(() => {
      writer.kill();
    });
    expect(readCredentials(pipe)).toBe('digest:ann:secret\n');
    chmodSync(pipe, 0o644);
    expect(() => readCredentials(pipe)).toThrow('open to other users');
  });

  it('log in by SASL where one is of sasl, and are sent where they are not', () => {
    const digest = { scheme: 'digest', auth: 'ann:a' };
    expect(proofsOf([digest])).toEqual({ auth: [digest] });
    const sasl = { scheme: 'sasl', auth: 'bob:pass:word' };
    expect(proofsOf([digest, sasl])).toEqual({
      auth: [digest],
      sasl: { username: 'bob', password: 'pass:word' },
    });
  });

  it('have one user of sasl at most, with a password', () => {
    const one = { scheme: 'sasl', auth: 'bob:secret' };
    for (const wrong of [[one, one], [{ scheme: 'sasl', auth: 'bob' }]]) {
      expect(() => proofsOf(wrong)).toThrow('sasl:user:password');
      expect(() => proofsOf(wrong)).not.toThrow('secret');
    }
  });
});
