/**
 * Counters of a member and of a connection, as four-letter words show them.
 *
 * net counts bytes, requests and connections; the pipeline calls `replied` and `sentEvent`. No
 * decision depends on a count. `reset` serves srst and crst.
 */
import type { Int64 } from '@rookery/protocol';
import { Durations, Summary } from '../measures/summary.js';
import type { AuditFigures } from '../pipeline/audit.js';
import type { ReplyRecord } from '../pipeline/client-channel.js';

/** Requests that change the state, by the names that `cons` prints. All others count as reads. */
const UPDATES: ReadonlySet<string> = new Set([
  ...['CREA', 'DELE', 'SETD', 'SETA', 'MULT', 'RECO', 'CLOS', 'SESS'],
]);

export class ServerStats {
  packetsReceived = 0;
  packetsSent = 0;
  bytesReceived = 0;
  bytesSent = 0;
  /** Bytes of watch events; they also count in `bytesSent`. */
  watchBytes = 0;
  connectionRequests = 0;
  connectionsRejected = 0;
  connectionsDropped = 0;
  sessionlessExpired = 0;
  /** Streams without a session that made room for others. */
  sessionlessEvicted = 0;
  largeRequestsRejected = 0;
  /** The mask that stmk has set; before, ZooKeeper's default. */
  traceMask = 306n;
  /** Null where clients connect in plain text. */
  readonly tls: TlsFigures | null;
  /** Null where members have no TLS among themselves. */
  readonly peerTls: TlsFigures | null;
  /** Null where nothing is audited. */
  readonly audit: AuditFigures | null;
  readonly readLatency = new Durations();
  readonly updateLatency = new Durations();
  /** Connections that were refused for lack of a token. */
  readonly tokenDeficit = new Summary();
  readonly responseSizes = new ResponseSizes();

  constructor(
    parts: {
      readonly tls?: TlsFigures | undefined;
      readonly peerTls?: TlsFigures | undefined;
      readonly audit?: AuditFigures | undefined;
    } = {},
  ) {
    this.tls = parts.tls ?? null;
    this.peerTls = parts.peerTls ?? null;
    this.audit = parts.audit ?? null;
  }

  /** The latency of reads and updates together. */
  get latency(): Latency {
    const { readLatency, updateLatency } = this;
    const count = readLatency.count + updateLatency.count;
    const recorded = [readLatency, updateLatency].filter((kind) => kind.count > 0);
    return {
      count,
      averageMs: count === 0 ? 0 : (readLatency.sum + updateLatency.sum) / count,
      minMs: count === 0 ? 0 : Math.min(...recorded.map(({ min }) => min)),
      maxMs: Math.max(readLatency.max, updateLatency.max),
    };
  }

  reset(): void {
    this.packetsReceived = 0;
    this.packetsSent = 0;
    this.readLatency.reset();
    this.updateLatency.reset();
    this.responseSizes.reset();
  }
}

export class ConnectionStats {
  received = 0;
  sent = 0;
  /** The number of unanswered requests, kept by the handler. */
  outstanding = 0;
  /** The session; 0 until there is one. */
  sessionId: Int64 = 0;
  sessionTimeoutMs = 0;
  lastOperation = 'NA';
  lastXid = 0;
  lastZxid: Int64 = 0;
  lastResponseMs = 0;
  lastLatencyMs = 0;
  readonly establishedWallMs: number;
  readonly latency = new LatencyStats();

  readonly #server: ServerStats;
  #isLastUpdate = false;

  constructor(server: ServerStats, establishedWallMs: number) {
    this.#server = server;
    this.establishedWallMs = establishedWallMs;
  }

