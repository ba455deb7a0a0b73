/** Which members a member that dials trusts by their certificates. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import {
  TestAuthority,
  type TestCertificate,
  writePkcs12,
} from '../simulated/security/certificates.js';
import { PeerTls } from './peer-tls.js';
import { systemTimers } from './timers.js';

/** Resolves with the outcome of dialling a member that presents `certificate`. */
async function dialled(tls: PeerTls, { cert, key }: TestCertificate): Promise<string> {
  const server = createServer({ cert, key }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => undefined);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  return await new Promise((resolve) => {
    const socket = connect({ ...tls.dialOptions(), host: '127.0.0.1', port }, () => {
      resolve('connected');
      socket.destroy();
    });
    socket.once('error', ({ message }) => resolve(message));
  });
}

it('trusts the authorities of caFile alone, whatever else a PKCS#12 file contains', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-peer-tls-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const stranger = new TestAuthority(directory, 'stranger');
  const pkcs12File = writePkcs12(authority.server('own'), '', stranger.caFile);
  const { caFile } = authority;
  const { logger } = keptLog();
  const tls = new PeerTls({
    settings: {
      certFile: null,
      keyFile: null,
      pkcs12File,
      passphraseFile: null,
      caFile,
      crlFiles: [],
      ensemble: null,
    },
    logger,
    timers: systemTimers(),
  });
  onTestFinished(() => tls.close());
  expect(await dialled(tls, authority.server('other'))).toBe('connected');
  const noKeyIds = 'authorityKeyIdentifier=none\nsubjectKeyIdentifier=none';
  const impostor = stranger.sign('impostor', { extensions: noKeyIds });
  expect(await dialled(tls, impostor)).toBe('its authority is not in caFile');
  // Somebody else, who calls himself as the authority, says that it has signed the stranger.
  const elsewhere = mkdtempSync(join(directory, 'elsewhere-'));
  const extensions = `basicConstraints=CA:TRUE\n${noKeyIds}`;
  const forged = new TestAuthority(elsewhere).sign('stranger', { extensions });
  const cert = Buffer.concat([impostor.cert, forged.cert]);
  expect(await dialled(tls, { ...impostor, cert })).toBe('its authority is not in caFile');
});
