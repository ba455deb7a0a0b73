/**
 * TLS at a listener: who passes by which certificate, the first byte, bounds, renewal, resumption.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { encodePeerFrame } from '@rookery/protocol/peer';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { loadTlsFiles, type TlsFiles } from '../security/tls-files.js';
import { keptLog } from '../simulated/net/fixtures.js';
import {
  TestAuthority,
  type TestCertificate,
  writePkcs12,
} from '../simulated/security/certificates.js';
import { FairSlots } from './fair-slots.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { TLS_FAILURES, TlsFigures } from './server-stats.js';
import { TcpTransport } from './tcp.js';
import { systemTimers } from './timers.js';
import { TlsAcceptor, type TlsPolicy } from './tls-acceptor.js';
import type { ByteStream } from './transport.js';

let directory = '';
let authority: TestAuthority;
let stranger: TestAuthority;
let server: TestCertificate;
let client: TestCertificate;
let impostor: TestCertificate;
let files: TlsFiles;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-acceptor-'));
  authority = new TestAuthority(directory);
  stranger = new TestAuthority(directory, 'stranger');
  server = authority.server();
  client = authority.client();
  impostor = stranger.client('impostor', '/CN=client');
  const { certFile, keyFile } = server;
  const { caFile } = authority;
  files = { certFile, keyFile, caFile, pkcs12File: null, passphraseFile: null, crlFiles: [] };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface TlsPort {
  readonly port: number;
  readonly acceptor: TlsAcceptor;
  readonly figures: TlsFigures;
  readonly streams: ByteStream[];
  readonly events: () => { msg: string; kind?: unknown; reason?: unknown }[];
}

interface PortOptions {
  readonly allowsPlain?: boolean;
  readonly with?: TlsFiles;
  readonly handshakesMax?: number;
}

/** A listener whose streams send back what they get. */
async function useTlsPort(options: Partial<TlsPolicy> & PortOptions = {}): Promise<TlsPort> {
  const { logger, lines } = keptLog();
  const rateLimited = new RateLimitedLog(logger, systemTimers());
  const figures = new TlsFigures();
  const acceptor = new TlsAcceptor(
    {
      material: loadTlsFiles(options.with ?? files),
      slots: new FairSlots(options.handshakesMax ?? 100),
      figures,
      rateLimited,
    },
    {
      name: 'client',
      clientAuth: 'none',
      handshakeTimeoutMs: 10_000,
      plainAdvice: 'use another port',
      ...options,
    },
  );
  const streams: ByteStream[] = [];
  const transport = new TcpTransport(logger);
  const listener = await transport.listen(
    { host: '127.0.0.1', port: 0 },
    (stream) => {
      streams.push(stream);
      stream.handle({
        onData: (chunk) => stream.write(Buffer.from(chunk)),
        onEnd: () => stream.end(),
        onDrain: () => undefined,
        onClose: () => streams.splice(streams.indexOf(stream), 1),
      });
    },
    { chunks: 'lent', tls: { acceptor, allowsPlain: options.allowsPlain ?? false } },
  );
  onTestFinished(async () => {
    for (const stream of [...streams]) stream.destroy();
    await listener.close();
    rateLimited.close();
  });
  return { port: listener.port, acceptor, figures, streams, events: () => lines };
}

function dial(port: number, options: ConnectionOptions = {}): TLSSocket {
  const to = { port, host: '127.0.0.1', servername: 'localhost', ca: authority.ca };
  const socket = connectTls({ ...to, ...options });
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** What comes back for `text`, or why nothing does. */
function echoOf(socket: Socket, text = 'echo'): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk.toString();
      if (got.length >= text.length) resolve(got);
    });
    socket.on('error', (error) => resolve(String(Reflect.get(error, 'code'))));
    socket.on('close', () => resolve('closed'));
    socket.write(text);
  });
}

it.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s, and nothing older', async (version) => {
  const { port, figures, streams } = await useTlsPort();
  const socket = dial(port, { minVersion: version, maxVersion: version });
  expect(await echoOf(socket, 'x'.repeat(100_000))).toHaveLength(100_000);
  expect(socket.getProtocol()).toBe(version);
  expect(streams[0]?.secured).toEqual({ certificate: null });
  expect([figures.secured, figures.underWay]).toEqual([1, 0]);
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const;
  expect(await echoOf(dial(port, old))).not.toBe('echo');
  await expect.poll(() => figures.failures('protocol')).toBe(1);
});

