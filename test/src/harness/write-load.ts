/**
 * A load of pipelined writes from several clients, and a ledger of the outcome of each.
 *
 * Every attempt creates a name that was never used before. Its reply makes it acknowledged or
 * refused; a connection that ends before the reply makes it unknown, and it is never repeated.
 * Every tenth attempt is a multi that must fail: its name is refused and must never appear. A
 * client whose connection ends continues at the next member, with its session while that lives.
 */
import { ErrorCode, type Int64 } from '@rookery/protocol';
import {
  ensure,
  multiFailed,
  OperationError,
  sendCreate,
  sendRefusedCreate,
} from './operations.js';
import { deferred, until, within } from './wait.js';
import { type Reply, SessionExpired, WireClient } from './wire-client.js';

/** Bounds the rate: each client fills its window at most this often. */
const FILL_INTERVAL_MS = 5;
const REFUSED_EVERY = 10;
const START_DEADLINE_MS = 30_000;

export interface WriteLoadOptions {
  readonly ports: readonly number[];
  readonly clients?: number;
  /** Requests in flight per client. */
  readonly window?: number;
  readonly sessionTimeoutMs?: number;
  /** The parent of everything that the load creates; each load has a parent of its own. */
  readonly parent?: string;
}

/** The outcome of the names below one parent. */
export interface Ledger {
  readonly parent: string;
  /** With the zxid of the reply, in the order of the replies. */
  readonly acknowledged: Map<string, Int64>;
  readonly refused: Set<string>;
  readonly unknown: Set<string>;
}

export class WriteLoad {
  readonly ledgers: readonly Ledger[];
  readonly #options: Required<WriteLoadOptions>;
  /** When writes were acknowledged, by `performance.now()`; one entry per burst of replies. */
  readonly #acknowledgements: number[] = [];
  readonly #loops: Promise<void>[] = [];
  readonly #watchers = new Set<() => void>();
  #acknowledged = 0;
  #stopping = false;

