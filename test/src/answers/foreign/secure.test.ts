/**
 * Kazoo, ZooKeeper's Java client and our own by TLS with one certificate, and as one user by
 * DIGEST-MD5: each writes an ACL of that identity, which all three are, to Rookery and to Apache
 * ZooKeeper alike.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type ConnectOptions, connect, NoAuthError } from '@rookery/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../foreign/command.js';
import { NETTY_JARS } from '../../harness/apache-security.js';
import { newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack, mayLackKazoo, PYTHON } from '../../harness/foreign.js';
import type { Member } from '../../harness/member.js';
import { productNamed } from '../../harness/product.js';
import { until } from '../../harness/wait.js';
import { TestAuthority } from '../../simulated.js';

const DEADLINE_MS = 180_000;
const SUBJECT = 'CN=client one,O=Ex\\, Inc,C=DE';
const JAVA = '/usr/bin/java';
const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar';
const foreign = (name: string) => new URL(`../../foreign/${name}`, import.meta.url).pathname;

const directory = newTestDirectory();
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const authority = new TestAuthority(directory);
const server = authority.server();
const client = authority.client('client', '/C=DE/O=Ex, Inc/CN=client one');
const usersFile = join(directory, 'users');
writeFileSync(usersFile, 'bob:secret\n', { mode: 0o600 });

const SETTINGS = {
  size: 1,
  secure: true,
  settings: {
    tls: {
      certFile: server.certFile,
      keyFile: server.keyFile,
      caFile: authority.caFile,
      clientAuth: 'want',
      required: false,
    },
    sasl: { usersFile },
  },
};

interface Identity {
  readonly scheme: 'x509' | 'sasl';
  readonly id: string;
  port(member: Member): number;
  readonly own: ConnectOptions;
  readonly kazoo: object;
}

const IDENTITIES: readonly Identity[] = [
  {
    scheme: 'x509',
    id: SUBJECT,
    port: (member) => member.secureClientPort,
    own: { tls: { ca: authority.ca, cert: client.cert, key: client.key } },
    kazoo: {
      use_ssl: true,
      ca: authority.caFile,
      certfile: client.certFile,
      keyfile: client.keyFile,
    },
  },
  {
    scheme: 'sasl',
    id: 'bob',
    port: (member) => member.clientPort,
    own: { sasl: { username: 'bob', password: 'secret' } },
    kazoo: {
      sasl_options: { mechanism: 'DIGEST-MD5', username: 'bob', password: 'secret' },
    },
  },
];

async function runKazoo(member: Member) {
  const identities = IDENTITIES.map(({ scheme, id, port, kazoo }) => {
    return { servers: `localhost:${port(member)}`, options: kazoo, scheme, id };
  });
  const args = [foreign('kazoo/secure_client.py'), JSON.stringify(identities), 'java,own'];
  const environment = { PYTHONDONTWRITEBYTECODE: '1' };
  return await runCommand({ file: PYTHON, args, deadlineMs: DEADLINE_MS, environment });
}

async function runJava(member: Member) {
  const keyStore = join(directory, 'keystore.pem');
  const parts = [client.keyFile, client.certFile].map((file) => readFileSync(file));
  writeFileSync(keyStore, Buffer.concat(parts), { mode: 0o600 });
  const users = join(directory, 'client.jaas');
  const module = 'org.apache.zookeeper.server.auth.DigestLoginModule';
  writeFileSync(users, `Client { ${module} required username="bob" password="secret"; };\n`);
  const properties = {
    'java.security.auth.login.config': users,
    'test.keyStore': keyStore,
    'test.trustStore': authority.caFile,
    'test.others': 'kazoo,own',
  };
  const jars = [ZOOKEEPER_JAR, '/usr/share/java/slf4j-simple.jar', ...NETTY_JARS];
  const args = [
    ...['-cp', jars.join(':'), '-XX:TieredStopAtLevel=1'],
    ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
    foreign('java/SecureClient.java'),
    ...IDENTITIES.flatMap(({ scheme, id, port }) => [`localhost:${port(member)}`, scheme, id]),
  ];
  return await runCommand({ file: JAVA, args, deadlineMs: DEADLINE_MS });
}

async function opened(port: number, options: ConnectOptions): Promise<Client> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const own = await connect(`localhost:${port}`, { signal, ...options });
  onTestFinished(() => own.close());
  return own;
}

async function runOwn(member: Member): Promise<void> {
  for (const { scheme, id, port, own: options } of IDENTITIES) {
    const own = await opened(port(member), options);
    const path = `/own-${scheme}`;
    await own.create(path, 'private', { acl: [{ perms: 31, scheme, id }] });
    await own.create(`${path}/other`, '', { acl: [{ perms: 31, scheme, id: `${id}x` }] });
    await expect(own.getData(`${path}/other`)).rejects.toThrow(NoAuthError);
    for (const other of [path, `/kazoo-${scheme}`, `/java-${scheme}`]) {
      await until(
        `there is ${other}`,
        DEADLINE_MS,
        async () => (await own.exists(other)) ?? undefined,
      );
      expect((await own.getData(other)).data?.toString()).toBe('private');
    }
  }
}

const isLacking = (await mayLackKazoo()) || mayLack(JAVA) || mayLack(ZOOKEEPER_JAR);

describe.skipIf(isLacking).each(['rookery', 'apache'] as const)('with members of %s', (name) => {
  it(
    'each of three clients is its certificate or user, and reads what the others write as it',
    async () => {
      const ensemble = await useServingEnsemble({ ...SETTINGS, product: productNamed(name) });
      const member = ensemble.member(1);
      const [kazoo, java] = await Promise.all([runKazoo(member), runJava(member), runOwn(member)]);
      expect(kazoo.code, kazoo.output).toBe(0);
      expect(java.code, java.output).toBe(0);
      const nobody = await opened(member.clientPort, {});
      for (const { scheme } of IDENTITIES) {
        for (const writer of ['own', 'kazoo', 'java']) {
          const read = nobody.getData(`/${writer}-${scheme}`);
          await expect(read, `${writer} ${scheme}`).rejects.toThrow(NoAuthError);
        }
      }
    },
    2 * DEADLINE_MS,
  );
});

it('whoever proves nothing gets nothing, by TLS neither', async () => {
  const settings = { ...SETTINGS.settings, enforceAuth: ['sasl', 'x509'] };
  const ensemble = await useServingEnsemble({ ...SETTINGS, settings });
  const member = ensemble.member(1);
  const options = { operationTimeoutMs: 2_000, connectDeadlineMs: 10_000 };
  for (const [port, more] of [
    [member.clientPort, {}],
    [member.secureClientPort, { tls: { ca: authority.ca } }],
  ] as const) {
    const nobody = await connect(`localhost:${port}`, { ...options, ...more });
    onTestFinished(() => nobody.close());
    await expect(nobody.getData('/')).rejects.toThrow();
  }
});
