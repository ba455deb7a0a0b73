/**
 * The commands of an operator towards members that take nobody without TLS and a certificate, or a
 * password: what works, and what the sentence is where it does not.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCommand } from '../../foreign/command.js';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { freePorts } from '../../harness/ports.js';
import { ROOKERY_MAIN } from '../../harness/product.js';
import { TestAuthority } from '../../simulated.js';

const DEADLINE_MS = 60_000;
const directory = newTestDirectory();
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const authority = new TestAuthority(directory);
const [server, ops] = [authority.server(), authority.client('ops')];
const usersFile = join(directory, 'users');
writeFileSync(usersFile, 'ann:secret\n', { mode: 0o600 });
const home = join(directory, 'home');
mkdirSync(home);

async function rookery(words: readonly string[], environment: Record<string, string> = {}) {
  const { code, output } = await runCommand({
    file: process.execPath,
    args: [ROOKERY_MAIN, ...words],
    deadlineMs: DEADLINE_MS,
    environment: { XDG_CONFIG_HOME: home, ...environment },
  });
  return { code, output: output.trim() };
}

/** Lists the root in `rookery sh`, which gets its lines by a pipe. */
async function shellLists(words: readonly string[], environment: Record<string, string> = {}) {
  const command = [process.execPath, ROOKERY_MAIN, 'sh', ...words];
  const { code, output } = await runCommand({
    file: '/bin/sh',
    args: ['-c', 'echo "ls /" | "$0" "$@"', ...command],
    deadlineMs: DEADLINE_MS,
    environment: { XDG_CONFIG_HOME: home, ...environment },
  });
  return { code, output: output.trim() };
}

it(
  'commands use a certificate of options, of a context and of the environment, and log in',
  async () => {
    const { certFile, keyFile } = server;
    const tls = { certFile, keyFile, caFile: authority.caFile, clientAuth: 'want', required: true };
    const ensemble = await useServingEnsemble({
      size: 1,
      secure: true,
      settings: { tls, sasl: { usersFile }, enforceAuth: ['x509', 'sasl'] },
    });
    const { secureClientPort, clientPort } = ensemble.member(1);
    const connect = ['--connect', `127.0.0.1:${secureClientPort}`];
    const trust = ['--tls-ca', authority.caFile];
    const proof = ['--tls-cert', ops.certFile, '--tls-key', ops.keyFile];
    const byOptions = await rookery(['ls', '/', ...connect, ...trust, ...proof]);
    expect(byOptions).toEqual({ code: 0, output: 'zookeeper' });
    await rookery(['context', 'save', 'prod', ...connect, ...trust, ...proof]);
    expect(await rookery(['ls', '/', '--context', 'prod'])).toEqual(byOptions);
    const status = await rookery(['status', '--context', 'prod']);
    expect(status.output).toContain('All serve.');
    expect(await rookery(['check', '--context', 'prod'])).toEqual({ code: 0, output: '' });
    const login = { ROOKERY_TLS_CA: authority.caFile, ROOKERY_AUTH: 'sasl:ann:secret' };
    expect(await rookery(['ls', '/', ...connect], login)).toEqual(byOptions);
    expect(await shellLists(['--context', 'prod'])).toEqual(byOptions);
    expect(await shellLists(connect, login)).toEqual(byOptions);
    const wrong = await rookery(['ls', '/', ...connect], { ...login, ROOKERY_AUTH: 'sasl:ann:x' });
    expect(wrong.code).not.toBe(0);
    const plain = ['--connect', `127.0.0.1:${clientPort}`, '--timeout', '2'];
    const refused = await rookery(['ls', '/', ...plain]);
    expect(refused.output).toContain('it gives no session without TLS: give --tls-ca, or --tls');
    const shell = await shellLists(plain);
    expect(shell).toEqual({ code: 4, output: expect.stringContaining('no session without TLS') });
  },
  DEADLINE_MS,
);

it(
  'a command says soon that a member gives no session without TLS, or without a certificate',
  async () => {
    const { certFile, keyFile } = server;
    const tls = { certFile, keyFile, caFile: authority.caFile, required: true };
    const ensemble = await useServingEnsemble({ size: 1, settings: { tls } });
    const get = (...more: string[]) => {
      const connect = ['--connect', `127.0.0.1:${ensemble.member(1).clientPort}`];
      return rookery(['get', '/', ...connect, '--timeout', String(DEADLINE_MS), ...more]);
    };
    const plain = await get();
    expect(plain.output).toContain('it gives no session without TLS: give --tls-ca, or --tls');
    const strange = await get('--tls');
    expect(strange.output).toContain('is not trusted here: name it by --tls-ca');
    const bare = await get('--tls-ca', authority.caFile);
    expect(bare.output).toContain('it refuses the certificate of this command, or the lack of one');
    expect([plain.code, strange.code, bare.code]).toEqual([4, 4, 4]);

    // A server that is away may have a certificate that is trusted, so the command waits for it.
    const [port] = await freePorts(1);
    const both = `127.0.0.1:${ensemble.member(1).clientPort},127.0.0.1:${port}`;
    const waited = await rookery(['get', '/', '--connect', both, '--timeout', '4', '--tls']);
    expect(waited.output).toContain('in 4 s, 1 of 2 servers can be reached');
    const never = await rookery(['get', '/', '--connect', both, '--timeout', '60']);
    expect(never.output).toContain('No session: ');
  },
  DEADLINE_MS,
);

it(
  'a command says why its login failed where members know no logins',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1 });
    const connect = ['--connect', `127.0.0.1:${ensemble.member(1).clientPort}`, '--timeout', '2'];
    const refused = await rookery(['get', '/', ...connect], { ROOKERY_AUTH: 'sasl:ann:secret' });
    expect(refused).toEqual({
      code: 4,
      output: expect.stringContaining('the server offers no login by DIGEST-MD5'),
    });
  },
  DEADLINE_MS,
);

it(
  'a command says soon that a port speaks TLS alone, or does not speak it',
  async () => {
    const { certFile, keyFile } = server;
    const tls = { certFile, keyFile, onClientPort: false };
    const ensemble = await useServingEnsemble({ size: 1, secure: true, settings: { tls } });
    const { secureClientPort, clientPort } = ensemble.member(1);
    const get = (port: number | null, ...more: string[]) => {
      const time = ['--timeout', String(DEADLINE_MS)];
      return rookery(['get', '/', '--connect', `127.0.0.1:${port}`, ...time, ...more]);
    };
    const plain = await get(secureClientPort);
    expect(plain.output).toContain('it speaks only TLS: give --tls-ca, or --tls');
    const secured = await get(clientPort, '--tls-ca', authority.caFile);
    expect(secured.output).toContain('it does not speak TLS');
    expect([plain.code, secured.code]).toEqual([4, 4]);
  },
  DEADLINE_MS,
);
