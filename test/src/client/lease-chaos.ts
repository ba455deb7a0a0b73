/**
 * Leases under random faults: many clients at the same locks, semaphore and read/write lock, while
 * connections are cut, held half open and delayed, members stopped and killed, sessions ended by
 * somebody else, clients closed and moved, and this process stands still.
 *
 * Says what must never be: two leases together whose signals are both unaborted in the turn in
 * which one is given, a token that does not grow, an acquire that fails for want of a connection
 * or never ends, a watch, a deletion or a znode that is left. Judges by no time but a generous
 * deadline against hangs. What a session that was ended with its own password held is exempt:
 * nobody can tell its client before.
 */
import {
  type Client,
  ClientClosedError,
  createClient,
  type Lease,
  LeaseLostError,
  LockTimeoutError,
  type MultiLease,
  OperationAbortedError,
  SessionExpiredError,
} from '@rookery/client';
import { toInt64 } from '@rookery/protocol';
import type { Ensemble } from '../harness/ensemble.js';
import { freePorts } from '../harness/ports.js';
import { LinkProxy } from '../harness/proxy.js';
import { Random } from '../harness/random.js';
import { until, within } from '../harness/wait.js';
import { WireClient } from '../harness/wire-client.js';
import { ChaosContender } from './lease-chaos-contender.js';
import { CHAOS_BASE, type ChaosKind, chaosKinds, chaosRules } from './lease-chaos-kinds.js';
import { untilEmpty } from './protocol-steps.js';

export interface ChaosOptions {
  readonly ensemble: Ensemble;
  readonly random: Random;
  readonly durationMs: number;
  readonly clientCount: number;
  /** How many of the clients have their sockets in a worker thread; needs the built package. */
  readonly workerCount?: number;
}

export interface ChaosReport {
  readonly violations: readonly string[];
  readonly given: number;
  /** How often each fault was injected. */
  readonly faults: ReadonlyMap<string, number>;
  /** How often each kind of error ended an acquire. */
  readonly failures: ReadonlyMap<string, number>;
}

/** The duration of a fault: most are over within the first, some outlast any session. */
const FAULT_SHORT_MS = 1_500;
const FAULT_LONG_MS = 5_000;
const END_DEADLINE_MS = 60_000;
const FAULTS_AT_ONCE = 3;

/** Runs for the duration, heals everything, and resolves when all is over and closed. */
export async function runLeaseChaos(options: ChaosOptions): Promise<ChaosReport> {
  const chaos = await Chaos.begin(options);
  try {
    await chaos.run();
    return chaos.report;
  } finally {
    await chaos.end();
  }
}

class Chaos {
  readonly report = {
    violations: [] as string[],
    given: 0,
    faults: new Map<string, number>(),
    failures: new Map<string, number>(),
  };
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #contenders: readonly ChaosContender[];
  readonly #live = new Map<string, Lease[]>();
  readonly #tokens = new Map<string, bigint>();
  /** Sessions ended by who has their password. */
  readonly #condemned = new Set<bigint>();
  #isOver = false;
  /** Or is not to be disturbed. */
  #isMemberFaulty = false;

  static async begin(options: ChaosOptions): Promise<Chaos> {
    const { ensemble, clientCount, workerCount = 0 } = options;
    const contenders: ChaosContender[] = [];
    for (let index = 0; index < clientCount; index++) {
      const ports = await freePorts(ensemble.ports.length);
      const proxies = await Promise.all(
        ensemble.ports.map((target, at) => LinkProxy.listen(ports[at] ?? 0, target)),
      );
      contenders.push(new ChaosContender(proxies, index < workerCount));
    }
    return new Chaos(options, contenders);
  }

  private constructor(options: ChaosOptions, contenders: readonly ChaosContender[]) {
    this.#options = options;
    this.#random = options.random;
    this.#contenders = contenders;
  }