it('tells TLS and plain bytes apart by the first byte, and loses none of them', async () => {
  const { port, streams } = await useTlsPort({ allowsPlain: true });
  const plain = connectTcp({ port, host: '127.0.0.1' });
  onTestFinished(() => {
    plain.destroy();
  });
  expect(await echoOf(plain, 'ruok')).toBe('ruok');
  expect(streams[0]?.secured).toBeNull();
  plain.removeAllListeners();
  const more = 'y'.repeat(300_000);
  expect(await echoOf(plain, more)).toBe(more);
  expect(await echoOf(dial(port), more)).toBe(more);
  expect(streams[1]?.secured).not.toBeNull();
});

it('says of a connection that is refused for its plain bytes what they are', async () => {
  const { port, events } = await useTlsPort();
  const claim = encodePeerFrame({ kind: 'claim', id: 2, to: 1, nonce: Buffer.alloc(32, 7) });
  const others = ['GET / HTTP/1.1\r\n\r\n', '\0\0\0\x2d\0\0\0\0'];
  for (const bytes of [claim, ...others.map((text) => Buffer.from(text))]) {
    const plain = connectTcp({ port, host: '127.0.0.1' });
    await echoOf(plain, Buffer.concat([bytes, Buffer.alloc(64)]).toString('latin1'));
  }
  const told = () => events().filter(({ msg }) => msg === 'tls.refused');
  await expect.poll(() => told().length).toBeGreaterThan(0);
  for (const { reason } of told()) {
    expect(reason).toMatch(/^ERR_SSL_\w+: what came is no TLS; use another port$/);
  }
});

it('lets plain bytes in nowhere else', async () => {
  const { port, figures } = await useTlsPort();
  const plain = connectTcp({ port, host: '127.0.0.1' });
  expect(await echoOf(plain, 'ruok, member?')).not.toBe('ruok, member?');
  await expect.poll(() => figures.failures('protocol')).toBe(1);
  expect(figures.underWay).toBe(0);
});

it('with want: takes a client without a certificate and with a good one, and no bad one', async () => {
  const { port, streams, events, figures } = await useTlsPort({ clientAuth: 'want' });
  expect(await echoOf(dial(port))).toBe('echo');
  expect(streams[0]?.secured?.certificate).toBeNull();
  expect(await echoOf(dial(port, client))).toBe('echo');
  expect(Buffer.from(streams[1]?.secured?.certificate ?? []).includes('client')).toBe(true);
  expect(await echoOf(dial(port, impostor))).not.toBe('echo');
  expect(figures.failures('bad_certificate')).toBe(1);
  expect(events().at(-1)).toMatchObject({ msg: 'tls.refused', kind: 'bad_certificate' });
});

it.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'with need, by %s: takes nobody but who has a good certificate',
  async (maxVersion) => {
    const { port, figures } = await useTlsPort({ clientAuth: 'need' });
    expect(await echoOf(dial(port, { ...client, maxVersion }))).toBe('echo');
    expect(await echoOf(dial(port, { maxVersion }))).not.toBe('echo');
    await expect.poll(() => figures.failures('no_certificate')).toBe(1);
    expect(await echoOf(dial(port, { ...impostor, maxVersion }))).not.toBe('echo');
    await expect.poll(() => figures.failures('bad_certificate')).toBe(1);
    expect([figures.secured, figures.underWay]).toEqual([1, 0]);
  },
);

it('asks for no certificate with none, and takes none for an identity', async () => {
  const { port, streams } = await useTlsPort({ clientAuth: 'none' });
  expect(await echoOf(dial(port, impostor))).toBe('echo');
  expect(streams[0]?.secured?.certificate).toBeNull();
});

it('trusts the authorities of caFile alone, whatever else a PKCS#12 file contains', async () => {
  const pkcs12File = writePkcs12(server, '', stranger.caFile);
  const { certFile, keyFile, ...rest } = files;
  const withPkcs12 = { ...rest, certFile: null, keyFile: null, pkcs12File };
  const { port, figures } = await useTlsPort({ clientAuth: 'need', with: withPkcs12 });
  expect([certFile, keyFile]).not.toContain(null);
  expect(await echoOf(dial(port, client))).toBe('echo');
  expect(await echoOf(dial(port, impostor))).not.toBe('echo');
  expect(figures.failures('bad_certificate')).toBe(1);
});

