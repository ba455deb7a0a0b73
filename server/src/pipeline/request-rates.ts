/**
 * Bounds the requests per second of each client.
 *
 * A client is the identity that its certificate or SASL proves, or else its address, because any
 * digest can be claimed. All its connections share a bucket of tokens, which holds those of one
 * second. Past it, the client's requests wait, which is how ZooKeeper throttles: none fails. Its
 * connections are served round-robin, one request each, and other clients do not notice. Super
 * users and this process itself are not bounded. A connection that waits is asked regularly whether
 * its client was heard from, until it has waited for the session's timeout without having one
 * request let in. So the session of a client that sends lives on, and that of a client that is gone
 * ends as usual, whatever still waits of it. Off by default. Time is an argument.
 */
import type { Identity } from '@rookery/protocol';
import { addressGroup } from '../security/address-group.js';
import { type Identities, SUPER_SCHEME } from './access.js';
import type { Connection } from './connection.js';

interface Bucket {
  readonly key: string;
  /** Below 0 while more requests have come than there were tokens. */
  tokens: number;
  atMs: number;
  /** Connections whose requests wait, in their order, with the time since when. */
  readonly waiting: Map<Connection, number>;
}

interface Known {
  /** The identities that the connection had when its bucket was found. */
  readonly identities: Identities;
  /** Null for a connection that is not bounded. */
  readonly bucket: Bucket | null;
}

/**
 * Connections that wait are asked this often: several times within a timeout of some seconds. If
 * the timeout of a session is shorter than this and a tick, its connection may not be asked at all
 * before it has waited for longer than the timeout. The leader then hears of that session for the
 * last time when the wait begins.
 */
const ASK_MS = 500;

export class RequestRates {
  readonly #perSecond: number;
  readonly #known = new Map<Connection, Known>();
  /** The buckets that are not full, or have connections that wait. */
  readonly #buckets = new Map<string, Bucket>();
  #waiting = 0;
  #pauses = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  /** 0 for no bound. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** The number of connections whose requests wait at present. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How often a connection had to wait so far. */
  get pauses(): number {
    return this.#pauses;
  }

  /** The number of clients that are kept: those that wait, or have sent something recently. */
  get clientCount(): number {
    return this.#buckets.size;
  }

  /** A connection of a client that is past its bound waits at once. */
  onOpen(connection: Connection, nowMs: number): void {
    if (this.#perSecond === 0) return;
    const bucket = this.#bucketOf(connection, nowMs);
    if (bucket === null) return;
    if (bucket.tokens < 1 || bucket.waiting.size > 0) this.#hold(connection, bucket, nowMs);
  }

  /** Counts a frame of the connection. If it is one too many, the next one waits. */
  onFrame(connection: Connection, nowMs: number): void {
    if (this.#perSecond === 0) return;
    const bucket = this.#bucketOf(connection, nowMs);
    if (bucket === null) return;
    bucket.tokens -= 1;
    if (bucket.tokens < 1 || bucket.waiting.size > 0) this.#hold(connection, bucket, nowMs);
  }

  /**
   * Lets in as many of the connections that wait, in their order, as there are tokens. `onWaits` is
   * called regularly for those that go on waiting, until a wait is longer than the session's
   * timeout.
   */
  onTick(nowMs: number, onWaits: (connection: Connection) => void): void {
    if (this.#buckets.size === 0) return;
    const isAsked = nowMs - this.#askedAtMs >= ASK_MS;
    if (isAsked) this.#askedAtMs = nowMs;
    for (const bucket of this.#buckets.values()) {
      this.#refill(bucket, nowMs);
      let left = Math.floor(bucket.tokens);
      for (const [connection, sinceMs] of bucket.waiting) {
        if (left > 0) {
          left -= 1;
          bucket.waiting.delete(connection);
          this.#waiting -= 1;
          connection.channel.release('rate');
        } else if (!isAsked) {
          break;
        } else if (nowMs - sinceMs <= connection.timeoutMs) {
          onWaits(connection);
        }
      }
      const isFull = bucket.tokens >= this.#perSecond;
      if (isFull && bucket.waiting.size === 0) this.#buckets.delete(bucket.key);
    }
  }

  /** The connection is gone. Its bucket stays until it is full again. */
  forget(connection: Connection): void {
    const bucket = this.#known.get(connection)?.bucket ?? null;
    this.#known.delete(connection);
    if (bucket?.waiting.delete(connection) === true) this.#waiting -= 1;
  }

  #hold(connection: Connection, bucket: Bucket, nowMs: number): void {
    if (bucket.waiting.has(connection)) return;
    bucket.waiting.set(connection, nowMs);
    this.#waiting += 1;
    this.#pauses += 1;
    connection.channel.hold('rate');
  }

  #bucketOf(connection: Connection, nowMs: number): Bucket | null {
    const { identities } = connection.requester;
    const known = this.#known.get(connection);
    if (known?.identities === identities) {
      // A bucket that was full and nobody's is made anew by whoever comes first.
      if (known.bucket === null || this.#buckets.get(known.bucket.key) === known.bucket) {
        if (known.bucket !== null) this.#refill(known.bucket, nowMs);
        return known.bucket;
      }
    }
    const key = keyOf(connection);
    const bucket = key === null ? null : this.#bucketFor(key, nowMs);
    this.#known.set(connection, { identities, bucket });
    return bucket;
  }

  #bucketFor(key: string, nowMs: number): Bucket {
    const existing = this.#buckets.get(key);
    if (existing !== undefined) {
      this.#refill(existing, nowMs);
      return existing;
    }
    const bucket = { key, tokens: this.#perSecond, atMs: nowMs, waiting: new Map() };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #refill(bucket: Bucket, nowMs: number): void {
    const gained = ((nowMs - bucket.atMs) * this.#perSecond) / 1000;
    bucket.tokens = Math.min(this.#perSecond, bucket.tokens + gained);
    bucket.atMs = nowMs;
  }
}

/** Null for a connection that is not bounded. */
function keyOf({ requester, channel }: Connection): string | null {
  const { identities } = requester;
  if (channel.remoteAddress === '') return null;
  if (identities.some(({ scheme }) => scheme === SUPER_SCHEME)) return null;
  // The oldest one, so that a client changes nothing by proving a further one.
  const proven = identities.findLast(isProven);
  if (proven !== undefined) return `${proven.scheme}:${proven.id}`;
  return `ip:${addressGroup(channel.remoteAddress)}`;
}

function isProven({ scheme }: Identity): boolean {
  return scheme === 'x509' || scheme === 'sasl';
}