  async run(): Promise<void> {
    const { durationMs } = this.#options;
    const working = Promise.all(this.#contenders.map((contender) => this.#work(contender)));
    const endMs = performance.now() + durationMs;
    const faults = Array.from({ length: FAULTS_AT_ONCE }, () => this.#disturb(endMs));
    await Promise.all(faults);
    this.#isOver = true;
    await within('every acquire ends once all is healed', END_DEADLINE_MS, working).catch(
      (error: unknown) => {
        throw new Error(this.#doings(), { cause: error });
      },
    );
    for (const { client } of this.#contenders) await this.#untilIdle(client);
    for (const { client } of this.#contenders) await client.close();
    await this.#untilNothingIsLeft();
  }

  #doings(): string {
    return this.#contenders
      .map(({ client, doing }) => `${client.session?.id.toString(16)} ${client.state} ${doing}`)
      .join('\n');
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const { client, proxies } of this.#contenders) {
      await client.close();
      for (const proxy of proxies) await proxy.close();
    }
  }

  async #work(contender: ChaosContender): Promise<void> {
    const random = new Random(this.#random.below(2 ** 32));
    while (!this.#isOver) {
      const { client } = contender;
      const kind = random.pick(chaosKinds);
      contender.doing = `acquires a ${kind.name}`;
      try {
        const lease = await kind.acquire(client, random, waitOf(random));
        this.#onGiven(kind, lease);
        contender.lease = lease;
        contender.doing = `holds ${lease.path}`;
        await hold(client, random, lease.signal);
        contender.doing = `releases ${lease.path}`;
        const released = lease.release();
        if (random.below(2) === 0) await released;
        else released.catch((error: unknown) => this.#violate('release() rejected', error));
      } catch (error) {
        this.#onFailure(kind, error);
        if (client.state === 'closed') await pause(20);
      }
      contender.lease = null;
    }
    contender.doing = 'nothing';
  }

  /** In the turn in which the lease is given. */
  #onGiven(kind: ChaosKind, given: Lease | MultiLease): void {
    this.report.given++;
    for (const lease of 'leases' in given ? given.leases : [given]) {
      const resource = kind.resourceOf(lease);
      const rules = chaosRules(resource);
      const live = (this.#live.get(resource) ?? []).filter(
        ({ held, sessionId }) => held && !this.#condemned.has(sessionId),
      );
      if (lease.held && !this.#condemned.has(lease.sessionId)) live.push(lease);
      this.#live.set(resource, live);
      if (!rules.mayCoexist(live)) {
        const who = live.map(({ path, sessionId }) => `${path} of ${sessionId.toString(16)}`);
        this.report.violations.push(`held at once: ${who.join(', ')}`);
      }
      const last = this.#tokens.get(resource) ?? 0n;
      if (rules.isExclusive && lease.fencingToken <= last) {
        this.report.violations.push(`${resource}: token ${lease.fencingToken} after ${last}`);
      }
      if (lease.fencingToken > last) this.#tokens.set(resource, lease.fencingToken);
    }
  }

  #onFailure(kind: ChaosKind, error: unknown): void {
    const name = error instanceof Error ? error.name : String(error);
    count(this.report.failures, name);
    const isPlain =
      error instanceof LockTimeoutError ||
      error instanceof OperationAbortedError ||
      error instanceof SessionExpiredError ||
      error instanceof ClientClosedError ||
      error instanceof LeaseLostError;
    if (!isPlain) this.#violate(`acquire of ${kind.name} failed`, error);
  }

  #violate(what: string, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.report.violations.push(`${what}: ${text}`);
  }

  async #disturb(endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      const fault = this.#random.pick(FAULTS);
      const contender = this.#random.pick(this.#contenders);
      count(this.report.faults, fault);
      const mostMs = this.#random.below(3) === 0 ? FAULT_LONG_MS : FAULT_SHORT_MS;
      await this.#inflict(fault, contender, Math.min(mostMs, endMs - performance.now()));
      await pause(this.#random.below(400));
    }
  }

  async #inflict(fault: Fault, contender: ChaosContender, mostMs: number): Promise<void> {
    const ms = this.#random.below(Math.max(mostMs, 1));
    const { proxies } = contender;
    switch (fault) {
      case 'reset':
        for (const proxy of proxies) proxy.reset();
        return;
      case 'cut-holders':
        return await this.#outlastSessions();
      case 'cut':
        contender.cut();
        await pause(ms);
        return contender.pass();
      case 'half-open': {
        const direction = this.#random.pick(['out', 'back'] as const);
        for (const proxy of proxies) proxy.hold(direction);
        await pause(ms);
        return contender.pass();
      }
      case 'delay':
        for (const proxy of proxies) proxy.delay(this.#random.below(300));
        await pause(ms);
        return contender.pass();
      case 'move':
        return contender.moveTo(this.#random.pick(contender.hosts));
      case 'close':
        return await this.#replace(contender);
      case 'end-session':
        return await this.#endSession(contender.client);
      case 'freeze':
      case 'kill':
        return await this.#disturbMember(fault, ms);
      case 'stall':
        // Stands still without using a processor.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
        return;
    }
  }

  /**
   * All who hold something are cut off for longer than their sessions last. A new leader would give
   * every session its whole time again, so the members are left alone meanwhile.
   */
  async #outlastSessions(): Promise<void> {
    if (this.#isMemberFaulty) return;
    this.#isMemberFaulty = true;
    const holders = this.#contenders.filter(({ lease }) => lease !== null);
    for (const holder of holders) holder.cut();
    await pause(FAULT_LONG_MS);
    for (const holder of holders) holder.pass();
    this.#isMemberFaulty = false;
  }

  async #replace(contender: ChaosContender): Promise<void> {
    const old = await contender.replace();
    await until('a closed client has no watch', END_DEADLINE_MS, () => {
      return old.watchCount === 0 && old.deletionCount === 0 ? true : undefined;
    });
  }

  async #endSession({ session, lastZxidSeen }: Client): Promise<void> {
    const [port] = this.#options.ensemble.running.map(({ clientPort }) => clientPort);
    if (session === null || port === undefined || this.#isMemberFaulty) return;
    const { id, password, timeoutMs } = session;
    this.#condemned.add(id);
    try {
      const other = await WireClient.connect({
        port,
        session: { id: toInt64(id), password, timeoutMs },
        lastZxidSeen: toInt64(lastZxidSeen),
      });
      await other.close();
    } catch {
      // It is over already, or the member was disturbed meanwhile.
    }
  }

  /** One member at a time, so that there is a quorum again and again. */
  async #disturbMember(fault: 'freeze' | 'kill', ms: number): Promise<void> {
    if (this.#isMemberFaulty) return;
    this.#isMemberFaulty = true;
    const { ensemble } = this.#options;
    const member = this.#random.pick(ensemble.members);
    if (fault === 'freeze') member.freeze();
    else await member.kill();
    await pause(ms);
    if (fault === 'freeze') member.thaw();
    else ensemble.start([member.id]);
    await ensemble.serving();
    this.#isMemberFaulty = false;
  }

  /** Deletions in the background have their time. */
  async #untilIdle(client: Client): Promise<void> {
    await until('no watch and no deletion is left', END_DEADLINE_MS, () => {
      if (client.watchCount === 0 && client.deletionCount === 0) return true;
      throw new Error(`${client.watchCount} watches, ${client.deletionCount} deletions`);
    });
  }

