/**
 * One member of an ensemble: puts storage, network and the core together and runs them.
 *
 * The composition root: configuration, logger, clock and randomness enter here and nowhere else.
 * Everything that an operator can get wrong is found before the member takes part in anything.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import { type Config, memberDirectories, type ServerAddress } from './config.js';
import { Counters } from './driver/counters.js';
import { DiskUsage } from './driver/disk-usage.js';
import { Driver } from './driver/driver.js';
import { MemberStatus } from './driver/member-view.js';
import { CLIENT_PORT_DEFAULTS, ClientPort } from './net/client-port.js';
import { FourLetterWhitelist } from './net/four-letter/words.js';
import { ListenError } from './net/listen-error.js';
import { PEER_PORT_DEFAULTS, PeerPort } from './net/peer-port.js';
import { ServerStats } from './net/server-stats.js';
import { TcpTransport } from './net/tcp.js';
import { systemTimers } from './net/timers.js';
import type { Address, Transport } from './net/transport.js';
import { OperatorError } from './operator-error.js';
import { Pipeline } from './pipeline/pipeline.js';
import { ReplicatedState } from './state/replicated-state.js';
import { DEFAULT_STORAGE_OPTIONS, type Recovered, Storage } from './storage/index.js';
import { openLevelStores } from './storage/level-store.js';
import type { Tuning } from './tuning.js';
import { VERSION } from './version.js';
import { Zab, type ZabOptions, type ZabStart } from './zab/index.js';

export interface ServerOptions {
  /** Which of the config's servers this is. */
  readonly id: PeerId;
  readonly logger: Logger;
  /** Found an ensemble although not every configured member is reachable. */
  readonly found: boolean;
  readonly tuning?: Tuning;
}

export interface RunningServer {
  /** Stops cleanly; resolves when nothing of the member is left open. Safe to call again. */
  close(): Promise<void>;
  /** Resolves when it has stopped; rejects when it had to stop because of an error. */
  readonly closed: Promise<void>;
}

/** Votes settle for this long when not all reachable voters agree, ms. */
const SETTLE_MS = 200;
/** Recent proposals in memory: what most returning learners need, bytes. */
const WINDOW_BYTES = 8 << 20;
const CHUNK_BYTES = 256 << 10;
/** Bytes of requests that one member may have at its leader: several members fit a link's queue. */
const OUTSTANDING_BYTES = 16 << 20;
const DISK_MEASURE_MS = 30_000;

/**
 * Starts a member; resolves when its ports are open. Rejects with OperatorError for what the
 * operator must mend (a port in use, a directory that is not this member's).
 */
export async function startServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const self = config.servers.find((server) => server.id === options.id);
  if (self === undefined) throw new OperatorError(`no server in the config has id ${options.id}`);
  const transport = new TcpTransport(options.logger);
  await probePorts(transport, config, self);
  const member = await Member.open(config, self, options, transport);
  await member.listen();
  return member;
}

class Member implements RunningServer {
  readonly closed: Promise<void>;
  readonly #driver: Driver;
  readonly #storage: Storage;
  readonly #clientPort: ClientPort;
  readonly #peerPort: PeerPort;
  readonly #measure: NodeJS.Timeout;
  #settle: { resolve(): void; reject(error: unknown): void } | null = null;
  #closing: Promise<void> | null = null;

  static async open(
    config: Config,
    self: ServerAddress,
    options: ServerOptions,
    transport: Transport,
  ): Promise<Member> {
    const state = new ReplicatedState();
    const segmentBytesMax =
      options.tuning?.logSegmentBytes ?? DEFAULT_STORAGE_OPTIONS.segmentBytesMax;
    const stores = await openLevelStores({ ...config, memberId: self.id, segmentBytesMax });
    const retained = options.tuning?.logKeepBytes;
    const { storage, recovered } = await Storage.open({
      ...stores,
      memberId: self.id,
      loader: state,
      options: {
        segmentBytesMax,
        ...(retained === undefined ? {} : { retainedBytesMin: retained }),
      },
    });
    const sound = recovered.damaged === null;
    logRecovery(options.logger, recovered);
    const parts = { config, self, options, transport, storage, recovered };
    return new Member(parts, sound ? state : new ReplicatedState());
  }

