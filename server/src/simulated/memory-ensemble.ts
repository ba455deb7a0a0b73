/**
 * For tests: an ensemble in one process, on a network, disks and a clock in memory.
 *
 * The members are the production ones; only their surroundings are not. Time moves by `advance`
 * alone, randomness comes from the seed: a run is the same each time.
 */
import type { PeerId } from '@rookery/protocol';
import { pino } from 'pino';
import type { Config } from '../config/config.js';
import type { Tuning } from '../config/tuning.js';
import type { MemberObserver } from '../driver/parts.js';
import type { Space } from '../driver/write-bounds.js';
import { Member } from '../member/member.js';
import type { Timers } from '../net/timers.js';
import type { Transport } from '../net/transport.js';
import { MemoryClient } from './memory-client.js';
import { ManualTimers } from './net/manual-timers.js';
import { MemoryNetwork } from './net/memory-transport.js';
import { seededRandom } from './seeded-random.js';
import { MemoryLogDirectory } from './storage/memory-log.js';
import { MemoryStore } from './storage/memory-store.js';

export interface MemoryEnsembleOptions {
  readonly size: number;
  readonly seed: number;
  readonly tuning?: Tuning;
  /** What differs from the usual configuration. */
  readonly settings?: Partial<Config>;
  /** Returns the observer of a member, for whoever wants to see its steps. */
  readonly observer?: (id: PeerId) => MemberObserver;
  /** Between each member and the network: for whoever wants to change what is sent. */
  readonly tap?: (id: PeerId, transport: Transport) => Transport;
}

/** May be used once. */
export interface DiskCopy {
  readonly tree: MemoryStore;
  readonly log: MemoryLogDirectory;
}

/** What a member's disk waits for. */
interface Gates {
  /** A disk that hangs: what every change of it waits for. */
  hung: { readonly until: Promise<void>; release(): void } | null;
  /** Called before each change of a database; what it throws is the failure of the change. */
  beforeChange: ((database: string) => void) | null;
}

interface Seat extends Gates {
  readonly id: PeerId;
  readonly host: string;
  tree: MemoryStore;
  log: MemoryLogDirectory;
  member: Member | null;
}

const CLIENT_PORT = 2181;
const STEP_MS = 1;
/** Simulated time that `until` waits before it gives up. */
const PATIENCE_MS = 60_000;

export class MemoryEnsemble {
  readonly timers = new ManualTimers();
  readonly network = new MemoryNetwork(this.timers);
  /** Log lines of all members, as pino writes them. */
  readonly lines: string[] = [];
  /** What members kept aside: `member/name` and its lines. */
  readonly kept = new Map<string, readonly string[]>();
  /** What ended a member that was not asked to stop. */
  readonly failures: unknown[] = [];
  readonly config: Config;
  readonly #options: MemoryEnsembleOptions;
  readonly #seats: readonly Seat[];
  readonly #random: () => number;
  #uuids = 0;
  /** Members started from now on may found the ensemble with a quorum. */
  found = false;
  /**
   * The tuning of members that are started from now on, by id; it is added to the tuning of all.
   */
  readonly tunings = new Map<PeerId, Tuning>();
  /** By member, what is free on its disk; who is started while it is empty watches no disk. */
  readonly spaces = new Map<PeerId, Space>();
  /** How far the wall clock of a member is wrong, ms; read at each look at it. */
  readonly clockErrors = new Map<PeerId, number>();
  /** Settings of members started from now on that differ from `config`. */
  readonly settings = new Map<PeerId, Partial<Config>>();

