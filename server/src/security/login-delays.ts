/**
 * Delays logins of a user from an address after failed ones.
 *
 * The first few failures cost nothing, because people mistype. Each further one doubles the delay,
 * up to half a minute; one is forgiven for each minute without another. Failures count per user and
 * address together, so that behind a proxy no user waits for the mistakes of another. A few users
 * of an address are told apart; all further ones count as one, so that guessing with many names is
 * slowed down as well. Addresses of other networks are never delayed, and neither are requests that
 * are no logins. The table is bounded: when it is full, the address whose last failure is longest
 * ago is forgotten. A success forgives nothing, because the owner of one account could otherwise
 * guess another's password between its own logins. Time is an argument. Shared by the client port
 * and the admin port.
 */
import { addressGroup } from './address-group.js';

/** Who tries to log in. */
interface LoginOrigin {
  readonly address: string;
  /** The name as it came, whether there is such a user or not; '' if none is named. */
  readonly user: string;
}

export interface LoginFailure {
  /** The client's address as the connection has it, for a log line. */
  readonly address: string;
  /** The number of failures that count at present, this one included. */
  readonly failures: number;
  /** How long the next attempt of this user from there has to wait. */
  readonly waitMs: number;
  /** Whether so many users failed there that this one was not told apart from others. */
  readonly isOfMany: boolean;
}

interface Failures {
  count: number;
  lastMs: number;
  /** The time at which the next attempt is looked at. */
  nextMs: number;
}

/** The failures from one address. */
interface Origins {
  readonly users: Map<string, Failures>;
  /** Those of all users that came when `users` was full. */
  others: Failures | null;
}

export const FREE_FAILURES = 5;
/** The users of an address that are told apart. */
export const USERS_MAX = 8;
/** Users with longer names, which are rare, count as one. */
const NAME_CHARACTERS_MAX = 64;
const LONG_NAME = '*'.repeat(NAME_CHARACTERS_MAX + 1);
const FIRST_DELAY_MS = 250;
export const LONGEST_DELAY_MS = 30_000;
/** The failures after which the delay does not grow any more. */
const FAILURES_MAX = FREE_FAILURES + 1 + Math.ceil(Math.log2(LONGEST_DELAY_MS / FIRST_DELAY_MS));
const FORGIVEN_MS = 60_000;
const ADDRESSES_MAX = 10_000;

export class LoginDelays {
  readonly #onDelay: (failure: LoginFailure) => void;
  readonly #addressesMax: number;
  /** What failed by the group of the address; the group that failed longest ago comes first. */
  readonly #origins = new Map<string, Origins>();
  #delayed = 0;

  /** `onDelay` is called for each failure that makes the next attempt wait. */
  constructor(
    onDelay: (failure: LoginFailure) => void = () => undefined,
    addressesMax = ADDRESSES_MAX,
  ) {
    this.#onDelay = onDelay;
    this.#addressesMax = addressesMax;
  }

  /** The number of attempts that had to wait, or were refused because of it. */
  get delayed(): number {
    return this.#delayed;
  }

  /** The number of addresses that are kept. */
  get addressCount(): number {
    return this.#origins.size;
  }

  /** 0 for an attempt that may be looked at now. */
  waitMs({ address, user }: LoginOrigin, nowMs: number): number {
    const origins = this.#origins.get(addressGroup(address));
    if (origins === undefined) return 0;
    const own = origins.users.get(countedName(user));
    const counted = own ?? (hasRoom(origins, nowMs) ? null : origins.others);
    return Math.max(0, (counted?.nextMs ?? nowMs) - nowMs);
  }

  /** Counts an attempt that has to wait. */
  noteDelayed(): void {
    this.#delayed += 1;
  }

  /** An attempt was looked at, and was wrong. */
  failed({ address, user }: LoginOrigin, nowMs: number): void {
    const group = addressGroup(address);
    const origins = this.#origins.get(group) ?? { users: new Map(), others: null };
    const key = countedName(user);
    const own = origins.users.get(key);
    const isOfMany = own === undefined && !hasRoom(origins, nowMs);
    const failures = oneMore((isOfMany ? origins.others : own) ?? null, nowMs);
    if (isOfMany) {
      origins.others = failures;
    } else {
      forgetForgiven(origins, nowMs);
      // A copy, because the name may be a part of a long text, which it would keep in memory.
      origins.users.set(own === undefined ? Buffer.from(key).toString() : key, failures);
    }
    this.#origins.delete(group);
    this.#origins.set(group, origins);
    if (this.#origins.size > this.#addressesMax) this.#forgetOldest();
    const { count, nextMs } = failures;
    if (nextMs > nowMs) {
      this.#onDelay({ address, failures: count, waitMs: nextMs - nowMs, isOfMany });
    }
  }

  #forgetOldest(): void {
    for (const group of this.#origins.keys()) {
      this.#origins.delete(group);
      return;
    }
  }
}

function countedName(user: string): string {
  return user.length > NAME_CHARACTERS_MAX ? LONG_NAME : user;
}

/** Whether one more user can be told apart. */
function hasRoom({ users }: Origins, nowMs: number): boolean {
  if (users.size < USERS_MAX) return true;
  return [...users.values()].some((one) => leftOf(one, nowMs) === 0);
}

function forgetForgiven({ users }: Origins, nowMs: number): void {
  for (const [key, one] of users) if (leftOf(one, nowMs) === 0) users.delete(key);
}

/** The failures that are not forgiven. */
function leftOf({ count, lastMs }: Failures, nowMs: number): number {
  return Math.max(0, count - Math.floor((nowMs - lastMs) / FORGIVEN_MS));
}

function oneMore(before: Failures | null, nowMs: number): Failures {
  const left = before === null ? 0 : leftOf(before, nowMs);
  const count = Math.min(left + 1, FAILURES_MAX);
  return { count, lastMs: nowMs, nextMs: nowMs + delayOf(count) };
}

function delayOf(failures: number): number {
  if (failures <= FREE_FAILURES) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES - 1), LONGEST_DELAY_MS);
}
