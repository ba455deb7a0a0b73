/**
 * How the members of an ensemble are started: directories, ports and commands, for each product.
 *
 * `zookeeper` is Apache ZooKeeper from Debian's package with its default settings (tick 2000,
 * initLimit 10, syncLimit 5, 4lw srvr only, fsync on, the JVM's own heap size unless one is given),
 * except for two: no admin web server, because all of them want one port, and no limit of 60
 * connections for each address, because all load comes from one. `rookery` is this repository's
 * build, `baseline` that of another checkout of it.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unreachable } from '@rookery/protocol';
import type { Host } from '../load/dial.js';
import { type Certificate, certificateIn } from './certificate.js';

export const SYSTEMS = ['rookery', 'zookeeper', 'baseline'] as const;
export type SystemName = (typeof SYSTEMS)[number];

export interface EnsembleOptions {
  readonly system: SystemName;
  /** The checkout that `baseline` runs, which has been built; null if there is none. */
  readonly baseline: string | null;
  readonly directory: string;
  readonly members: number;
  /** Client ports are this one and the following ones; peer ports are 100 and 200 above. */
  readonly basePort: number;
  /** The heap of each ZooKeeper member; null for the size that Java chooses. */
  readonly javaHeapMegabytes: number | null;
  readonly memberSettings: Partial<MemberSettings>;
  /**
   * The directory to which each Rookery member writes a CPU profile when it ends; null for none.
   */
  readonly profileDirectory: string | null;
}

/** What a scenario wants members to be started with, in addition to what every ensemble has. */
export interface MemberSettings {
  /** Keys of Rookery's config file. */
  readonly rookery: Readonly<Record<string, unknown>>;
  /** Lines of ZooKeeper's config file. */
  readonly zookeeper: readonly string[];
  /**
   * The command that runs each member's command, which is appended to it: `['prlimit',
   * '--nofile=256']`.
   */
  readonly command: readonly string[];
  /**
   * Gives each Rookery member a metrics port and an admin port, METRICS_PORT and ADMIN_PORT above
   * its client port, and the admin port the user ADMIN_USER.
   */
  readonly isOperated: boolean;
  /** Members have a port for TLS, SECURE_PORT above their client port, for all clients. */
  readonly isSecure: boolean;
}

export interface MemberPlan {
  readonly host: Host;
  readonly command: readonly string[];
  /** The directory that contains all of the member's data, and nothing else. */
  readonly dataDirectory: string;
  /** Prepares the data directory for a first start. */
  readonly prepare: () => void;
}

const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar';
const LOG_FRAMEWORK_CONFIG = '/etc/zookeeper/conf';
/** The jars of Debian's packages that ZooKeeper needs for TLS alone. */
const NETTY_JARS: readonly string[] = [
  ...['buffer', 'codec', 'common', 'handler', 'resolver', 'transport'],
  ...['transport-native-epoll', 'transport-native-unix-common'],
].map((part) => `/usr/share/java/netty-${part}.jar`);
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
/** The program of the members within a checkout that has been built. */
const PROGRAM = join('cli', 'dist', 'main.js');
export const ROOKERY = join(REPOSITORY, PROGRAM);
/**
 * As the operator's guide recommends: with an arena for each thread, a large tree takes 30 MB more.
 */
const MALLOC = ['env', 'MALLOC_ARENA_MAX=1'] as const;
const HOST = '127.0.0.1';
const PEER_PORT = 100;
const ELECTION_PORT = 200;
export const METRICS_PORT = 300;
const SECURE_PORT = 350;
export const ADMIN_PORT = 400;
/** The name and the password of the user, and their digest for the config file. */
export const ADMIN_USER = 'bench:bench';
const ADMIN_DIGEST = `bench:${createHash('sha1').update(ADMIN_USER).digest('base64')}`;

/** Says what must be installed or built first; null if nothing is missing. */
export function missingFor(system: SystemName, baseline: string | null): string | null {
  switch (system) {
    case 'zookeeper':
      return existsSync(ZOOKEEPER_JAR)
        ? null
        : `${ZOOKEEPER_JAR} is missing: apt-get install zookeeper`;
    case 'rookery':
    case 'baseline': {
      const program = programOf(system, baseline);
      return existsSync(program) ? null : `${program} is missing: npm run build`;
    }
    default:
      return unreachable(system);
  }
}

function programOf(system: 'rookery' | 'baseline', baseline: string | null): string {
  if (system === 'rookery') return ROOKERY;
  if (baseline === null) throw new Error('baseline needs the path of a checkout');
  return join(baseline, PROGRAM);
}