  constructor(options: WriteLoadOptions) {
    this.#options = {
      clients: 4,
      window: 4,
      sessionTimeoutMs: 10_000,
      parent: '/load',
      ...options,
    };
    this.ledgers = Array.from({ length: this.#options.clients }, (_, index) => ({
      parent: `${this.#options.parent}/${index}`,
      acknowledged: new Map<string, Int64>(),
      refused: new Set<string>(),
      unknown: new Set<string>(),
    }));
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  get refused(): number {
    return this.ledgers.reduce((sum, ledger) => sum + ledger.refused.size, 0);
  }

  get unknown(): number {
    return this.ledgers.reduce((sum, ledger) => sum + ledger.unknown.size, 0);
  }

  /** Resolves once every client has its parent and writes are acknowledged. */
  async start(): Promise<void> {
    await this.#makeParents();
    this.ledgers.forEach((ledger, index) => {
      this.#loops.push(this.#runClient(ledger, index));
    });
    await this.progress(this.#options.clients, START_DEADLINE_MS);
  }

  /** Resolves when this many more writes have been acknowledged. */
  async progress(writes: number, deadlineMs: number): Promise<void> {
    const target = this.#acknowledged + writes;
    const reached = deferred<void>();
    const look = () => {
      if (this.#acknowledged >= target) reached.resolve();
    };
    this.#watchers.add(look);
    try {
      await within(`${writes} more acknowledged writes`, deadlineMs, reached.promise);
    } finally {
      this.#watchers.delete(look);
    }
  }

  /** Sends no more requests, and waits until every attempt has its outcome. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
  }

  /** The longest time without an acknowledgement since `from`. */
  longestGapMs(from: number, to = performance.now()): number {
    const times = [from, ...this.#acknowledgements.filter((at) => at > from && at < to), to];
    return times.reduce((worst, at, index) => Math.max(worst, at - (times[index - 1] ?? at)), 0);
  }

  async #makeParents(): Promise<void> {
    const { parent, ports } = this.#options;
    await until('the parents of the load exist', START_DEADLINE_MS, async () => {
      for (const port of ports) {
        const client = await WireClient.connect({ port }).catch(() => undefined);
        if (client === undefined) continue;
        for (const path of [parent, ...this.ledgers.map((l) => l.parent)]) {
          await ensure(client, path);
        }
        await client.close();
        return true;
      }
      return undefined;
    });
  }

  async #runClient(ledger: Ledger, index: number): Promise<void> {
    let at = index;
    let previous: WireClient | undefined;
    let name = 0;
    while (!this.#stopping) {
      const client = await this.#connect(at, previous).catch((error: unknown) => {
        if (error instanceof SessionExpired) previous = undefined;
        return undefined;
      });
      at += 1;
      if (client === undefined) {
        await pause();
        continue;
      }
      previous = client;
      name = await this.#writeUntilLost(client, ledger, name);
    }
    await previous?.close();
  }

  #connect(at: number, previous: WireClient | undefined): Promise<WireClient> {
    const { ports, sessionTimeoutMs } = this.#options;
    const port = ports[at % ports.length] ?? 0;
    const options = { port, timeoutMs: sessionTimeoutMs, recording: false };
    if (previous === undefined) return WireClient.connect(options);
    const { session, lastZxid } = previous;
    return WireClient.connect({ ...options, session, lastZxidSeen: lastZxid });
  }

  /** Keeps the window full until the connection ends or the load stops; returns the next name. */
  async #writeUntilLost(client: WireClient, ledger: Ledger, first: number): Promise<number> {
    let name = first;
    const inFlight = new Set<Promise<void>>();
    while (client.open && !this.#stopping) {
      client.pipeline(() => {
        while (inFlight.size < this.#options.window) {
          const attempt = this.#attempt(client, ledger, name);
          name += 1;
          inFlight.add(attempt);
          void attempt.then(() => inFlight.delete(attempt));
        }
      });
      await pause();
    }
    await within('the outcome of the last writes', START_DEADLINE_MS, Promise.all(inFlight)).catch(
      () => client.drop(),
    );
    await Promise.all(inFlight);
    return name;
  }

  async #attempt(client: WireClient, ledger: Ledger, number: number): Promise<void> {
    const name = number.toString(36);
    const path = `${ledger.parent}/${name}`;
    const mustFail = number % REFUSED_EVERY === REFUSED_EVERY - 1;
    // The outcome is first recorded as unknown, which it remains if no reply comes.
    ledger.unknown.add(name);
    const sent = mustFail ? sendRefusedCreate(client, path) : sendCreate(client, path);
    const reply = await sent.catch(() => undefined);
    if (reply === undefined) return;
    ledger.unknown.delete(name);
    const failed = mustFail ? multiFailed(reply) : reply.error !== 0;
    if (failed) ledger.refused.add(name);
    else ledger.acknowledged.set(name, reply.zxid);
    checkOutcome(reply, { path, mustFail, failed });
    if (!failed) this.#onAcknowledged();
  }

  #onAcknowledged(): void {
    this.#acknowledged += 1;
    const now = performance.now();
    if (now - (this.#acknowledgements.at(-1) ?? 0) >= 1) this.#acknowledgements.push(now);
    for (const look of this.#watchers) look();
  }
}

interface Outcome {
  readonly path: string;
  readonly mustFail: boolean;
  readonly failed: boolean;
}

/** These two answers would be wrong whatever happened around them. */
function checkOutcome(reply: Reply, outcome: Outcome): void {
  if (outcome.mustFail && !outcome.failed) {
    throw new OperationError(0, `a multi whose check cannot hold, at ${outcome.path}`);
  }
  if (reply.error === ErrorCode.nodeExists) {
    throw new OperationError(reply.error, `the first create ever of ${outcome.path}`);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FILL_INTERVAL_MS);
  });
}
