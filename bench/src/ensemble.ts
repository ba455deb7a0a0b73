/**
 * Three local members of one system under test, on ports and in a directory of their own.
 *
 * Only loopback. `zookeeper` is Apache ZooKeeper from Debian's package with its default settings
 * (tick 2000, initLimit 10, syncLimit 5, 4lw srvr only, fsync on, the JVM's own heap size), except
 * for the admin web server: three of them want one port. `rookery` is this repository's build.
 */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Host } from './connection.js';
import { ManagedProcess } from './managed-process.js';
import { askSrvr, type MemberState } from './srvr.js';

export const SYSTEMS = ['zookeeper', 'rookery'] as const;
export type SystemName = (typeof SYSTEMS)[number];

export interface EnsembleFacts {
  /** Of all members together. */
  readonly cpuSeconds: number;
  readonly residentBytes: readonly number[];
  readonly diskBytes: number;
  readonly members: readonly (MemberState | null)[];
}

export interface EnsembleOptions {
  readonly system: SystemName;
  readonly directory: string;
  /** Client ports are this and the next two; peer ports lie 100 and 200 above. */
  readonly basePort: number;
  /** Where each Rookery member writes a CPU profile when it ends; null for none. */
  readonly profileDirectory: string | null;
}

const IDS = [1, 2, 3] as const;
const START_TIMEOUT_MS = 30_000;
const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar';
const LOG_FRAMEWORK_CONFIG = '/etc/zookeeper/conf';
const ROOKERY = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url));

export class Ensemble {
  readonly hosts: readonly Host[];
  readonly #options: EnsembleOptions;
  readonly #processes: readonly ManagedProcess[];

  private constructor(options: EnsembleOptions) {
    this.#options = options;
    this.hosts = IDS.map((id) => ({ host: '127.0.0.1', port: options.basePort + id - 1 }));
    mkdirSync(options.directory, { recursive: true });
    const commands =
      options.system === 'zookeeper' ? zookeeperCommands(options) : rookeryCommands(options);
    this.#processes = commands.map(
      (command, index) => new ManagedProcess(command, join(options.directory, `${index + 1}.log`)),
    );
  }

  /** Resolves once every member serves; says what is missing when that cannot be. */
  static async start(options: EnsembleOptions): Promise<Ensemble> {
    if (options.system === 'zookeeper' && !existsSync(ZOOKEEPER_JAR)) {
      throw new Error(`${ZOOKEEPER_JAR} is missing: apt-get install zookeeper`);
    }
    const ensemble = new Ensemble(options);
    const deadlineMs = Date.now() + START_TIMEOUT_MS;
    while (!(await ensemble.#isServing())) {
      const ended = ensemble.#processes.find((member) => !member.isRunning);
      if (ended === undefined && Date.now() < deadlineMs) {
        await sleep(50);
        continue;
      }
      const output = (ended ?? ensemble.#processes[0])?.lastOutput;
      await ensemble.stop();
      throw new Error(`${options.system} does not serve:\n${output}`);
    }
    return ensemble;
  }

  async facts(): Promise<EnsembleFacts> {
    const members = await Promise.all(this.hosts.map(askSrvr));
    const facts = this.#processes.map((member) => member.facts());
    return {
      cpuSeconds: facts.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      residentBytes: facts.map(({ residentBytes }) => residentBytes),
      diskBytes: bytesUnder(this.#options.directory),
      members,
    };
  }

  /** What members that have ended by themselves said last; empty while all run. */
  get obituary(): string {
    const ended = this.#processes.filter((member) => !member.isRunning);
    return ended.map((member) => `${member.ending}\n${member.lastOutput}`).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((member) => member.stop()));
  }

  async #isServing(): Promise<boolean> {
    const members = await Promise.all(this.hosts.map(askSrvr));
    return members.every((member) => member !== null);
  }
}

function zookeeperCommands({ directory, basePort }: EnsembleOptions): string[][] {
  const servers = IDS.map(
    (id) => `server.${id}=127.0.0.1:${basePort + 99 + id}:${basePort + 199 + id}`,
  );
  return IDS.map((id) => {
    const dataDir = join(directory, String(id));
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'myid'), `${id}\n`);
    const config = join(directory, `zoo-${id}.cfg`);
    const lines = [
      'tickTime=2000',
      'initLimit=10',
      'syncLimit=5',
      `dataDir=${dataDir}`,
      `clientPort=${basePort + id - 1}`,
      'admin.enableServer=false',
      ...servers,
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    return [
      'java',
      `-Dzookeeper.log.dir=${dataDir}`,
      '-Dzookeeper.root.logger=WARN,CONSOLE',
      '-cp',
      `${LOG_FRAMEWORK_CONFIG}:${ZOOKEEPER_JAR}`,
      'org.apache.zookeeper.server.quorum.QuorumPeerMain',
      config,
    ];
  });
}

function rookeryCommands(options: EnsembleOptions): string[][] {
  const { directory, basePort, profileDirectory } = options;
  if (!existsSync(ROOKERY)) throw new Error(`${ROOKERY} is missing: npm run build`);
  const config = join(directory, 'ensemble.json');
  const servers = IDS.map((id) => ({
    id,
    host: '127.0.0.1',
    clientPort: basePort + id - 1,
    peerPort: basePort + 99 + id,
  }));
  writeFileSync(config, JSON.stringify({ dataDir: './data', tickTimeMs: 2000, servers }));
  const profile =
    profileDirectory === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`];
  return IDS.map((id) => [
    process.execPath,
    ...profile,
    ...(profileDirectory === null ? [] : [`--cpu-prof-name=member-${id}.cpuprofile`]),
    ROOKERY,
    'server',
    '--config',
    config,
    '--id',
    String(id),
  ]);
}

/**
 * Blocks taken, so that files with holes are not counted as if full. A file may vanish meanwhile.
 */
function bytesUnder(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) bytes += stat.blocks * 512;
  }
  return bytes;
}
