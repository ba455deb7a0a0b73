/** TLS 1.2 lets a client ask for another handshake on an open connection; a member ends it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { loadTlsFiles } from '../security/tls-files.js';
import { keptLog } from '../simulated/net/fixtures.js';
import { TestAuthority } from '../simulated/security/certificates.js';
import { FairSlots } from './fair-slots.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { TlsFigures } from './server-stats.js';
import { TcpTransport } from './tcp.js';
import { systemTimers } from './timers.js';
import { TlsAcceptor } from './tls-acceptor.js';

it('ends the connection of a client that begins another handshake on it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-renegotiation-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const { certFile, keyFile } = authority.server();
  const { logger } = keptLog();
  const others = { caFile: null, pkcs12File: null, passphraseFile: null, crlFiles: [] };
  const rateLimited = new RateLimitedLog(logger, systemTimers());
  const acceptor = new TlsAcceptor(
    {
      material: loadTlsFiles({ certFile, keyFile, ...others }),
      slots: new FairSlots(10),
      figures: new TlsFigures(),
      rateLimited,
    },
    {
      name: 'client',
      clientAuth: 'none',
      handshakeTimeoutMs: 10_000,
      plainAdvice: 'use another port',
    },
  );
  let onClosed: (code: unknown) => void = () => undefined;
  const closedBy = new Promise((resolve) => {
    onClosed = resolve;
  });
  const listener = await new TcpTransport(logger).listen(
    { host: '127.0.0.1', port: 0 },
    (stream) => {
      stream.handle({
        onData: (chunk) => stream.write(Buffer.from(chunk)),
        onEnd: () => stream.end(),
        onDrain: () => undefined,
        onClose: (error) => onClosed(Reflect.get(Object(error), 'code')),
      });
    },
    { chunks: 'lent', tls: { acceptor, allowsPlain: false } },
  );
  // What the member sends after the handshake does not reach the client, which could end by it.
  const far = connectPlain({ port: listener.port, host: '127.0.0.1' });
  far.on('error', () => undefined);
  const proxy = createServer((near) => {
    near.on('error', () => undefined);
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port }: Pick<AddressInfo, 'port'> = Object(proxy.address());
  const to = { port, host: '127.0.0.1', servername: 'localhost' };
  const client = connect({ ...to, ca: authority.ca, maxVersion: 'TLSv1.2' });
  client.on('error', () => undefined);
  onTestFinished(async () => {
    client.destroy();
    far.destroy();
    proxy.close();
    await listener.close();
    rateLimited.close();
  });
  client.write('first');
  expect(String((await once(client, 'data'))[0])).toBe('first');
  far.unpipe();
  const ended = once(far.resume(), 'close');
  client.renegotiate({}, () => undefined);
  await ended;
  expect(await closedBy).toBe('ERR_TLS_RENEGOTIATION_DISABLED');
});
