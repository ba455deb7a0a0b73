/** TLS 1.2 lets a client ask for another handshake on an open connection; a member refuses. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { loadTlsFiles } from '../security/tls-files.js';
import { keptLog } from '../simulated/net/fixtures.js';
import { TestAuthority } from '../simulated/security/certificates.js';
import { FairSlots } from './fair-slots.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { TcpTransport } from './tcp.js';
import { systemTimers } from './timers.js';
import { TlsAcceptor } from './tls-acceptor.js';
import { TlsFigures } from './tls-figures.js';

it('lets no client begin another handshake on its connection', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-renegotiation-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const { certFile, keyFile } = authority.server();
  const { logger } = keptLog();
  const others = { caFile: null, pkcs12File: null, passphraseFile: null, crlFiles: [] };
  const rateLimited = new RateLimitedLog(logger, systemTimers());
  const acceptor = new TlsAcceptor({
    material: loadTlsFiles({ certFile, keyFile, ...others }),
    options: { name: 'client', clientAuth: 'none', handshakeTimeoutMs: 10_000 },
    slots: new FairSlots(10),
    figures: new TlsFigures(),
    rateLimited,
  });
  const listener = await new TcpTransport(logger).listen(
    { host: '127.0.0.1', port: 0 },
    (stream) => {
      stream.handle({
        onData: (chunk) => stream.write(Buffer.from(chunk)),
        onEnd: () => stream.end(),
        onDrain: () => undefined,
        onClose: () => undefined,
      });
    },
    { chunks: 'lent', tls: { acceptor, allowsPlain: false } },
  );
  const to = { port: listener.port, host: '127.0.0.1', servername: 'localhost' };
  const client = connect({ ...to, ca: authority.ca, maxVersion: 'TLSv1.2' });
  onTestFinished(async () => {
    client.destroy();
    await listener.close();
    rateLimited.close();
  });
  const outcome = new Promise((resolve) => {
    client.on('error', (error) => resolve(Reflect.get(error, 'code')));
    client.once('data', () => client.renegotiate({}, () => resolve('renegotiated')));
  });
  client.write('first');
  expect(await outcome).toBe('ERR_SSL_NO_RENEGOTIATION');
});
