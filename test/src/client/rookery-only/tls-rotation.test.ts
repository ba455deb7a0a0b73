/**
 * The certificates of everybody are replaced under a running client, whose session goes on: with
 * files, whatever is in them meanwhile, and with what the application gives. The server is a member
 * behind a proxy that ends TLS, so that a test can replace its certificates and cut connections.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { type ConnectOptions, connect, createClient, OptionError } from '@rookery/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../../harness/ensemble.js';
import { ROOKERY_MAIN } from '../../harness/product.js';
import { until } from '../../harness/wait.js';
import { TestAuthority, type TestCertificate } from '../../simulated.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const ensemble = sharedEnsemble({ size: 1 });
const DEADLINE_MS = 30_000;
/** Long enough for everything that a test does while the client is away. */
const SESSION_MS = 40_000;

/** All that an authority has signed, and itself. */
interface Generation {
  readonly authority: TestAuthority;
  readonly server: TestCertificate;
  readonly client: TestCertificate;
}

let directory = '';
let former: Generation;
let latter: Generation;
beforeAll(() => {
  directory = newTestDirectory();
  [former, latter] = [generation('former'), generation('latter')];
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function generation(name: string): Generation {
  const own = join(directory, name);
  mkdirSync(own);
  const authority = new TestAuthority(own, name);
  return { authority, server: authority.server(), client: authority.client() };
}

/** Shows the server's certificate of one generation, and takes clients of the same one alone. */
class Front {
  readonly #sockets = new Set<TLSSocket>();
  readonly #server: Server;
  /** How many clients have shown a certificate that it takes. */
  joined = 0;

  constructor(shown: Generation) {
    this.#server = createServer(Front.#options(shown), (near) => this.#join(near));
    this.#server.on('tlsClientError', () => undefined);
    onTestFinished(() => {
      this.cut();
      this.#server.close();
    });
  }

  static #options({ server, authority }: Generation): TlsOptions {
    const { cert, key } = server;
    return { cert, key, ca: authority.ca, requestCert: true, rejectUnauthorized: true };
  }

  /** Resolves with a connect string. */
  listen(): Promise<string> {
    return new Promise((resolve) => {
      this.#server.listen({ host: '127.0.0.1', port: 0 }, () => {
        const address = this.#server.address();
        const isPort = typeof address === 'object' && address !== null;
        resolve(`localhost:${isPort ? address.port : 0}`);
      });
    });
  }

  /** From now on it is of this generation, and every connection is lost. */
  become(shown: Generation): void {
    this.#server.setSecureContext(Front.#options(shown));
    this.cut();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #join(near: TLSSocket): void {
    const far = connectTcp({ host: '127.0.0.1', port: ensemble().ports[0] ?? 0 });
    this.joined++;
    this.#sockets.add(near);
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
    near.pipe(far).pipe(near);
  }
}

/** The files of a client, in a directory of their own, and what writes those of a generation. */
function ownFiles(name: string) {
  const own = join(directory, name);
  mkdirSync(own);
  const caFile = join(own, 'ca.pem');
  const certFile = join(own, 'me.pem');
  const keyFile = join(own, 'me.key');
  const place = ({ authority, client }: Generation) => {
    copyFileSync(authority.caFile, caFile);
    copyFileSync(client.certFile, certFile);
    copyFileSync(client.keyFile, keyFile);
  };
  return { caFile, certFile, keyFile, place };
}

/** A client with an ephemeral znode, and what it logs. */
async function opened(servers: string, options: ConnectOptions) {
  const lines: string[] = [];
  const log = (fields: object, message: string) =>
    lines.push(`${Reflect.get(fields, 'event')}: ${message}`);
  const logger = { debug: log, info: log, warn: log, error: log };
  const client = await connect(servers, {
    sessionTimeoutMs: SESSION_MS,
    reconnectDelayMaxMs: 200,
    logger,
    ...options,
  });
  onTestFinished(() => client.close());
  await client.create('/mine-', '', { mode: 'ephemeralSequential' });
  const session = client.session?.id;
  /** Resolves when the connection is lost by what is done. */
  const suspended = (act: () => void): Promise<void> =>
    new Promise((resolve) => {
      const stop = client.onState(({ state }) => {
        if (state !== 'suspended') return;
        stop();
        resolve();
      });
      act();
    });
  const logged = (what: string) =>
    until(`the log says ${what}`, DEADLINE_MS, () => lines.find((line) => line.includes(what)));
  return { client, session, lines, logged, suspended };
}

