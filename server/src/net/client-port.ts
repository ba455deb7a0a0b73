/**
 * The port that clients connect to.
 *
 * Owns the listener, every client connection, and the checks before one is accepted: the limit of
 * connections per address, the timeout of streams without a session, and telling four-letter words
 * from frames. It never looks into a frame. All output of a turn is sent in
 * `flush()`, one write per connection. Driven by the driver.
 */
import { addressText, assert, type Identity, JuteReader, SlabPool } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ListenAddress } from '../config/addresses.js';
import type { AuditSink } from '../pipeline/audit.js';
import { addressGroup, isLoopbackAddress } from '../security/address-group.js';
import { DerError } from '../security/der-reader.js';
import { alternativeNames, x509Name } from '../security/x509-name.js';
import {
  ClientShare,
  InputPace,
  SharedBudget,
  TURN_SHARE,
  type TurnShare,
} from './backpressure.js';
import { ClientConnection, type ClientHandler, type ConnectionOwner } from './client-connection.js';
import { foreignAtClientPort } from './foreign-protocol.js';
import type { FourLetterWhitelist } from './four-letter/words.js';
import { ListenError } from './listen-error.js';
import type { MemberView } from './member-view.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { ConnectionStats, type ServerStats } from './server-stats.js';
import {
  SESSIONLESS_TIMEOUT_MS,
  type SessionlessOwner,
  SessionlessStreams,
} from './sessionless-streams.js';
import type { Timers } from './timers.js';
import type { ByteStream, Listener, ListenOptions, Secured, Transport } from './transport.js';
import type { ClientTls } from './watched-tls.js';
import { ProtocolSniffer, WordService } from './word-service.js';

export interface ClientPortOptions extends PlaceBounds {
  /** The next four are those of `ConnectionOwner`. */
  readonly frameBytesMax: number;
  readonly outputSoftBytes: number;
  readonly outputHardBytes: number;
  readonly offersLogins: boolean;
  readonly address: ListenAddress;
  /** The address that takes only TLS; null for none. It needs `tls`. */
  readonly secureAddress: ListenAddress | null;
  readonly whitelist: FourLetterWhitelist;
  readonly connectionTokens: TokenBucket;
  /** Bounds for the work of all connections in one turn. */
  readonly share: TurnShare;
  /** Bytes that all connections together may have read and not delivered. */
  readonly inputBytesMax: number;
  /** Bytes of output that all clients together may leave untaken; see `flush`. */
  readonly outputBytesMax: number;
}

/** Defaults for what the configuration leaves out, ZooKeeper's where it has them. */
export const CLIENT_PORT_DEFAULTS = {
  frameBytesMax: 1_048_575,
  outputSoftBytes: 1 << 20,
  outputHardBytes: 16 << 20,
  secureAddress: null,
  streamsMax: Number.POSITIVE_INFINITY,
  connectionsPerAddressMax: 0,
  boundsLoopback: true,
  offersLogins: false,
  connectionTokens: { max: 0, perSecond: 1 },
  share: TURN_SHARE,
  inputBytesMax: 256 << 20,
  outputBytesMax: 512 << 20,
} as const;

interface ClientPortParts {
  readonly options: ClientPortOptions;
  readonly transport: Transport;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly stats: ServerStats;
  readonly audit?: AuditSink | null | undefined;
  /** Absent where clients connect in plain text. */
  readonly tls?: ClientTls | undefined;
}

export class ClientPort implements ConnectionOwner, SessionlessOwner {
  readonly frameBytesMax: number;
  readonly outputSoftBytes: number;
  readonly outputHardBytes: number;
  readonly offersLogins: boolean;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly rateLimited: RateLimitedLog;
  readonly stats: ServerStats;
  readonly share: ClientShare;
  readonly pace: InputPace;
  readonly input: SharedBudget<ClientConnection>;
  readonly output: SharedBudget<ClientConnection>;
  readonly slabs = new SlabPool();
  /** Shared by all connections, for one frame at a time. */
  readonly frame = new JuteReader(new Uint8Array(0));