it('ends a handshake that does not come to an end, and bounds how many are under way', async () => {
  const { port, figures, events } = await useTlsPort({ handshakeTimeoutMs: 300, handshakesMax: 3 });
  const silent = Array.from({ length: 4 }, () => connectTcp({ port, host: '127.0.0.1' }));
  for (const socket of silent) socket.on('error', () => undefined);
  await expect.poll(() => figures.failures('timeout')).toBe(3);
  expect(figures.failures('too_many')).toBe(1);
  expect(figures.underWay).toBe(0);
  expect(events().map(({ kind }) => kind)).toContain('timeout');
  expect(await echoOf(dial(port))).toBe('echo');
});

it('lets silent ones of the address that has most make room for whoever comes', async () => {
  const { port, figures, events } = await useTlsPort({ handshakesMax: 3 });
  const silentFrom = async (localAddress: string, count: number) => {
    const before = figures.underWay + figures.failures('too_many');
    const sockets = Array.from({ length: count }, () => {
      const socket = connectTcp({ port, host: '127.0.0.1', localAddress });
      return socket.on('error', () => undefined);
    });
    const isHere = () => figures.underWay + figures.failures('too_many') - before;
    await expect.poll(isHere).toBe(count);
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    return sockets;
  };
  await silentFrom('127.0.0.2', 3);
  // A slow client is not driven out by more of those, and neither are those who come fast.
  const [slow] = await silentFrom('127.0.0.3', 1);
  if (slow === undefined) throw new Error('there is a slow client');
  await silentFrom('127.0.0.2', 20);
  expect(await echoOf(dial(port))).toBe('echo');
  expect(await echoOf(dial(port, { socket: slow }))).toBe('echo');
  const reasons = events().filter(({ kind }) => kind === 'too_many');
  expect(reasons[0]?.reason).toBe('its address has most of those under way');
});

it('has room again for each client that goes away in the middle of a handshake', async () => {
  const { port, figures } = await useTlsPort({ handshakesMax: 2 });
  for (let round = 0; round < 5; round++) {
    const socket = connectTcp({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    await expect.poll(() => figures.underWay).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => figures.underWay).toBe(0);
  }
  const total = TLS_FAILURES.reduce((sum, kind) => sum + figures.failures(kind), 0);
  expect([total, figures.secured]).toEqual([5, 0]);
  expect(await echoOf(dial(port))).toBe('echo');
});

it.each([
  ['at once', ''],
  ['after a part of its greeting', '1603010200010001fc0303'],
])('has room again for each client that ends its side %s', async (_, greeting) => {
  const { port, figures } = await useTlsPort({ handshakesMax: 2, allowsPlain: greeting !== '' });
  for (let round = 1; round <= 3; round++) {
    const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.end(Buffer.from(greeting, 'hex'));
    await expect.poll(() => figures.failures('closed')).toBe(round);
    socket.destroy();
  }
  expect(figures.underWay).toBe(0);
  expect(await echoOf(dial(port))).toBe('echo');
});

it('has room again for clients that are gone before it can ask for their addresses', async () => {
  const { acceptor, figures, port } = await useTlsPort({ handshakesMax: 2 });
  for (let count = 0; count < 10; count++) {
    // It has no address, as one that the client has reset while it waited to be accepted.
    const gone = new Socket();
    acceptor.accept(gone, () => undefined);
    gone.destroy();
  }
  await expect.poll(() => figures.failures('closed')).toBe(10);
  expect([figures.underWay, figures.failures('too_many')]).toEqual([0, 0]);
  expect(await echoOf(dial(port))).toBe('echo');
});

/** The session of a connection that has ended. */
async function sessionOf(port: number, options: ConnectionOptions): Promise<Buffer> {
  const socket = dial(port, options);
  let session: Buffer | undefined;
  socket.on('session', (given: Buffer) => {
    session = given;
  });
  expect(await echoOf(socket)).toBe('echo');
  await expect.poll(() => session).toBeDefined();
  socket.end();
  return session ?? Buffer.alloc(0);
}

it.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'resumes a session of %s with its identity, at its own listener alone',
  async (maxVersion) => {
    const [own, other] = [
      await useTlsPort({ clientAuth: 'need' }),
      await useTlsPort({ clientAuth: 'need' }),
    ];
    const options = { ...client, maxVersion };
    const session = await sessionOf(own.port, options);
    const again = dial(own.port, { ...options, session });
    expect(await echoOf(again)).toBe('echo');
    expect(again.isSessionReused()).toBe(true);
    expect(own.figures.resumed).toBe(1);
    const certificate = own.streams.at(-1)?.secured?.certificate ?? [];
    expect(Buffer.from(certificate).includes('client')).toBe(true);
    const elsewhere = dial(other.port, { ...options, session });
    expect(await echoOf(elsewhere)).toBe('echo');
    expect(elsewhere.isSessionReused()).toBe(false);
  },
);

