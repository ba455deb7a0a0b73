/**
 * How Apache ZooKeeper is told what Rookery's settings `tls` and `sasl` say, where it has the same.
 *
 * Its key store is a PEM file with the key and the certificate. Without a client's certificate it
 * takes nobody unless `clientAuth` says so. Called by product.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Layout {
  readonly id: number;
  readonly directory: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface ApacheSecurity {
  readonly jars: readonly string[];
  readonly flags: readonly string[];
}

/** The parts of Netty that it loads, as Debian's package of ZooKeeper brings them along. */
export const NETTY_JARS: readonly string[] = [
  ...['buffer', 'codec', 'common', 'handler', 'resolver', 'transport'],
  ...['transport-native-epoll', 'transport-native-unix-common'],
].map((part) => `/usr/share/java/netty-${part}.jar`);

export function apacheSecurity(layout: Layout): ApacheSecurity {
  const [tls, flags] = [apacheTls(layout), apacheSasl(layout)];
  return { jars: tls.jars, flags: [...tls.flags, ...flags] };
}

/** The users of a file with passwords in clear. */
function apacheSasl(layout: Layout): readonly string[] {
  const sasl = layout.settings['sasl'];
  if (typeof sasl !== 'object' || sasl === null) return [];
  const lines = readFileSync(String(Reflect.get(sasl, 'usersFile')), 'utf8')
    .trim()
    .split('\n');
  const users = lines
    .map((line) => line.split(':'))
    .map(([user, password]) => {
      return `user_${user}="${password}"`;
    });
  const file = join(layout.directory, `jaas-${layout.id}.conf`);
  const module = 'org.apache.zookeeper.server.auth.DigestLoginModule';
  writeFileSync(file, `Server { ${module} required ${users.join(' ')}; };\n`);
  const provider = 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider';
  const enforced = layout.settings['enforceAuth'];
  return [
    `-Djava.security.auth.login.config=${file}`,
    `-Dzookeeper.authProvider.1=${provider}`,
    ...(Array.isArray(enforced)
      ? [
          '-Dzookeeper.enforce.auth.enabled=true',
          `-Dzookeeper.enforce.auth.schemes=${enforced.join()}`,
        ]
      : []),
  ];
}

function apacheTls(layout: Layout): ApacheSecurity {
  const tls = layout.settings['tls'];
  if (typeof tls !== 'object' || tls === null) return { jars: [], flags: [] };
  const path = (key: string) => String(Reflect.get(tls, key));
  const keyStore = join(layout.directory, `keystore-${layout.id}.pem`);
  const parts = [path('keyFile'), path('certFile')].map((file) => readFileSync(file));
  writeFileSync(keyStore, Buffer.concat(parts), { mode: 0o600 });
  const names: Record<string, string> = {
    serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
    'ssl.keyStore.location': keyStore,
    'ssl.keyStore.type': 'PEM',
    'ssl.trustStore.location': path('caFile'),
    'ssl.trustStore.type': 'PEM',
    'ssl.clientAuth': path('clientAuth'),
    // It would look for the client's address in the client's certificate.
    'ssl.hostnameVerification': 'false',
    'authProvider.x509': 'org.apache.zookeeper.server.auth.X509AuthenticationProvider',
  };
  const flags = Object.entries(names).map(([name, value]) => `-Dzookeeper.${name}=${value}`);
  return { jars: NETTY_JARS, flags };
}