  readonly #options: ClientPortOptions;
  readonly #parts: ClientPortParts;
  readonly #connections = new Set<ClientConnection>();
  readonly #sessionless: SessionlessStreams;
  readonly #tokens: ConnectionTokens;
  /** The next two are null before `listen`. */
  #handler: ClientHandler | null = null;
  #words: WordService | null = null;
  /** The sniffer of each stream that has carried no frames so far, by the stream's id. */
  readonly #sniffers = new Map<number, ProtocolSniffer>();
  readonly #places: ClientPlaces;
  /** The open streams. Those that have lost their place are open until they are dropped. */
  #streams = 0;
  readonly #evicted = new Set<number>();
  #dirty: ClientConnection[] = [];
  /** Those whose output of an earlier turn is withheld. */
  readonly #withheld = new Set<ClientConnection>();
  readonly #listeners: Listener[] = [];
  #nextId = 1;
  #isClosed = false;
  #isWithheld = false;

  constructor(parts: ClientPortParts) {
    this.#parts = parts;
    const { options } = parts;
    this.#options = options;
    this.frameBytesMax = options.frameBytesMax;
    this.outputSoftBytes = options.outputSoftBytes;
    this.outputHardBytes = options.outputHardBytes;
    this.offersLogins = options.offersLogins;
    this.timers = parts.timers;
    this.logger = parts.logger;
    this.rateLimited = new RateLimitedLog(parts.logger, parts.timers);
    this.stats = parts.stats;
    this.share = new ClientShare(parts.timers, options.share);
    this.pace = new InputPace(parts.timers);
    this.input = new SharedBudget(options.inputBytesMax);
    this.output = new SharedBudget(options.outputBytesMax);
    // The other half is for streams that have a session.
    const placesMax = Math.max(1, Math.floor(options.streamsMax / 2));
    this.#sessionless = new SessionlessStreams(this, parts.timers, placesMax);
    this.#places = new ClientPlaces(options);
    this.#tokens = new ConnectionTokens(options.connectionTokens, parts.timers.nowMs());
  }

  /** The number of accepted connections, including those that are about to close. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /** The bound port; the configured one before `listen`. */
  get port(): number {
    return this.#listeners[0]?.port ?? this.#options.address.port;
  }