it.each([false, true])(
  'reads its files again for each connection, and goes on with the last good ones (worker: %s)',
  async (worker) => {
    const proxy = new Front(former);
    const servers = await proxy.listen();
    const { place, ...tls } = ownFiles(`own-${worker}`);
    const { caFile, certFile, keyFile } = tls;
    place(former);
    const { client, session, lines, logged, suspended } = await opened(servers, { tls, worker });

    const whole = latter.client.cert.toString();
    const broken: readonly [() => void, string][] = [
      [() => rmSync(caFile), `${caFile}, which cannot be read`],
      [() => writeFileSync(caFile, ''), `${caFile}, which is empty`],
      [
        () => writeFileSync(caFile, former.authority.ca.subarray(0, 300)),
        `${caFile}, which is not`,
      ],
      [() => writeFileSync(certFile, whole.slice(0, 300)), `${certFile}, which is not whole`],
      [() => copyFileSync(latter.client.certFile, certFile), 'they do not belong together'],
      [() => writeFileSync(keyFile, ''), `${keyFile}, which is empty`],
    ];
    for (const [breakIt, sentence] of broken) {
      place(former);
      breakIt();
      await suspended(() => proxy.cut());
      await logged(sentence);
      await client.connected({ timeoutMs: DEADLINE_MS });
    }
    expect(lines.find((line) => line.includes('belong together'))).toContain(keyFile);

    await suspended(() => proxy.become(latter));
    place(latter);
    await client.connected({ timeoutMs: DEADLINE_MS });
    expect(await client.getEphemerals()).toHaveLength(1);
    expect(client.session?.id).toBe(session);
    await logged('tls.reloaded');
    expect(lines.join('\n')).not.toContain('session.lost');
  },
);

it.each([false, true])(
  'takes other material from the application for its next connection (worker: %s)',
  async (worker) => {
    const proxy = new Front(former);
    const servers = await proxy.listen();
    const of = ({ authority, client: { cert, key } }: Generation) => ({
      ca: authority.ca,
      cert: cert.toString(),
      key,
    });
    const { client, session, lines, suspended } = await opened(servers, {
      tls: of(former),
      worker,
    });
    const mixed = { ...of(latter), key: former.client.key };
    expect(() => client.updateTls(mixed)).toThrow('they do not belong together');
    await suspended(() => proxy.cut());
    await client.sync('/');
    expect(client.session?.id).toBe(session);

    client.namespace('/any').updateTls(of(latter));
    await client.sync('/');
    await suspended(() => proxy.become(latter));
    await client.connected({ timeoutMs: DEADLINE_MS });
    await client.sync('/');
    expect(await client.getEphemerals()).toHaveLength(1);
    expect(client.session?.id).toBe(session);
    expect(lines.join('\n')).not.toContain('session.lost');
  },
);

it('a command that runs for long reads its files again, too', async () => {
  const proxy = new Front(former);
  const servers = await proxy.listen();
  const { caFile, certFile, keyFile, place } = ownFiles('of-command');
  place(former);
  const proofs = ['--tls-ca', caFile, '--tls-cert', certFile, '--tls-key', keyFile];
  const shell = spawn(process.execPath, [ROOKERY_MAIN, 'sh', '--connect', servers, ...proofs]);
  onTestFinished(() => {
    shell.kill('SIGKILL');
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => shell.once('close', resolve));
  const lists = async (times: number) => {
    shell.stdin.write('ls /\n');
    await until(`it has listed ${times} times`, DEADLINE_MS, () => {
      if (output === 'zookeeper\n'.repeat(times)) return true;
      throw new Error(output);
    });
  };
  await lists(1);
  place(latter);
  proxy.become(latter);
  await until('it has connected again', DEADLINE_MS, () => proxy.joined === 2 || undefined);
  await lists(2);
  shell.stdin.end();
  expect(await ended).toBe(0);
});

it('refuses at once what TLS could not use, by a message that names the file', () => {
  const { certFile, keyFile } = former.client;
  const { caFile } = former.authority;
  const missing = join(directory, 'missing.pem');
  const refused: readonly [ConnectOptions['tls'], string][] = [
    [{ caFile: missing }, `${missing}, which cannot be read: ENOENT`],
    [{ caFile: directory }, `${directory}, which cannot be read: it is not a file`],
    [{ caFile: keyFile }, `${keyFile}, which is not whole or no certificate`],
    [{ certFile }, 'certFile and keyFile together'],
    [{ keyFile }, 'certFile and keyFile together'],
    [{ certFile, keyFile: latter.client.keyFile }, `${certFile} and ${latter.client.keyFile}`],
    [{ certFile: missing, keyFile }, `${missing}, which cannot be read`],
    [{ pkcs12File: caFile }, `${caFile}, which cannot be used`],
    [{ caFile, ca: former.authority.ca }, 'caFile or ca, not both'],
    [{ cert: former.client.cert, key: latter.client.key }, 'they do not belong together'],
    [{ cert: 'no certificate', key: former.client.key }, 'cannot be used'],
  ];
  const client = createClient('127.0.0.1:1', { tls: { caFile } });
  onTestFinished(() => client.close());
  for (const [tls, sentence] of refused) {
    const make = () => createClient('127.0.0.1:1', { tls });
    expect(make).toThrow(OptionError);
    expect(make).toThrow(sentence);
    expect(() => client.updateTls(tls ?? false)).toThrow(sentence);
  }
  expect(() => Reflect.apply(client.updateTls, client, ['yes'])).toThrow('wrong type: string');
  expect(() => Reflect.apply(client.updateTls, client, [null])).toThrow('wrong type: null');
  expect(() => Reflect.apply(client.updateTls, client, [{ caFile: 7 }])).toThrow('is no path');
});