  async #untilNothingIsLeft(): Promise<void> {
    const hosts = this.#options.ensemble.ports.map((port) => `127.0.0.1:${port}`);
    const control = createClient(hosts.join(','));
    try {
      await untilEmpty(control, CHAOS_BASE);
    } finally {
      await control.close();
    }
  }
}

const FAULTS = [
  ...['reset', 'cut', 'cut', 'cut-holders', 'half-open', 'half-open', 'delay', 'move'],
  ...['close', 'end-session', 'freeze', 'kill', 'stall', 'cut-holders'],
] as const satisfies readonly string[];
type Fault = (typeof FAULTS)[number];

function waitOf(random: Random): { readonly timeoutMs?: number; readonly signal?: AbortSignal } {
  switch (random.below(4)) {
    case 0:
      return { timeoutMs: 100 + random.below(3_000) };
    case 1:
      return { signal: AbortSignal.timeout(100 + random.below(3_000)) };
    default:
      return {};
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** As long as it can be held without a connection: else only short leases would be tested. */
async function hold(client: Client, random: Random, signal: AbortSignal): Promise<void> {
  await pauseUnlessAborted(random.below(random.below(10) === 0 ? 3_000 : 60), signal);
  while (!signal.aborted && client.state === 'suspended') await pauseUnlessAborted(20, signal);
}

function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
