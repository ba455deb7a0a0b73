/**
 * Kazoo and ZooKeeper's Java client by TLS with certificates of their own, and by DIGEST-MD5. Each
 * writes ACLs of its identity; our client is the same identity, and reads what they wrote.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectOptions, connect } from '@rookery/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../foreign/command.js';
import { NETTY_JARS } from '../harness/apache-security.js';
import { Ensemble, newTestDirectory } from '../harness/ensemble.js';
import { mayLack, mayLackKazoo, PYTHON } from '../harness/foreign.js';
import { TestAuthority } from '../simulated.js';

const DEADLINE_MS = 60_000;
const SUBJECT = 'CN=client one,O=Ex\\, Inc,C=DE';
const JAVA = '/usr/bin/java';
const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar';
const foreign = (name: string) => new URL(`../foreign/${name}`, import.meta.url).pathname;

const directory = newTestDirectory();
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const authority = new TestAuthority(directory);
const server = authority.server();
const client = authority.client('client', '/C=DE/O=Ex, Inc/CN=client one');
const usersFile = join(directory, 'users');
writeFileSync(usersFile, 'bob:secret\n', { mode: 0o600 });

let ensemble: Ensemble;
const SETTINGS = {
  size: 1,
  secure: true,
  settings: {
    tls: {
      ...{ certFile: server.certFile, keyFile: server.keyFile },
      ...{ caFile: authority.caFile, clientAuth: 'want', required: false },
    },
    sasl: { usersFile },
    enforceAuth: ['sasl', 'x509'],
  },
};
beforeAll(async () => {
  ensemble = await Ensemble.create(SETTINGS);
  ensemble.start();
  await ensemble.serving();
});
afterAll(() => ensemble.close());

const securePort = () => ensemble.member(1).secureClientPort;
const plainPort = () => ensemble.member(1).clientPort;
const byTls = { tls: { ca: authority.ca, cert: client.cert, key: client.key } };
const byPassword = { sasl: { username: 'bob', password: 'secret' } };

/** Our client is the identity that has written it. */
async function reads(path: string, port: number, options: ConnectOptions): Promise<void> {
  const own = await connect(`localhost:${port}`, options);
  onTestFinished(() => own.close());
  expect((await own.getData(path)).data?.toString()).toBe('private');
}

async function runKazoo(port: number, options: object, identity: readonly [string, string]) {
  const args = [`localhost:${port}`, JSON.stringify(options), ...identity];
  return await runCommand({
    ...{ file: PYTHON, args: [foreign('kazoo/secure_client.py'), ...args] },
    ...{ deadlineMs: DEADLINE_MS, environment: { PYTHONDONTWRITEBYTECODE: '1' } },
  });
}

async function runJava(port: number, flags: readonly string[], identity: readonly string[]) {
  const jars = [ZOOKEEPER_JAR, '/usr/share/java/slf4j-simple.jar', ...NETTY_JARS];
  const program = [foreign('java/SecureClient.java'), `localhost:${port}`, ...identity];
  const args = ['-cp', jars.join(':'), ...flags, ...program];
  return await runCommand({ file: JAVA, args, deadlineMs: DEADLINE_MS });
}

const java = mayLack(JAVA) || mayLack(ZOOKEEPER_JAR);

it.skipIf(await mayLackKazoo())('kazoo connects by TLS and is its certificate', async () => {
  const options = {
    ...{ use_ssl: true, ca: authority.caFile },
    ...{ certfile: client.certFile, keyfile: client.keyFile },
  };
  const { code, output } = await runKazoo(securePort(), options, ['x509', SUBJECT]);
  expect(code, output).toBe(0);
  await reads('/kazoo-x509', securePort(), byTls);
});

it.skipIf(await mayLackKazoo())('kazoo logs in by DIGEST-MD5 and is its user', async () => {
  const login = { mechanism: 'DIGEST-MD5', username: 'bob', password: 'secret' };
  const { code, output } = await runKazoo(plainPort(), { sasl_options: login }, ['sasl', 'bob']);
  expect(code, output).toBe(0);
  await reads('/kazoo-sasl', plainPort(), byPassword);
});

it.skipIf(java)('the Java client connects by TLS and is its certificate', async () => {
  const keyStore = join(directory, 'keystore.pem');
  const parts = [client.keyFile, client.certFile].map((file) => readFileSync(file));
  writeFileSync(keyStore, Buffer.concat(parts), { mode: 0o600 });
  const flags = [
    '-Dzookeeper.client.secure=true',
    '-Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty',
    `-Dzookeeper.ssl.keyStore.location=${keyStore}`,
    `-Dzookeeper.ssl.trustStore.location=${authority.caFile}`,
  ];
  const { code, output } = await runJava(securePort(), flags, ['x509', SUBJECT]);
  expect(code, output).toBe(0);
  await reads('/java-x509', securePort(), byTls);
});

it.skipIf(java)('the Java client logs in by DIGEST-MD5 and is its user', async () => {
  const file = join(directory, 'client.jaas');
  const module = 'org.apache.zookeeper.server.auth.DigestLoginModule';
  writeFileSync(file, `Client { ${module} required username="bob" password="secret"; };\n`);
  const flags = [`-Djava.security.auth.login.config=${file}`];
  const { code, output } = await runJava(plainPort(), flags, ['sasl', 'bob']);
  expect(code, output).toBe(0);
  await reads('/java-sasl', plainPort(), byPassword);
});

it('whoever proves nothing gets nothing, by TLS neither', async () => {
  const options = { operationTimeoutMs: 2_000, connectDeadlineMs: 10_000 };
  for (const [port, more] of [
    [plainPort(), {}],
    [securePort(), { tls: { ca: authority.ca } }],
  ] as const) {
    const nobody = await connect(`localhost:${port}`, { ...options, ...more });
    onTestFinished(() => nobody.close());
    await expect(nobody.getData('/')).rejects.toThrow();
  }
});