  private constructor(parts: MemberParts, state: ReplicatedState) {
    const { config, self, options, storage } = parts;
    this.closed = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.closed.catch(() => undefined);
    this.#storage = storage;
    const membership = membershipOf(config);
    state.setConfigNode(membership);
    const zab = new Zab(zabOptions(config, options), zabStart(parts.recovered));
    const counters = new Counters();
    const pipeline = newPipeline(config, self, state);
    this.#driver = new Driver({
      options: driverOptions(config, options, membership),
      zab,
      storage,
      state,
      pipeline,
      counters,
      timers: systemTimers(),
      logger: options.logger,
      wallMs: () => Date.now(),
      random16: () => randomBytes(16),
      clientPort: () => this.#clientPort,
      peerPort: () => this.#peerPort,
      onFatal: (error) => this.#fail(error),
    });
    const disk = new DiskUsage();
    const directories = memberDirectories(config, self.id);
    this.#measure = setInterval(() => void disk.measure(directories), DISK_MEASURE_MS).unref();
    void disk.measure(directories);
    const { transport } = parts;
    this.#clientPort = new ClientPort({
      options: clientPortOptions(config, self),
      transport,
      timers: systemTimers(),
      logger: options.logger,
      stats: new ServerStats(),
      view: new MemberStatus({
        config,
        self,
        membership,
        driver: this.#driver,
        pipeline,
        zab,
        counters,
        nowMs: () => performance.now(),
        diskBytes: () => disk,
      }),
      handler: this.#driver.clients,
    });
    this.#peerPort = new PeerPort({
      options: {
        ...PEER_PORT_DEFAULTS,
        id: self.id,
        instance: randomUUID(),
        address: { host: self.host, port: self.peerPort },
        peers: peersOf(config, self),
        peerTimeoutMs: config.peerTimeoutMs,
      },
      transport,
      timers: systemTimers(),
      random: Math.random,
      logger: options.logger,
      identity: () => ({ ensembleId: zab.ensembleId, founded: zab.founded }),
      handler: this.#driver.peers,
    });
  }

  async listen(): Promise<void> {
    try {
      await this.#clientPort.listen();
      await this.#peerPort.listen();
    } catch (error) {
      await this.close();
      throw asOperatorError(error);
    }
    this.#driver.start();
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown().then(
      () => this.#settle?.resolve(),
      (error: unknown) => this.#settle?.reject(error),
    );
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    clearInterval(this.#measure);
    this.#driver.stop();
    await Promise.all([this.#clientPort.close(), this.#peerPort.close()]);
    await this.#driver.keeper.idle();
    await this.#storage.close();
  }

  /** The error is what the process ends with; what can still be closed is closed. */
  #fail(error: unknown): void {
    clearInterval(this.#measure);
    this.#settle?.reject(error);
    void Promise.allSettled([this.#clientPort.close(), this.#peerPort.close()]);
  }
}

interface MemberParts {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly options: ServerOptions;
  readonly transport: Transport;
  readonly storage: Storage;
  readonly recovered: Recovered;
}

/** A port in use is told before a single file is made. */
async function probePorts(
  transport: Transport,
  config: Config,
  self: ServerAddress,
): Promise<void> {
  await probe(transport, 'client', { host: self.host, port: self.clientPort });
  if (config.servers.length === 1) return;
  await probe(transport, 'peer', { host: self.host, port: self.peerPort });
}

async function probe(transport: Transport, purpose: 'client' | 'peer', address: Address) {
  try {
    const listener = await transport.listen(address, (stream) => stream.destroy());
    await listener.close();
  } catch (error) {
    throw asOperatorError(new ListenError(purpose, address, error));
  }
}

function asOperatorError(error: unknown): unknown {
  return error instanceof ListenError ? new OperatorError(error.message, { cause: error }) : error;
}

function logRecovery(logger: Logger, recovered: Recovered): void {
  const { acceptedEpoch, currentEpoch, ensembleId, founded } = recovered;
  const facts = {
    version: VERSION,
    checkpoint: `0x${recovered.checkpointZxid.toString(16)}`,
    last: `0x${recovered.last.toString(16)}`,
    ...{ acceptedEpoch, currentEpoch, ensembleId, founded },
  };
  logger.info(facts, 'server.recovered');
  if (recovered.damaged === null) return;
  logger.error(
    { damage: recovered.damaged },
    'server.damaged: this member does not vote and waits for a snapshot from a leader',
  );
}

function zabOptions(config: Config, options: ServerOptions): ZabOptions {
  return {
    id: options.id,
    voters: config.servers.map((server) => server.id),
    heartbeatMs: config.peerHeartbeatMs,
    timeoutMs: config.peerTimeoutMs,
    settleMs: SETTLE_MS,
    initTimeoutMs: config.initLimit * config.tickTimeMs,
    windowBytesMax: options.tuning?.windowBytes ?? WINDOW_BYTES,
    chunkBytesMax: CHUNK_BYTES,
    newEnsembleId: randomUUID(),
    foundWithQuorum: options.found,
  };
}

function zabStart(recovered: Recovered): ZabStart {
  return {
    acceptedEpoch: recovered.acceptedEpoch,
    currentEpoch: recovered.currentEpoch,
    ensembleId: recovered.ensembleId,
    founded: recovered.founded,
    sound: recovered.damaged === null,
    applied: recovered.checkpointZxid,
    history: recovered.history,
    suffix: recovered.suffix,
  };
}

function driverOptions(config: Config, options: ServerOptions, membership: string) {
  const logBytesMax = options.tuning?.checkpointLogBytes;
  return {
    id: options.id,
    tickMs: config.peerHeartbeatMs / 2,
    heartbeatMs: config.peerHeartbeatMs,
    timeoutMs: config.peerTimeoutMs,
    firstCounter: options.tuning?.firstCounter ?? 1,
    checkpoint: logBytesMax === undefined ? {} : { logBytesMax },
    membership,
  };
}

function newPipeline(config: Config, self: ServerAddress, state: ReplicatedState): Pipeline {
  return new Pipeline({
    state,
    options: {
      id: self.id,
      minSessionTimeoutMs: config.minSessionTimeoutMs,
      maxSessionTimeoutMs: config.maxSessionTimeoutMs,
      outstandingMax: config.globalOutstandingLimit,
      outstandingBytesMax: OUTSTANDING_BYTES,
      connectionOutstandingMax: config.globalOutstandingLimit,
      firstRequest: randomInt(2 ** 47),
    },
  });
}

function clientPortOptions(config: Config, self: ServerAddress) {
  return {
    ...CLIENT_PORT_DEFAULTS,
    address: { host: self.host, port: self.clientPort },
    frameBytesMax: config.frameBytesMax,
    connectionsPerAddressMax: config.maxClientCnxns,
    whitelist: new FourLetterWhitelist([...config.fourLetterWords].join(',')),
  };
}

function peersOf(config: Config, self: ServerAddress): Map<PeerId, Address> {
  const others = config.servers.filter((server) => server.id !== self.id);
  return new Map(others.map(({ id, host, peerPort }) => [id, { host, port: peerPort }]));
}

/** The text of /zookeeper/config: empty for a standalone server. */
function membershipOf(config: Config): string {
  if (config.servers.length === 1) return '';
  const lines = config.servers.map(
    ({ id, host, peerPort, clientPort }) =>
      `server.${id}=${host}:${peerPort}:${peerPort}:participant;${host}:${clientPort}`,
  );
  return [...lines, 'version=0'].join('\n');
}
