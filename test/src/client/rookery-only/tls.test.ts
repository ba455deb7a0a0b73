/**
 * TLS and mutual TLS by Node's own options, through a proxy that ends TLS in front of a member.
 */
import { rmSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { type ConnectOptions, connect } from '@rookery/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../../harness/ensemble.js';
import { type Certificates, makeCertificates } from '../certificates.js';
import { runClient } from '../client-process.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const ensemble = sharedEnsemble({ size: 1 });
const REFUSED_MS = 3_000;

let directory = '';
let certificates: Certificates;
beforeAll(() => {
  directory = newTestDirectory();
  certificates = makeCertificates(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The port where a member is behind TLS. */
function tlsProxy(options: TlsOptions = {}): Promise<number> {
  const target = ensemble().ports[0] ?? 0;
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...certificates.server, ...options }, (near) => {
    const far = connectTcp({ host: '127.0.0.1', port: target });
    sockets.add(near);
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
    near.pipe(far).pipe(near);
  });
  server.on('tlsClientError', () => undefined);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return new Promise((resolve) => {
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

async function answers(connectString: string, options: ConnectOptions): Promise<string> {
  const client = await connect(connectString, {
    sessionTimeoutMs: 10_000,
    signal: AbortSignal.timeout(60_000),
    ...options,
  });
  const { children } = await client.getChildren('/');
  await client.close();
  return children.join();
}

async function refusal(connectString: string, options: ConnectOptions): Promise<unknown> {
  const client = connect(connectString, { signal: AbortSignal.timeout(REFUSED_MS), ...options });
  return await client.then(
    (opened) => opened.close().then(() => 'connected'),
    (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : error),
  );
}

it('connects over TLS and checks the name that the user gave', async () => {
  const port = await tlsProxy();
  const tls = { ca: certificates.ca };
  expect(await answers(`localhost:${port}`, { tls })).toContain('zookeeper');
  const inWorker = await runClient(
    'over TLS in a worker',
    `localhost:${port}`,
    certificates.caFile,
  );
  expect(inWorker).toContain('zookeeper');
  const named = { ca: certificates.ca, servername: 'localhost' };
  expect(await answers(`127.0.0.1:${port}`, { tls: named })).toContain('zookeeper');
});

it('does not connect to who cannot prove to be the server', async () => {
  const port = await tlsProxy();
  const ofNobody = { tls: true } as const;
  expect(await refusal(`localhost:${port}`, ofNobody)).toMatch(/^AbortError: .*certificate/);
  const ofAnother = { tls: { ca: certificates.ca, servername: 'elsewhere' } };
  expect(await refusal(`localhost:${port}`, ofAnother)).toMatch(/^AbortError: .*altnames/);
});

it('proves by a certificate of its own who it is', async () => {
  const mutual = { requestCert: true, rejectUnauthorized: true, ca: certificates.ca };
  const port = await tlsProxy(mutual);
  const tls = { ca: certificates.ca, ...certificates.client };
  expect(await answers(`localhost:${port}`, { tls })).toContain('zookeeper');
  const nobody = { tls: { ca: certificates.ca } };
  expect(await refusal(`localhost:${port}`, nobody)).toMatch(/^AbortError/);
});
