/**
 * An ensemble of real processes in a fresh directory on free ports.
 *
 * It owns the members, their configuration, data, logs and the proxies between them. `useEnsemble`
 * ties it to the running test: whatever the outcome, every process is killed at its end, and on a
 * failure the ends of all logs are printed. Members are numbered from 1.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { digestOf, metricsOf } from './four-letter.js';
import { httpGet } from './http.js';
import { Member } from './member.js';
import { PeerNetwork } from './peer-network.js';
import { freePorts } from './ports.js';
import { type Product, productUnderTest, REPOSITORY, type ServerAddress } from './product.js';
import { until } from './wait.js';

/** Generous: a loaded machine with two cores starts three or five processes at once. */
export const SERVING_DEADLINE_MS = 60_000;
const SAME_STATE_DEADLINE_MS = 20_000;
const PEER_TIMEOUT_MS = 4_000;
const LOG_LINES_ON_FAILURE = 60;

export interface EnsembleOptions {
  readonly size?: number;
  readonly tickTimeMs?: number;
  /**
   * Additional keys of the config file, the same for every member. `peerTimeoutMs` is 4 s by
   * default, or the product's own with `proxied`: a member that a busy machine starves for a second
   * must not lose its leader, and its clients their connections, in a test of something else.
   */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Puts a proxy between every two members. */
  readonly proxied?: boolean;
  /** Gives each member a metrics port and an admin port. */
  readonly operated?: boolean;
  /** Gives each member a port for TLS alone; the setting `tls` says by which certificate. */
  readonly secure?: boolean;
  /**
   * The product for tests that compare answers with Apache ZooKeeper's; the product under test by
   * default.
   */
  readonly product?: Product;
}

export class Ensemble {
  readonly directory: string;
  readonly members: readonly Member[];
  readonly #network: PeerNetwork | undefined;
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(
    directory: string,
    members: readonly Member[],
    network: PeerNetwork | undefined,
    environment: Readonly<Record<string, string>>,
  ) {
    this.directory = directory;
    this.members = members;
    this.#network = network;
    this.#environment = environment;
  }

  /** Writes everything that the members need and starts none of them. */
  static async create(options: EnsembleOptions = {}): Promise<Ensemble> {
    const { size = 3, tickTimeMs = 500, environment = {} } = options;
    const patience = options.proxied === true ? {} : { peerTimeoutMs: PEER_TIMEOUT_MS };
    const settings = { ...patience, ...options.settings };
    const directory = newTestDirectory();
    const ports = await freePorts(3 * size + size * size);
    const addresses = serverAddresses(ports.splice(0, 2 * size));
    const operated = options.operated === true ? await withOperatorPorts(addresses) : addresses;
    const servers = options.secure === true ? await withSecurePorts(operated) : operated;
    const electionPorts = new Map(
      ports.splice(0, size).map((port, index) => [servers[index]?.id ?? 0, port]),
    );
    const network = options.proxied === true ? await PeerNetwork.create(servers, ports) : undefined;
    const product = options.product ?? productUnderTest();
    const members = servers.map((own) => {
      const seen = servers.map((other) => {
        if (network === undefined || other === own) return other;
        return { ...other, peerPort: network.portFor(own.id, other.id) };
      });
      const layout = { id: own.id, directory, servers: seen, electionPorts, tickTimeMs, settings };
      return new Member({
        ...own,
        dataDir: product.dataDir(layout),
        logFile: join(directory, `member-${own.id}.log`),
        command: product.prepare(layout),
      });
    });
    return new Ensemble(directory, members, network, environment);
  }

