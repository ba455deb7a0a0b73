/**
 * NonBlockingLease: the right to do something until a given time, for work that should stay on one
 * machine, such as hourly jobs. A request for it never waits for another holder.
 * MultiNonBlockingLease is the same for several holders at a time.
 *
 * **Guarantee.** Until `endsAtMs`, by their own clocks, no other holder obtains it, so it is only
 * as good as the clocks agree. It outlives processes and sessions: a holder that comes back with
 * the same name renews it. It is not a lock and has neither a signal nor a fencing token.
 *
 * **Znodes.** The same as for kazoo: `<path>/lease_holder`, persistent, has the JSON `{"version":
 * 1, "holder": name, "end": "YYYY-MM-DDTHH:MM:SS"}` in UTC. It is read and written under a kazoo
 * Lock on `<path>`. MultiNonBlockingLease has such leases at `<path>/0`, `<path>/1`...
 *
 * **Suspended, lost.** A lease that was obtained is not affected. A request behaves like that of a
 * Lock.
 */
import { hostname } from 'node:os';
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import type { TransactionOp } from '../api/transaction.js';
import type { Acl, Node } from '../api/values.js';
import { Lock } from './lock.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface NonBlockingLeaseOptions {
  /** How long it is obtained for, in milliseconds. Its end is rounded down to a whole second. */
  readonly durationMs: number;
  /**
   * The name of the holder, this machine's name by default. Processes with the same name are the
   * same holder.
   */
  readonly holder?: string | undefined;
  readonly acl?: readonly Acl[] | undefined;
  /** The clock, in milliseconds since 1970; the system's clock by default. */
  readonly wallClockMs?: (() => number) | undefined;
}

export interface ObtainedLease {
  readonly path: string;
  readonly holder: string;
  /** Milliseconds since 1970. */
  readonly endsAtMs: number;
}

interface Entry {
  readonly version: number;
  readonly holder: string;
  readonly endsAtMs: number;
}

const VERSION = 1;
const COUNT_MAX = 10_000;

export class NonBlockingLease {
  readonly path: string;
  readonly #client: Client;
  readonly #options: NonBlockingLeaseOptions;
  readonly #holder: string;
  readonly #lock: Lock;

  constructor(client: Client, path: string, options: NonBlockingLeaseOptions) {
    const { durationMs, holder = hostname(), acl } = options;
    if (!(durationMs > 0)) throw new OptionError('durationMs', 'must be more than 0');
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#holder = holder;
    const lockOptions = { naming: 'kazoo', data: holder } as const;
    this.#lock = new Lock(client, path, acl === undefined ? lockOptions : { ...lockOptions, acl });
  }

  /**
   * Resolves with the lease if it was obtained or renewed, or null if another holder has it.
   * Rejects with the errors of Lock.acquire, and with ConnectionLossError or LeaseLostError if the
   * connection is lost while the lease is written; it may be obtained then, and asking again is
   * safe.
   */
  async obtain(options: WaitOptions = {}): Promise<ObtainedLease | null> {
    return await this.#lock.run(async (lease) => {
      const { signal } = lease;
      const path = joinPath(this.path, 'lease_holder');
      const node = await this.#read(path, signal);
      const nowMs = (this.#options.wallClockMs ?? Date.now)();
      if (node !== null && !this.#mayTake(node, nowMs)) return null;
      const endsAtMs = Math.floor((nowMs + this.#options.durationMs) / 1000) * 1000;
      const record = { version: VERSION, holder: this.#holder, endsAtMs };
      // Fenced, because the lock alone would not stop a process that was paused while it held it.
      await this.#client.fenced(lease, [this.#write(path, node, record)], { signal });
      return { path: this.path, holder: this.#holder, endsAtMs };
    }, options);
  }

  #mayTake(node: Node, nowMs: number): boolean {
    const record = decode(node.data);
    if (record?.version !== VERSION) {
      const path = joinPath(this.path, 'lease_holder');
      const message = `the lease cannot be obtained until ${path} is deleted: its data is no record`;
      this.#client.log.warn('lease.invalid_record', message, { path });
      return false;
    }
    return record.holder === this.#holder || nowMs >= record.endsAtMs;
  }

  #write(path: string, node: Node | null, record: Entry): TransactionOp {
    const data = encode(record);
    if (node !== null) return { kind: 'setData', path, data, version: node.stat.version };
    const { acl } = this.#options;
    return acl === undefined ? { kind: 'create', path, data } : { kind: 'create', path, data, acl };
  }

  async #read(path: string, signal: AbortSignal): Promise<Node | null> {
    try {
      return await this.#client.getData(path, { signal });
    } catch (error) {
      if (error instanceof NoNodeError) return null;
      throw error;
    }
  }
}

export class MultiNonBlockingLease {
  readonly path: string;
  readonly #leases: readonly NonBlockingLease[];

  /** `count` holders at a time, an integer from 1 to 10,000. Throws OptionError. */
  constructor(client: Client, path: string, options: NonBlockingLeaseOptions & { count: number }) {
    const { count } = options;
    if (!(Number.isSafeInteger(count) && count >= 1 && count <= COUNT_MAX)) {
      throw new OptionError('count', `must be an integer from 1 to 10,000, is ${count}`);
    }
    this.path = path;
    this.#leases = Array.from(
      { length: count },
      (_, index) => new NonBlockingLease(client, joinPath(path, String(index)), options),
    );
  }

  /**
   * Resolves with the first lease that can be obtained or renewed; null if others have all.
   * `timeoutMs` applies to each of them.
   */
  async obtain(options: WaitOptions = {}): Promise<ObtainedLease | null> {
    for (const lease of this.#leases) {
      const obtained = await lease.obtain(options);
      if (obtained !== null) return obtained;
    }
    return null;
  }
}

function encode({ version, holder, endsAtMs }: Entry): string {
  const end = new Date(endsAtMs).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  return JSON.stringify({ version, holder, end });
}

/** Null if the data is not such a record. */
function decode(data: Buffer | null): Entry | null {
  let value: unknown;
  try {
    value = JSON.parse(data?.toString() ?? '');
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (!('version' in value && 'holder' in value && 'end' in value)) return null;
  const { version, holder, end } = value;
  if (typeof version !== 'number' || typeof holder !== 'string') return null;
  const endsAtMs = typeof end === 'string' ? Date.parse(`${end}Z`) : Number.NaN;
  return Number.isNaN(endsAtMs) ? null : { version, holder, endsAtMs };
}