  /** Counts one reply, here and at the member. It does not keep the record, which is used again. */
  replied(reply: ReplyRecord): void {
    this.sentPackets(1);
    if (reply.operation !== this.lastOperation) {
      this.lastOperation = reply.operation;
      this.#isLastUpdate = UPDATES.has(reply.operation);
    }
    this.lastXid = reply.xid;
    this.lastZxid = reply.zxid;
    this.lastResponseMs = reply.nowMs;
    this.lastLatencyMs = reply.latencyMs;
    this.latency.record(reply.latencyMs);
    if (this.#isLastUpdate) this.#server.updateLatency.record(reply.latencyMs);
    else this.#server.readLatency.record(reply.latencyMs);
  }

  /** Counts a packet that answers nothing. */
  sentEvent(bytes: number): void {
    this.sentPackets(1);
    this.#server.watchBytes += bytes;
  }

  sentPackets(count: number): void {
    this.sent += count;
    this.#server.packetsSent += count;
  }

  receivedPackets(count: number): void {
    this.received += count;
    this.#server.packetsReceived += count;
  }

  reset(): void {
    this.received = 0;
    this.sent = 0;
    this.lastOperation = 'NA';
    this.lastXid = 0;
    this.lastZxid = 0;
    this.lastResponseMs = 0;
    this.lastLatencyMs = 0;
    this.latency.reset();
  }
}

/** What requests took since the last reset; all 0 before the first one. */
interface Latency {
  readonly count: number;
  readonly averageMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/** The same of one connection, as it is recorded. */
class LatencyStats implements Latency {
  count = 0;
  totalMs = 0;
  minMs = 0;
  maxMs = 0;

  get averageMs(): number {
    return this.count === 0 ? 0 : this.totalMs / this.count;
  }

  record(latencyMs: number): void {
    if (this.count === 0 || latencyMs < this.minMs) {
      this.minMs = latencyMs;
    }
    if (latencyMs > this.maxMs) {
      this.maxMs = latencyMs;
    }
    this.count += 1;
    this.totalMs += latencyMs;
  }

  reset(): void {
    this.count = 0;
    this.totalMs = 0;
    this.minMs = 0;
    this.maxMs = 0;
  }
}

/** Sizes of the last, smallest and largest reply, in bytes. */
class ResponseSizes {
  count = 0;
  last = -1;
  min = 0;
  max = 0;

  record(bytes: number): void {
    this.last = bytes;
    if (this.count === 0 || bytes < this.min) this.min = bytes;
    if (bytes > this.max) this.max = bytes;
    this.count += 1;
  }

  reset(): void {
    this.count = 0;
    this.last = -1;
    this.min = 0;
    this.max = 0;
  }
}

export const TLS_FAILURES = [
  /** The client presented no certificate, and must. */
  'no_certificate',
  /** Its certificate is expired, revoked, or of an authority that is not trusted. */
  'bad_certificate',
  /** It did not finish the handshake in time. */
  'timeout',
  /** It said why it does not go on, mostly that it does not accept this member's certificate. */
  'alert',
  /** It went away without a word, mostly for the same reason. */
  'closed',
  /** It does not speak TLS, or no version and cipher that are allowed here. */
  'protocol',
  /** Too many handshakes were under way. */
  'too_many',
] as const;
export type TlsFailure = (typeof TLS_FAILURES)[number];

/**
 * Counts TLS at the client port or between members, and says when the certificate, the authorities
 * and the revocation lists expire. The kinds of failures are few and fixed, whatever a stranger
 * sends.
 */
export class TlsFigures {
  /** Handshakes that succeeded, and those among them that resumed an earlier session. */
  secured = 0;
  resumed = 0;
  underWay = 0;
  /** Connections that sent frames without TLS where TLS is required. */
  plainRefused = 0;
  /** When the first one of this member's chain of certificates expires, ms since 1970. */
  expiresWallMs = 0;
  /** When the first authority of its `caFile` expires, ms since 1970; null without any. */
  authorityExpiresWallMs: number | null = null;
  /** When the first of its revocation lists expires, ms since 1970; null where none does. */
  listsEndWallMs: number | null = null;
  /** Whether the files of certificates have changed into something that cannot be used. */
  isStale = false;
  readonly #failures = new Map<TlsFailure, number>();

  failed(kind: TlsFailure): void {
    this.#failures.set(kind, this.failures(kind) + 1);
  }

  failures(kind: TlsFailure): number {
    return this.#failures.get(kind) ?? 0;
  }
}
