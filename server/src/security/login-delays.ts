/**
 * How long the next attempt to log in from an address has to wait, because earlier ones failed.
 *
 * The first few failures cost nothing, because people mistype. Each further one doubles the delay,
 * up to half a minute; one is forgiven for each minute without another. Addresses of other networks
 * are never delayed, and neither is what is no attempt to log in. The table is bounded: when it is
 * full, the address whose last failure is longest ago is forgotten. A success forgives nothing,
 * because whoever has one account could guess another's password between its own logins. Time is an
 * argument. Shared by the client port and the admin port.
 */
import { addressGroup } from './address-group.js';

export interface LoginFailure {
  /** The client's address as the connection has it, for a log line. */
  readonly address: string;
  /** The number of failures that count at present, this one included. */
  readonly failures: number;
  /** How long the next attempt from there has to wait. */
  readonly waitMs: number;
}

export interface LoginDelaysOptions {
  /** Called for each failure that makes the next attempt wait. */
  readonly onDelay?: (failure: LoginFailure) => void;
  readonly addressesMax?: number;
}

interface Failures {
  count: number;
  lastMs: number;
  /** The time at which the next attempt is looked at. */
  nextMs: number;
}

export const FREE_FAILURES = 5;
const FIRST_DELAY_MS = 250;
export const LONGEST_DELAY_MS = 30_000;
/** The failures after which the delay does not grow any more. */
const FAILURES_MAX = FREE_FAILURES + 1 + Math.ceil(Math.log2(LONGEST_DELAY_MS / FIRST_DELAY_MS));
const FORGIVEN_MS = 60_000;
const ADDRESSES_MAX = 10_000;

export class LoginDelays {
  readonly #onDelay: (failure: LoginFailure) => void;
  readonly #addressesMax: number;
  /** The failures by the group of the address; the group that failed longest ago comes first. */
  readonly #failures = new Map<string, Failures>();
  #delayed = 0;

  constructor({
    onDelay = () => undefined,
    addressesMax = ADDRESSES_MAX,
  }: LoginDelaysOptions = {}) {
    this.#onDelay = onDelay;
    this.#addressesMax = addressesMax;
  }

  /** The number of attempts that had to wait, or were refused because of it. */
  get delayed(): number {
    return this.#delayed;
  }

  /** The number of addresses that are kept. */
  get addresses(): number {
    return this.#failures.size;
  }

  /** 0 for an attempt that may be looked at now. */
  waitMs(address: string, nowMs: number): number {
    const nextMs = this.#failures.get(addressGroup(address))?.nextMs ?? nowMs;
    return Math.max(0, nextMs - nowMs);
  }

  /** Counts an attempt that has to wait. */
  noteDelayed(): void {
    this.#delayed += 1;
  }

  /** An attempt was looked at, and was wrong. */
  failed(address: string, nowMs: number): void {
    const group = addressGroup(address);
    const before = this.#failures.get(group);
    const forgiven = before === undefined ? 0 : Math.floor((nowMs - before.lastMs) / FORGIVEN_MS);
    const count = Math.min(Math.max(0, (before?.count ?? 0) - forgiven) + 1, FAILURES_MAX);
    const waitMs = delayOf(count);
    this.#failures.delete(group);
    this.#failures.set(group, { count, lastMs: nowMs, nextMs: nowMs + waitMs });
    if (this.#failures.size > this.#addressesMax) this.#forgetOldest();
    if (waitMs > 0) this.#onDelay({ address, failures: count, waitMs });
  }

  #forgetOldest(): void {
    for (const group of this.#failures.keys()) {
      this.#failures.delete(group);
      return;
    }
  }
}

function delayOf(failures: number): number {
  if (failures <= FREE_FAILURES) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES - 1), LONGEST_DELAY_MS);
}