it.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'renewal with a revocation list, by %s: open connections stay, nothing is resumed past it',
  async (maxVersion) => {
    const { port, acceptor, figures } = await useTlsPort({ clientAuth: 'need' });
    const options = { ...client, maxVersion };
    const session = await sessionOf(port, options);
    const open = dial(port, options);
    expect(await echoOf(open)).toBe('echo');
    const crlFiles = [authority.revocationList(`revoked-${maxVersion}`, [client])];
    acceptor.renew(loadTlsFiles({ ...files, crlFiles }));
    expect(await echoOf(dial(port, options))).not.toBe('echo');
    expect(await echoOf(dial(port, { ...options, session }))).not.toBe('echo');
    await expect.poll(() => figures.failures('bad_certificate')).toBe(2);
    const good = authority.client(`good-${maxVersion}`);
    expect(await echoOf(dial(port, { ...good, maxVersion }))).toBe('echo');
    open.removeAllListeners('data');
    expect(await echoOf(open, 'still here')).toBe('still here');
  },
);

it('heeds every list of a file of revocation lists, of several authorities', async () => {
  const other = new TestAuthority(directory, 'other-authority');
  const [good, revoked] = [other.client('other-good'), other.client('other-revoked')];
  const lists = [authority.revocationList('own-list'), other.revocationList('other', [revoked])];
  const [caFile, crlFile] = [join(directory, 'both.pem'), join(directory, 'both.crl')];
  writeFileSync(caFile, Buffer.concat([authority.ca, other.ca]));
  writeFileSync(crlFile, lists.map((path) => readFileSync(path, 'utf8')).join(''));
  const both = { ...files, caFile, crlFiles: [crlFile] };
  const { port, figures } = await useTlsPort({ clientAuth: 'need', with: both });
  expect(await echoOf(dial(port, client))).toBe('echo');
  expect(await echoOf(dial(port, good))).toBe('echo');
  expect(await echoOf(dial(port, revoked))).not.toBe('echo');
  await expect.poll(() => figures.failures('bad_certificate')).toBe(1);
});

/** Everything that comes until the other side ends its side. */
function everything(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(got));
  });
}

it.each([
  ['TCP', null],
  ['TLSv1.2', 'TLSv1.2'],
  ['TLSv1.3', 'TLSv1.3'],
] as const)('answers over %s a client that has ended its side', async (_, version) => {
  const { port, streams } = await useTlsPort({ allowsPlain: true });
  const tcp = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  const versions = { minVersion: version ?? undefined, maxVersion: version ?? undefined };
  const socket = version === null ? tcp : dial(port, { socket: tcp, ...versions });
  const text = 'z'.repeat(500_000);
  const got = everything(socket);
  socket.end(text);
  expect(await got).toBe(text);
  await expect.poll(() => streams.length).toBe(0);
});

it('answers a client that ends its TCP connection without a word of TLS', async () => {
  const { port, streams, figures } = await useTlsPort();
  const tcp = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  const socket = dial(port, { socket: tcp });
  const got = everything(socket);
  const text = 'z'.repeat(500_000);
  socket.write(text, () => tcp.end());
  expect(await got).toBe(text);
  await expect.poll(() => streams.length).toBe(0);
  expect(figures.secured).toBe(1);
});

it('shows a renewed certificate to those who come later', async () => {
  const { port, acceptor } = await useTlsPort();
  const before = dial(port);
  expect(await echoOf(before)).toBe('echo');
  expect(before.getPeerX509Certificate()?.subject).toBe('CN=server');
  const { certFile, keyFile } = authority.server('renewed');
  acceptor.renew(loadTlsFiles({ ...files, certFile, keyFile }));
  const after = dial(port);
  expect(await echoOf(after)).toBe('echo');
  expect(after.getPeerX509Certificate()?.subject).toBe('CN=renewed');
});