  get network(): PeerNetwork {
    if (this.#network === undefined) throw new Error('this ensemble has no proxies');
    return this.#network;
  }

  get ids(): number[] {
    return this.members.map((member) => member.id);
  }

  get ports(): number[] {
    return this.members.map((member) => member.clientPort);
  }

  get running(): Member[] {
    return this.members.filter((member) => member.running);
  }

  member(id: number): Member {
    const member = this.members.find((candidate) => candidate.id === id);
    if (member === undefined) throw new Error(`there is no member ${id}`);
    return member;
  }

  start(ids: readonly number[] = this.ids): void {
    for (const id of ids) this.member(id).start(this.#environment);
  }

  /** Resolves once each of these members serves clients, and operators if it has such ports. */
  async serving(ids: readonly number[] = this.running.map((member) => member.id)): Promise<void> {
    const members = ids.map((id) => this.member(id));
    for (const member of members) {
      const settled = await until(`member ${member.id} serves`, SERVING_DEADLINE_MS, async () => {
        // Without one of the other members it may never serve.
        const ended = members.find(({ running }) => !running);
        if (ended !== undefined) return ended;
        if ((await member.status()) === undefined) return undefined;
        // Ports for operators are opened once a member serves, the admin port last.
        if (member.adminPort !== 0) await httpGet(member.adminPort, '/');
        return 'serves';
      });
      if (settled !== 'serves') throw new Error(`member ${settled.id} has ended by itself`);
    }
  }

  /** Returns the member that reports that it leads; waits for one. */
  leader(deadlineMs = SERVING_DEADLINE_MS): Promise<Member> {
    return until('a member leads', deadlineMs, async () => {
      for (const member of this.running) {
        const mode = (await member.status())?.mode;
        if (mode === 'leader' || mode === 'standalone') return member;
      }
      return undefined;
    });
  }

  async followers(): Promise<Member[]> {
    const leader = await this.leader();
    return this.running.filter((member) => member !== leader);
  }

  /** Waits until all running members have the same zxid; their digests there must be equal. */
  async sameState(): Promise<string> {
    if (productUnderTest().name === 'apache')
      return 'Apache ZooKeeper does not keep a digest of every zxid';
    const running = this.running;
    return await until('all members are at one zxid', SAME_STATE_DEADLINE_MS, async () => {
      const digests = await Promise.all(running.map((member) => digestOf(member.clientPort)));
      const [first] = digests;
      if (first === undefined) throw new Error('no member runs');
      if (digests.some((digest) => digest.zxid !== first.zxid)) {
        throw new Error(digests.map((digest) => digest.zxid.toString(16)).join(' '));
      }
      // This is not retried: replicas that differ at one zxid never become equal again.
      return digests.map((digest) => digest.digest).join(' ');
    }).then((digests) => {
      const distinct = [...new Set(digests.split(' '))];
      if (distinct.length !== 1) throw new Error(`digests differ at one zxid: ${digests}`);
      return digests;
    });
  }

  /** A metric of `mntr`, summed over the running members. */
  async metric(name: string): Promise<number> {
    let sum = 0;
    for (const member of this.running) {
      sum += Number((await metricsOf(member.clientPort)).get(name) ?? 0);
    }
    return sum;
  }

  /** Gives the member a new, empty disk. */
  wipe(id: number): void {
    const member = this.member(id);
    if (member.running) throw new Error(`member ${id} still runs`);
    rmSync(member.dataDir, { recursive: true, force: true });
  }

  /** The ends of all logs, for the report of a failure. */
  logTails(): string {
    return this.members
      .map((member) => {
        const lines = member.log().trimEnd().split('\n').slice(-LOG_LINES_ON_FAILURE);
        return [`=== ${member.logFile}`, ...lines].join('\n');
      })
      .join('\n');
  }

  /** Kills the processes that run. With `keep` the directory stays, for inspection. */
  async close(keep = false): Promise<void> {
    await Promise.all(this.running.map((member) => member.kill()));
    await this.#network?.close();
    if (!keep) rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Makes an ensemble for the running test alone, not yet started. */
export async function useEnsemble(options: EnsembleOptions = {}): Promise<Ensemble> {
  const ensemble = await Ensemble.create(options);
  onTestFinished(async ({ task }) => {
    const failed = task.result?.state === 'fail';
    if (failed) console.log(ensemble.logTails());
    await ensemble.close(failed);
  });
  return ensemble;
}

/** Like `useEnsemble`, with every member started and serving. */
export async function useServingEnsemble(options: EnsembleOptions = {}): Promise<Ensemble> {
  const ensemble = await useEnsemble(options);
  ensemble.start();
  await ensemble.serving();
  return ensemble;
}

/** A fresh directory under test/.work, which is never committed. */
export function newTestDirectory(): string {
  const work = join(REPOSITORY, 'test/.work');
  mkdirSync(work, { recursive: true });
  return mkdtempSync(join(work, 'run-'));
}

async function withOperatorPorts(servers: readonly ServerAddress[]): Promise<ServerAddress[]> {
  const ports = await freePorts(2 * servers.length);
  return servers.map((server, index) => {
    const [metricsPort, adminPort] = [ports[2 * index], ports[2 * index + 1]];
    return { ...server, metricsPort, adminPort };
  });
}

async function withSecurePorts(servers: readonly ServerAddress[]): Promise<ServerAddress[]> {
  const ports = await freePorts(servers.length);
  return servers.map((server, index) => ({ ...server, secureClientPort: ports[index] }));
}

function serverAddresses(ports: readonly number[]): ServerAddress[] {
  return Array.from({ length: ports.length / 2 }, (_, index) => {
    const clientPort = ports[2 * index];
    const peerPort = ports[2 * index + 1];
    if (clientPort === undefined || peerPort === undefined) throw new Error('too few ports');
    return { id: index + 1, host: '127.0.0.1', clientPort, peerPort };
  });
}