export function planMembers(options: EnsembleOptions): readonly MemberPlan[] {
  mkdirSync(options.directory, { recursive: true });
  const ids = Array.from({ length: options.members }, (_, index) => index + 1);
  switch (options.system) {
    case 'zookeeper':
      return ids.map((id) => zookeeperMember(options, ids, id));
    case 'rookery':
    case 'baseline':
      return rookeryMembers(options, ids, programOf(options.system, options.baseline));
    default:
      return unreachable(options.system);
  }
}

function zookeeperMember(options: EnsembleOptions, ids: readonly number[], id: number): MemberPlan {
  const { directory, basePort, javaHeapMegabytes, memberSettings } = options;
  const certificate = certificateFor(options);
  const port = basePort + id - 1;
  const dataDirectory = join(directory, String(id));
  const config = join(directory, `zoo-${id}.cfg`);
  const peers = ids.map((peer) => {
    const first = basePort + peer - 1;
    return `server.${peer}=${HOST}:${first + PEER_PORT}:${first + ELECTION_PORT}`;
  });
  const lines = [
    'tickTime=2000',
    'initLimit=10',
    'syncLimit=5',
    `dataDir=${dataDirectory}`,
    `clientPort=${port}`,
    'maxClientCnxns=0',
    'admin.enableServer=false',
    ...peers,
    ...(certificate === null ? [] : secureLines(port + SECURE_PORT, certificate)),
    ...(memberSettings.zookeeper ?? []),
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  return {
    host: hostAt(port, certificate),
    command: [
      ...(memberSettings.command ?? []),
      'java',
      ...(javaHeapMegabytes === null ? [] : [`-Xmx${javaHeapMegabytes}m`]),
      `-Dzookeeper.log.dir=${directory}`,
      '-Dzookeeper.root.logger=WARN,CONSOLE',
      '-cp',
      [LOG_FRAMEWORK_CONFIG, ZOOKEEPER_JAR, ...(certificate === null ? [] : NETTY_JARS)].join(':'),
      'org.apache.zookeeper.server.quorum.QuorumPeerMain',
      config,
    ],
    dataDirectory,
    prepare: () => {
      mkdirSync(dataDirectory, { recursive: true });
      writeFileSync(join(dataDirectory, 'myid'), `${id}\n`);
    },
  };
}

function rookeryMembers(
  options: EnsembleOptions,
  ids: readonly number[],
  program: string,
): readonly MemberPlan[] {
  const { directory, basePort, profileDirectory, memberSettings } = options;
  const { command = [], rookery = {}, isOperated = false } = memberSettings;
  const config = join(directory, 'ensemble.json');
  const certificate = certificateFor(options);
  const servers = ids.map((id) => {
    const port = basePort + id - 1;
    return {
      id,
      host: HOST,
      clientPort: port,
      peerPort: port + PEER_PORT,
      ...(isOperated ? operatorPorts(port) : {}),
      ...(certificate === null ? {} : { secureClientPort: port + SECURE_PORT }),
    };
  });
  const settings = {
    ...(isOperated ? { adminUsers: [ADMIN_DIGEST] } : {}),
    ...(certificate === null
      ? {}
      : { tls: { certFile: certificate.certFile, keyFile: certificate.keyFile } }),
    ...rookery,
  };
  writeFileSync(
    config,
    JSON.stringify({ dataDir: './data', tickTimeMs: 2000, servers, ...settings }),
  );
  return ids.map((id) => {
    const dataDirectory = join(directory, 'data', String(id));
    const profile =
      profileDirectory === null
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`, `--cpu-prof-name=${id}.cpuprofile`];
    const run = [program, 'server', '--config', config, '--id', String(id)];
    return {
      host: hostAt(basePort + id - 1, certificate),
      command: [...command, ...MALLOC, process.execPath, ...profile, ...run],
      dataDirectory,
      prepare: () => undefined,
    };
  });
}

function operatorPorts(clientPort: number): { metricsPort: number; adminPort: number } {
  return { metricsPort: clientPort + METRICS_PORT, adminPort: clientPort + ADMIN_PORT };
}

function certificateFor({ directory, memberSettings }: EnsembleOptions): Certificate | null {
  return memberSettings.isSecure === true ? certificateIn(directory, HOST) : null;
}

function hostAt(port: number, certificate: Certificate | null): Host {
  if (certificate === null) return { host: HOST, port };
  return { host: HOST, port: port + SECURE_PORT, tls: { ca: certificate.ca } };
}

/** Returns the settings of TLS: the defaults, except that clients need no certificate. */
function secureLines(port: number, { bothFile, certFile }: Certificate): readonly string[] {
  return [
    'serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory',
    `secureClientPort=${port}`,
    `ssl.keyStore.location=${bothFile}`,
    'ssl.keyStore.type=PEM',
    `ssl.trustStore.location=${certFile}`,
    'ssl.trustStore.type=PEM',
    'ssl.clientAuth=none',
  ];
}