  get handler(): ClientHandler {
    assert(this.#handler !== null, 'the port listens');
    return this.#handler;
  }

  /**
   * Opens the ports: from now on the handler gets what clients send, and four-letter words are
   * answered from the view. Throws ListenError.
   */
  async listen(handler: ClientHandler, view: MemberView): Promise<void> {
    this.#handler = handler;
    this.#words = new WordService(this, this.#options.whitelist, view, this.#parts.audit ?? null);
    const { address, secureAddress, streamsMax } = this.#options;
    const { tls } = this.#parts;
    const common = { chunks: 'lent', streamsMax, count: { open: 0 } } as const;
    const isMixed = tls?.settings.onClientPort === true;
    await this.#listenAt('client', address, {
      ...common,
      tls: isMixed ? { acceptor: tls.newAcceptor('client'), allowsPlain: true } : undefined,
    });
    if (secureAddress === null || tls === undefined) return;
    const secure = { acceptor: tls.newAcceptor('secureClient'), allowsPlain: false };
    await this.#listenAt('secureClient', secureAddress, { ...common, tls: secure });
  }

  async #listenAt(
    purpose: 'client' | 'secureClient',
    address: ListenAddress,
    options: ListenOptions,
  ): Promise<void> {
    const onStream = (stream: ByteStream): void => this.#onStream(stream);
    try {
      const listener = await this.#parts.transport.listen(address, onStream, options);
      this.#listeners.push(listener);
      const tls = options.tls === undefined ? 'none' : options.tls.allowsPlain ? 'either' : 'only';
      this.logger.info({ host: address.host, port: listener.port, tls }, 'client.listening');
    } catch (cause) {
      throw new ListenError(purpose, address, cause);
    }
  }

  /**
   * Sends what every connection has for its client. Called at the end of each turn, and once before
   * that in a turn that applies a long history. If all clients together leave too much untaken, the
   * connections with the most are closed.
   */
  flush(): void {
    const dirty = this.#dirty;
    if (dirty.length > 0) {
      this.#dirty = [];
      for (const connection of dirty) connection.flush();
      if (this.#isWithheld) for (const connection of dirty) this.#withheld.add(connection);
      if (this.output.isExceeded) this.#closeLargestOutputs();
    }
    if (!this.#isWithheld) this.share.renew();
  }

  get isWithheld(): boolean {
    return this.#isWithheld;
  }

  /**
   * From now on `flush` lets nothing leave. What clients may ask of this member is bounded as in
   * one turn, because their share is not renewed. Whatever else they get, as events are, has the
   * bounds of output that clients do not take.
   */
  withhold(): void {
    this.#isWithheld = true;
  }

  /** `flush` sends what was withheld. With `isDropped`, what ended connections had left is lost. */
  letGo({ isDropped }: { readonly isDropped: boolean }): void {
    this.#isWithheld = false;
    for (const connection of this.#withheld) this.#dirty.push(connection);
    this.#withheld.clear();
    if (isDropped) for (const connection of this.#dirty) connection.dropEnd();
  }

  /** The connections in the order of their arrival. */
  connections(): IterableIterator<ClientConnection> {
    return this.#connections.values();
  }

  /** Ends every connection after sending what is written. */
  endAll(reason: string): void {
    if (this.#connections.size > 0) {
      this.logger.info({ connections: this.#connections.size, reason }, 'client.end_all');
    }
    for (const connection of this.#connections) connection.end();
  }

  /** Stops listening and ends every connection; they may linger for `lingerMs`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sessionless.close();
    await Promise.all(this.#listeners.splice(0).map((listener) => listener.close()));
    for (const sniffer of this.#sniffers.values()) sniffer.drop();
    this.endAll('the port closes');
    this.rateLimited.close();
  }

  // The next methods are only for connections and streams.

  onDirty(connection: ClientConnection): void {
    this.#dirty.push(connection);
  }

  onSessionBound(connection: ClientConnection): void {
    this.#sessionless.delete(connection.id);
  }

  onClosed(connection: ClientConnection): void {
    this.#forget(connection.id);
    this.#connections.delete(connection);
    this.#withheld.delete(connection);
    this.#places.leave(connection.remoteAddress);
    this.handler.onClosed(connection);
  }

  onWordPart(id: number): void {
    this.#sessionless.renew(id);
  }

  onFrames(id: number, stream: ByteStream, first: Uint8Array): void {
    const problem = foreignAtClientPort(first);
    if (problem !== null) return this.#refuseForeign(id, stream, problem);
    const refusal = this.#refusalFor(stream);
    if (refusal === null) this.#open(id, stream).begin(first);
    else this.#refuse(stream, refusal);
  }

  onLeft(id: number): void {
    this.#sessionless.leave(id);
  }

  onGone(id: number): void {
    this.#forget(id);
  }

  isClientWaiting(id: number): boolean {
    return this.#sniffers.get(id)?.isClientWaiting === true;
  }

  onExpired(id: number): void {
    const timeoutMs = SESSIONLESS_TIMEOUT_MS;
    this.stats.sessionlessExpired += 1;
    this.rateLimited.warn('client.sessionless_expired', { connection: id, timeoutMs });
  }

  onEvicted(id: number): void {
    this.#evicted.add(id);
    this.stats.sessionlessEvicted += 1;
    this.rateLimited.warn('client.sessionless_evicted', { connection: id });
  }

  /** Closes the connections with the most unfinished input. */
  onInputExceeded(): void {
    const { bytes, bytesMax } = this.input;
    for (const connection of this.#largestIn(this.input, (one) => one.inputBytes)) {
      const facts = { heldBytes: connection.inputBytes, allBytes: bytes, inputBytesMax: bytesMax };
      this.rateLimited.warn('client.input_exceeded', connection.facts(facts));
      connection.close('all connections hold too much input, it holds most', 'logged');
    }
  }

  #largestIn(
    budget: SharedBudget<ClientConnection>,
    bytesOf: (connection: ClientConnection) => number,
  ): readonly ClientConnection[] {
    return budget.excess(this.#connections, bytesOf, (one) => addressGroup(one.remoteAddress));
  }

  #closeLargestOutputs(): void {
    const { bytes, bytesMax } = this.output;
    for (const connection of this.#largestIn(this.output, (one) => one.owedBytes)) {
      const facts = { owedBytes: connection.owedBytes, allBytes: bytes, outputBytesMax: bytesMax };
      this.rateLimited.warn('client.output_exceeded', connection.facts(facts));
      connection.close('all clients leave too much unread, it leaves most', 'logged');
    }
  }

  /** A client within this process; the limit of connections per address is not for it. */
  adopt(stream: ByteStream): void {
    if (this.#isClosed) return stream.destroy();
    this.#admit(this.#nextId++, stream);
  }

  #onStream(stream: ByteStream): void {
    if (this.#isClosed) {
      stream.handle(IGNORE);
      return this.#refuse(stream, { reason: 'the port closes' });
    }
    this.#admit(this.#nextId++, stream);
    // A place stays free for the next client, so a word is answered even when the others are taken.
    const staying = this.#streams - this.#evicted.size;
    if (staying > this.#places.streamsMax) this.#sessionless.evict();
  }

  #refuse(stream: ByteStream, facts: Record<string, unknown>): void {
    this.stats.connectionsRejected += 1;
    this.rateLimited.warn('client.refused', { remote: stream.remoteAddress, ...facts });
    stream.destroy();
  }

  #refuseForeign(connection: number, stream: ByteStream, problem: string): void {
    const remote = addressText(stream.remoteAddress, stream.remotePort);
    this.rateLimited.warn('client.bad_handshake', { connection, remote, problem });
    stream.destroy();
  }

  #admit(id: number, stream: ByteStream): void {
    assert(this.#words !== null, 'the port listens');
    const sniffer = new ProtocolSniffer(id, stream, this.#words, this);
    this.#sniffers.set(id, sniffer);
    this.#streams += 1;
    this.#sessionless.add(id, () => sniffer.drop(), stream.remoteAddress);
    sniffer.open();
  }

  /** Four-letter words need neither a place, nor a token, nor TLS. */
  #refusalFor(stream: ByteStream): Record<string, unknown> | null {
    const { tls } = this.#parts;
    if (tls?.settings.required === true && stream.secured === null) {
      tls.figures.plainRefused += 1;
      return { reason: 'TLS is required' };
    }
    const refusal = this.#places.refusalFor(stream.remoteAddress);
    if (refusal !== null) return refusal;
    if (this.#tokens.take(this.timers.nowMs())) return null;
    this.stats.tokenDeficit.record(1);
    return { reason: 'connections come too fast' };
  }

  #open(id: number, stream: ByteStream): ClientConnection {
    this.#sniffers.delete(id);
    const stats = new ConnectionStats(this.stats, this.timers.wallMs());
    const proven = provenBy(stream.secured, this.#parts.tls?.settings.identity);
    const connection = new ClientConnection({ id, stream, owner: this, stats, proven });
    this.#sessionless.dropBy(id, () => connection.close('no session in time', 'logged'));
    this.#connections.add(connection);
    this.#places.take(stream.remoteAddress);
    this.stats.connectionRequests += 1;
    this.handler.onOpen(connection);
    return connection;
  }

  /** The stream is gone, whatever it was used for. */
  #forget(id: number): void {
    this.#sessionless.delete(id);
    this.#sniffers.delete(id);
    this.#evicted.delete(id);
    this.#streams -= 1;
  }
}

const IGNORE = {
  onData: (): void => {},
  onEnd: (): void => {},
  onDrain: (): void => {},
  onClose: (): void => {},
};

/** The part of all places that one address cannot take. */
const KEPT_PART = 1 / 8;

/** How many places there are, and one address may have. */
export interface PlaceBounds {
  /** The number of open streams; a further one is closed by the listener. */
  readonly streamsMax: number;
  /** The number of connections of one address; 0 for no limit. */
  readonly connectionsPerAddressMax: number;
  /** Whether that number holds for loopback addresses, too. */
  readonly boundsLoopback: boolean;
}

/**
 * The places of the client port: how many connections one address may have, and which places are
 * kept for addresses that have none.
 *
 * Each connection takes an open file, of which there are few. One address may take all places but
 * an eighth. Half of that eighth is for the first connection of other addresses, and the rest for
 * four-letter words, which take no place for long. A stream takes a place when it sends its first
 * frame.
 */
export class ClientPlaces {
  /** With more streams than this, one without a session has to go. */
  readonly streamsMax: number;
  readonly #bounds: PlaceBounds;
  /** Places for every address, and for those that have none. */
  readonly #anyMax: number;
  readonly #firstMax: number;
  /** The connections of each address, or each network of IPv6. */
  readonly #counts = new Map<string, number>();
  #taken = 0;

  constructor(bounds: PlaceBounds) {
    const { streamsMax } = bounds;
    const kept = Number.isFinite(streamsMax) ? Math.floor(streamsMax * KEPT_PART) : 0;
    this.#bounds = bounds;
    this.#anyMax = streamsMax - kept;
    this.#firstMax = streamsMax - Math.ceil(kept / 2);
    this.streamsMax = streamsMax - Math.ceil(kept / 4);
  }

  /** Why a connection from this address gets no place, for the log; null if it gets one. */
  refusalFor(address: string): Record<string, unknown> | null {
    const { connectionsPerAddressMax: most, boundsLoopback, streamsMax } = this.#bounds;
    if (address === '') return null;
    const own = this.#counts.get(addressGroup(address)) ?? 0;
    const isBound = most > 0 && (boundsLoopback || !isLoopbackAddress(address));
    if (isBound && own >= most) {
      return { reason: 'too many connections from one address', maxClientCnxns: most };
    }
    if (this.#taken < this.#anyMax || (own === 0 && this.#taken < this.#firstMax)) return null;
    const reason =
      own === 0
        ? 'all places are taken: raise the limit of open files'
        : 'the places that are left are for other addresses: raise the limit of open files';
    return { reason, connections: this.#taken, streamsMax };
  }

  take(address: string): void {
    this.#count(address, 1);
  }

  leave(address: string): void {
    this.#count(address, -1);
  }

  #count(address: string, change: 1 | -1): void {
    // A client within this process has no socket.
    if (address === '') return;
    const group = addressGroup(address);
    const count = (this.#counts.get(group) ?? 0) + change;
    if (count === 0) this.#counts.delete(group);
    else this.#counts.set(group, count);
    this.#taken += change;
  }
}

interface TokenBucket {
  /** The size of the bucket: connections that may come at once. 0 means no limit. */
  readonly max: number;
  readonly perSecond: number;
}

/**
 * A token bucket that bounds the rate of new connections.
 *
 * It protects a member from the storm of reconnects after a restart: a connection without a token
 * is closed and tries again a little later, so that not all of them time out together. A size of 0
 * turns it off. The clock is an argument.
 */
export class ConnectionTokens {
  readonly #options: TokenBucket;
  #tokens: number;
  #filledAtMs: number;

  constructor(options: TokenBucket, nowMs: number) {
    assert(options.max === 0 || options.perSecond > 0, 'an empty bucket is filled again');
    this.#options = options;
    this.#tokens = options.max;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token for a connection; false if there is none. */
  take(nowMs: number): boolean {
    const { max, perSecond } = this.#options;
    if (max === 0) return true;
    const gained = ((nowMs - this.#filledAtMs) * perSecond) / 1000;
    this.#tokens = Math.min(max, this.#tokens + gained);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** The part of a certificate that names its owner. */
type CertificateIdentity = 'subject' | 'san-uri' | 'san-dns';

const NO_IDENTITY: readonly Identity[] = [];
/** One name is usual; a certificate of more is that of no client. */
const NAMES_MAX = 16;

/**
 * The identities of a client by its certificate, which was verified when TLS was established. A
 * certificate without such a name, or with one that cannot be read, proves none.
 */
export function provenBy(
  secured: Secured | null,
  identity: CertificateIdentity = 'subject',
): readonly Identity[] {
  const certificate = secured?.certificate ?? null;
  if (certificate === null) return NO_IDENTITY;
  const names = namesOf(certificate, identity);
  if (names.length > NAMES_MAX) return NO_IDENTITY;
  return names.map((id) => ({ scheme: 'x509', id }));
}

/** OpenSSL accepts encodings that are not read here. */
function namesOf(certificate: Uint8Array, identity: CertificateIdentity): readonly string[] {
  try {
    if (identity === 'san-uri') return alternativeNames(certificate, 'uri');
    if (identity === 'san-dns') return alternativeNames(certificate, 'dns');
    const name = x509Name(certificate);
    return name === '' ? [] : [name];
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return [];
  }
}
