/**
 * What the tests run: how a member's configuration is written and its process started.
 *
 * It is Rookery by default. `ROOKERY_E2E_PRODUCT=apache` runs Debian's Apache ZooKeeper instead, to
 * check the tests themselves where they require nothing that only Rookery promises.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apacheSecurity } from './apache-security.js';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface ServerAddress {
  readonly id: number;
  readonly host: string;
  readonly clientPort: number;
  readonly secureClientPort?: number | undefined;
  readonly peerPort: number;
  readonly metricsPort?: number | undefined;
  readonly adminPort?: number | undefined;
}

/**
 * One member as it sees the ensemble: with proxies between members, each sees different peer ports.
 */
export interface MemberLayout {
  readonly id: number;
  /** The test's own directory. */
  readonly directory: string;
  readonly servers: readonly ServerAddress[];
  /** A second port of each server, by id, for products whose elections use a separate port. */
  readonly electionPorts: ReadonlyMap<number, number>;
  readonly tickTimeMs: number;
  /** Additional keys of Rookery's config file. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface Product {
  readonly name: 'rookery' | 'apache';
  dataDir(layout: MemberLayout): string;
  /** Writes the member's configuration and returns how to start it. */
  prepare(layout: MemberLayout): Command;
}

export const REPOSITORY = new URL('../../../', import.meta.url).pathname;
export const ROOKERY_MAIN = join(REPOSITORY, 'cli/dist/main.js');

const rookery: Product = {
  name: 'rookery',
  dataDir: (layout) => join(layout.directory, 'data', String(layout.id)),
  prepare(layout) {
    const file = join(layout.directory, `config-${layout.id}.json`);
    const { directory, servers, tickTimeMs, settings } = layout;
    const config = { dataDir: join(directory, 'data'), tickTimeMs, servers, ...settings };
    writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`);
    return {
      file: process.execPath,
      args: [ROOKERY_MAIN, 'server', '--config', file, '--id', String(layout.id)],
      environment: {},
    };
  },
};

/** Settings of Rookery that Apache ZooKeeper has too, and their names there. */
const APACHE_NAMES = {
  minSessionTimeoutMs: 'minSessionTimeout',
  maxSessionTimeoutMs: 'maxSessionTimeout',
  maxClientCnxns: 'maxClientCnxns',
  enforceQuota: 'enforceQuota',
  localSessions: 'localSessionsEnabled',
  snapCount: 'snapCount',
};
const APACHE_SUPER_DIGEST = 'zookeeper.DigestAuthenticationProvider.superDigest';
/**
 * A member that several others took for the leader, until they learned of a better one, waits this
 * long for them before it starts a new election; it is far shorter than a test waits.
 */
const APACHE_INIT_LIMIT_MS = 10_000;
/**
 * The last option writes the log to stderr, where a failed test shows it; otherwise there is none.
 */
const APACHE_CLASS_PATH = [
  '/etc/zookeeper/conf',
  '/usr/share/java/zookeeper.jar',
  '/usr/share/java/slf4j-simple.jar',
];
/** Debian's package lacks what its admin server needs. */
const APACHE_ADMIN_CLASS_PATH = ['/usr/share/java/servlet-api.jar'];
/** No test waits for its reaper, and the reaper would disturb some tests. */
const APACHE_CONTAINER_CHECK_MS = 24 * 3_600_000;

const apache: Product = {
  name: 'apache',
  dataDir: (layout) => join(layout.directory, 'data', String(layout.id)),
  prepare(layout) {
    const dataDir = apache.dataDir(layout);
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'myid'), `${layout.id}\n`);
    const own = layout.servers.find((server) => server.id === layout.id);
    const file = join(layout.directory, `zoo-${layout.id}.cfg`);
    const lines = [
      `tickTime=${layout.tickTimeMs}`,
      `initLimit=${Math.ceil(APACHE_INIT_LIMIT_MS / layout.tickTimeMs)}`,
      'syncLimit=10',
      `dataDir=${dataDir}`,
      `clientPort=${own?.clientPort}`,
      ...(own?.secureClientPort === undefined ? [] : [`secureClientPort=${own.secureClientPort}`]),
      ...adminLines(own?.adminPort),
      '4lw.commands.whitelist=*',
      'extendedTypesEnabled=true',
      ...Object.entries(APACHE_NAMES).flatMap(([key, name]) => {
        const value = layout.settings[key];
        return value === undefined ? [] : [`${name}=${value}`];
      }),
      ...layout.servers.map(({ id, host, peerPort, clientPort }) => {
        const ports = `${peerPort}:${layout.electionPorts.get(id)}:participant;${clientPort}`;
        return `server.${id}=${host}:${ports}`;
      }),
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const secure = apacheSecurity(layout);
    const more = [...(own?.adminPort === undefined ? [] : APACHE_ADMIN_CLASS_PATH), ...secure.jars];
    const classPath = [...APACHE_CLASS_PATH, ...more].join(':');
    const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
    const superDigest = layout.settings['superDigest'];
    const flags = [
      // It lives for seconds, next to others, so the second compiler's output would come too late.
      '-XX:TieredStopAtLevel=1',
      '-XX:+UseSerialGC',
      `-Dzookeeper.log.dir=${layout.directory}`,
      '-Dorg.slf4j.simpleLogger.showDateTime=true',
      '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
      '-Dzookeeper.jute.maxbuffer=1048575',
      `-Dznode.container.checkIntervalMs=${APACHE_CONTAINER_CHECK_MS}`,
      ...(superDigest === undefined ? [] : [`-D${APACHE_SUPER_DIGEST}=${superDigest}`]),
      ...secure.flags,
    ];
    return { file: 'java', args: ['-cp', classPath, ...flags, main, file], environment: {} };
  },
};

function adminLines(port: number | undefined): string[] {
  if (port === undefined) return ['admin.enableServer=false'];
  const address = ['admin.serverAddress=127.0.0.1', `admin.serverPort=${port}`];
  return ['admin.enableServer=true', ...address];
}

export function productNamed(name: Product['name']): Product {
  return name === 'apache' ? apache : rookery;
}

export function productUnderTest(): Product {
  return productNamed(process.env['ROOKERY_E2E_PRODUCT'] === 'apache' ? 'apache' : 'rookery');
}