  constructor(options: MemoryEnsembleOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const ids = Array.from({ length: options.size }, (_, index) => index + 1);
    this.#seats = ids.map(newSeat);
    this.config = { ...simulatedConfig(this.#seats), ...options.settings };
  }

  async start(...ids: readonly PeerId[]): Promise<void> {
    const which = ids.length > 0 ? ids : this.#seats.map((seat) => seat.id);
    for (const id of which) await this.#open(this.#seat(id));
  }

  /** The process is gone; what was not synced may be lost. */
  kill(id: PeerId): void {
    const seat = this.#seat(id);
    this.network.crash(seat.host);
    seat.member?.abort();
    seat.member = null;
    seat.tree = seat.tree.crash(this.#random);
    seat.log = seat.log.crash(this.#random);
  }

  /** Stopped cleanly, and nothing of its disk is lost. */
  async stop(id: PeerId): Promise<void> {
    const seat = this.#seat(id);
    let isClosed = false;
    void this.member(id)
      .close()
      .finally(() => {
        isClosed = true;
      });
    await this.until(() => isClosed, `did member ${id} stop`);
    this.network.crash(seat.host);
    seat.member = null;
    seat.tree = seat.tree.crash(losesNothing);
    seat.log = seat.log.crash(losesNothing);
  }

  /** A copy of the member's disk as it is now. It must be down. */
  copyOf(id: PeerId): DiskCopy {
    const seat = this.#seat(id);
    const copy = { tree: seat.tree.crash(losesNothing), log: seat.log.crash(losesNothing) };
    seat.tree = seat.tree.crash(losesNothing);
    seat.log = seat.log.crash(losesNothing);
    return copy;
  }

  /** The member's disk is what it was when it was copied. It must be down. */
  restore(id: PeerId, { tree, log }: DiskCopy): void {
    Object.assign(this.#seat(id), { tree, log });
  }

  /** The member's disk is new. It must be down. */
  wipe(id: PeerId): void {
    const seat = this.#seat(id);
    seat.tree = new MemoryStore(storeGate(seat));
    seat.log = new MemoryLogDirectory(gated(seat));
  }

  /** No change of the member's disk completes until `unhang`. */
  hang(id: PeerId): void {
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#seat(id).hung = { until, release };
  }

  unhang(id: PeerId): void {
    const seat = this.#seat(id);
    seat.hung?.release();
    seat.hung = null;
  }

  /** From now on this is called before each change of a database of the member; null ends that. */
  beforeChange(id: PeerId, act: ((database: string) => void) | null): void {
    this.#seat(id).beforeChange = act;
  }

  /** The member's tree store, to look at or to damage. */
  treeOf(id: PeerId): MemoryStore {
    return this.#seat(id).tree;
  }

  logOf(id: PeerId): MemoryLogDirectory {
    return this.#seat(id).log;
  }

  /** Nothing passes between the member and the others; or `from` it, while it hears them. */
  cutOff(id: PeerId, ways: 'both' | 'from' = 'both'): void {
    const { host } = this.#seat(id);
    for (const other of this.#seats) {
      if (other.id === id) continue;
      if (ways === 'both') this.network.cut(host, other.host);
      else this.network.cutOneWay(host, other.host);
    }
  }

  heal(id: PeerId): void {
    for (const other of this.#seats) {
      if (other.id !== id) this.network.heal(this.#seat(id).host, other.host);
    }
  }

  member(id: PeerId): Member {
    const member = this.#seat(id).member;
    if (member === null) throw new Error(`member ${id} is down`);
    return member;
  }

  /** The leader that serves, 0 if there is none. */
  get leader(): PeerId {
    for (const { id, member } of this.#seats) if (member?.status.mode === 'leader') return id;
    return 0;
  }

  serves(id: PeerId): boolean {
    return this.#seat(id).member?.status.serving ?? false;
  }

  /** Moves time until `condition` holds; throws, with the log, when it never does. */
  async until(condition: () => boolean, what: string): Promise<void> {
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += STEP_MS) {
      if (condition()) return;
      await this.timers.advance(STEP_MS);
      if (this.failures.length > 0) throw this.failures[0];
    }
    const log = this.lines.slice(-60).join('');
    throw new Error(`seed ${this.#options.seed}: never ${what}\n${log}`);
  }

  async client(id: PeerId): Promise<MemoryClient> {
    const address = { host: this.#seat(id).host, port: CLIENT_PORT };
    const dial = this.network.transport('client').dial(address, 1_000);
    await this.timers.advance(10);
    return new MemoryClient(await dial);
  }

  async #open(seat: Seat): Promise<void> {
    const { observer, tap } = this.#options;
    const transport = this.network.transport(seat.host);
    const tuning = { ...this.#options.tuning, ...this.tunings.get(seat.id) };
    const config = { ...this.config, ...this.settings.get(seat.id) };
    const logger = pino(
      { base: { member: seat.id }, timestamp: () => `,"time":${this.timers.nowMs()}` },
      { write: (line: string) => void this.lines.push(line) },
    );
    const options = { id: seat.id, logger, found: this.found, tuning };
    const member = await Member.open(config, options, {
      transport: tap?.(seat.id, transport) ?? transport,
      timers: this.#timersOf(seat.id),
      treeStore: seat.tree,
      logFiles: seat.log,
      random: this.#random,
      randomBytes: (count) => Uint8Array.from({ length: count }, () => this.#random() * 256),
      uuid: () => `uuid-${++this.#uuids}`,
      directoryBytes: () => Promise.resolve(0),
      ...(this.spaces.size > 0
        ? { spaceOf: () => Promise.resolve(this.spaces.get(seat.id) ?? null) }
        : {}),
      keepAside: async (_, name, lines) => {
        const kept: string[] = [];
        for await (const line of lines) kept.push(line);
        this.kept.set(`${seat.id}/${name}`, kept);
        return name;
      },
      ...(observer ? { observer: observer(seat.id) } : {}),
    });
    seat.member = member;
    member.closed.catch((error: unknown) => this.failures.push(error));
    await member.listen();
  }

  #timersOf(id: PeerId): Timers {
    const { timers } = this;
    return {
      nowMs: () => timers.nowMs(),
      wallMs: () => timers.wallMs() + (this.clockErrors.get(id) ?? 0),
      after: (delayMs, action) => timers.after(delayMs, action),
      defer: (action) => timers.defer(action),
    };
  }

  #seat(id: PeerId): Seat {
    const seat = this.#seats[id - 1];
    if (seat === undefined) throw new Error(`there is no member ${id}`);
    return seat;
  }
}

function newSeat(id: PeerId): Seat {
  const disk: Gates = { hung: null, beforeChange: null };
  const seat = Object.assign(disk, {
    id,
    host: `member-${id}`,
    tree: new MemoryStore(storeGate(disk)),
    log: new MemoryLogDirectory(gated(disk)),
    member: null,
  });
  return seat;
}

/** For a crash of a disk: all of the unsynced is kept. */
function losesNothing(): number {
  return 1 - Number.EPSILON;
}

function gated(seat: Gates) {
  return { gate: () => seat.hung?.until ?? Promise.resolve() };
}

function storeGate(seat: Gates) {
  const gate = async ({ name }: { readonly name: string }): Promise<void> => {
    await seat.hung?.until;
    seat.beforeChange?.(name);
  };
  return { gate };
}

/** The usual configuration of members at these hosts. */
export function simulatedConfig(
  seats: readonly { readonly id: PeerId; readonly host: string }[],
): Config {
  return {
    dataDir: '/nowhere',
    dataLogDir: '/nowhere',
    tickTimeMs: 2000,
    servers: seats.map(({ id, host }) => ({ id, host, clientPort: CLIENT_PORT, peerPort: 2881 })),
    peerAuth: null,
    initLimit: 10,
    syncLimit: 5,
    peerHeartbeatMs: 100,
    peerTimeoutMs: 1000,
    minSessionTimeoutMs: 4000,
    maxSessionTimeoutMs: 40_000,
    maxClientCnxns: 0,
    connectionTokensMax: 0,
    connectionTokensPerSecond: 100,
    globalOutstandingLimit: 1000,
    frameBytesMax: 1_048_575,
    inputBytesMax: null,
    outputBytesMax: null,
    fourLetterWords: '*',
    extendedTypes: true,
    superDigest: null,
    rootAcl: null,
    tls: null,
    sasl: null,
    enforceAuth: [],
    superIdentities: [],
    digestAlgs: ['SHA1'],
    requestsPerSecondMax: 0,
    skipACL: false,
    enforceQuota: false,
    treeBytesMax: null,
    diskReserveBytes: null,
    ephemeralsPerSessionMax: 1_000_000,
    multiOpsMax: 4096,
    pathDepthMax: 2000,
    neverUsedContainersMs: 0,
    readOnlyMode: false,
    localSessions: false,
    reconfigEnabled: false,
    holdLevel: null,
    ensembleName: null,
    metricsHost: null,
    adminHost: '127.0.0.1',
    adminUsers: [],
    adminReaders: [],
    adminOrigins: [],
    adminReadOnly: false,
    backupDirectory: null,
    backupEveryMinutes: 1440,
    backupsKept: 14,
    backupDaysKept: 0,
    auditFile: null,
    auditBytesMax: 64 << 20,
    auditFilesKept: 10,
    auditRequired: false,
    logLevel: 'info',
  };
}
