/**
 * The client over TLS to the servers themselves, to Rookery and to Apache ZooKeeper alike.
 */
import { rmSync } from 'node:fs';
import { type ConnectOptions, connect } from '@rookery/client';
import { afterAll, expect, it } from 'vitest';
import { newTestDirectory } from '../harness/ensemble.js';
import { productUnderTest } from '../harness/product.js';
import { TestAuthority } from '../simulated.js';
import { sharedEnsemble } from './shared-ensemble.js';

const REFUSED_MS = 3_000;
const directory = newTestDirectory();
const authority = new TestAuthority(directory);
const server = authority.server();
const { cert, key } = authority.client();
const client = { cert, key };
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ensemble = sharedEnsemble({
  secure: true,
  settings: {
    tls: {
      certFile: server.certFile,
      keyFile: server.keyFile,
      caFile: authority.caFile,
      clientAuth: 'need',
    },
  },
});

const securePorts = () => ensemble().members.map(({ secureClientPort }) => secureClientPort);

function opened(options: ConnectOptions, ports = securePorts()) {
  const servers = ports.map((port) => `localhost:${port}`).join();
  return connect(servers, {
    sessionTimeoutMs: 10_000,
    signal: AbortSignal.timeout(60_000),
    ...options,
  });
}

it('writes and reads values of any size over TLS, at each member', async () => {
  const tls = { ca: authority.ca, ...client };
  for (const [index, port] of securePorts().entries()) {
    const zk = await opened({ tls }, [port]);
    const data = Buffer.alloc(700_000, `${index}`);
    await zk.create(`/tls-${index}`, data);
    const read = await zk.getData(`/tls-${index}`);
    expect(Buffer.compare(read.data ?? Buffer.alloc(0), data)).toBe(0);
    const names = await Promise.all(
      Array.from({ length: 300 }, (_, n) => zk.create(`/tls-${index}/${n}`, `${n}`)),
    );
    expect(names).toHaveLength(300);
    expect((await zk.getChildren(`/tls-${index}`)).children).toHaveLength(300);
    await zk.close();
  }
});

it('is refused without a certificate, and by a server that it cannot trust', async () => {
  const signal = AbortSignal.timeout(REFUSED_MS);
  await expect(opened({ tls: { ca: authority.ca }, signal })).rejects.toThrow();
  const others = { tls: { ...client }, signal: AbortSignal.timeout(REFUSED_MS) };
  await expect(opened(others)).rejects.toThrow(/certificate/);
});

it.skipIf(productUnderTest().name === 'apache')(
  'speaks TLS on the port where others connect in plain text',
  async () => {
    const ports = ensemble().ports;
    const secure = await opened({ tls: { ca: authority.ca, ...client } }, ports);
    const plain = await opened({}, ports);
    await secure.create('/both', 'by TLS');
    await plain.sync('/both');
    expect((await plain.getData('/both')).data?.toString()).toBe('by TLS');
    await secure.close();
    await plain.close();
  },
);
