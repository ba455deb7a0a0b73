/**
 * Implements the transport with node:net: turns events of sockets into calls of stream handlers.
 *
 * Half-open streams are allowed, Nagle's algorithm is off, and `::ffff:` is removed from addresses.
 * A lending stream reads into memory that all such streams share, and lends each chunk to its
 * handler for the time of the call (see `Chunks` in transport.ts); other streams give theirs away.
 * Names are looked up at each dial (ZOOKEEPER-1506) by `PeerNames`, so that a lookup that hangs
 * delays hardly any other dial.
 */
import net from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { addressText, errorMessage } from '@rookery/protocol';
import type { Logger } from 'pino';
import { EVERY_ADDRESS, type ListenAddress, listenHostsOf } from '../config/addresses.js';
import { plainAddress } from '../security/address-group.js';
import { speaksNoTls, TLS_HANDSHAKE } from './foreign-protocol.js';
import { PeerNames } from './peer-names.js';
import { RateLimitedLog } from './rate-limited-log.js';
import { systemTimers } from './timers.js';
import {
  type Address,
  type ByteStream,
  type Chunks,
  type Listener,
  type ListenOptions,
  type ListenTls,
  type OnStream,
  type Secured,
  type StreamHandlers,
  TlsDialError,
  type Transport,
} from './transport.js';

/** The largest read from a member: enough for its messages of one turn at full load. */
const READ_BYTES = 256 << 10;
/**
 * The largest read from a client: what cannot be delivered in its turn is copied, and that must not
 * take long for thousands at once.
 */
const CLIENT_READ_BYTES = 64 << 10;
const SPEAKS_NO_TLS = 'it speaks none there; set peerAuth.tls in the file of that member';

export class TcpTransport implements Transport {
  readonly #logger: Logger;
  readonly #names: PeerNames;
  /** The memory into which all lending streams read. */
  readonly #memory = new LentMemory();

  constructor(logger: Logger, names: PeerNames = new PeerNames(logger)) {
    this.#logger = logger;
    this.#names = names;
  }

  listen(
    address: ListenAddress,
    onStream: OnStream,
    options: ListenOptions = {},
  ): Promise<Listener> {
    const { chunks = 'given', tls: secure } = options;
    const isLent = chunks !== 'given';
    const readBytes = chunks === 'lentLarge' ? READ_BYTES : CLIENT_READ_BYTES;
    const plainStream = (socket: net.Socket): ByteStream =>
      isLent ? lendingStream(socket, this.#memory, readBytes) : new TcpStream(socket);
    const onSocket = (socket: net.Socket): void => {
      const isPlain = secure === undefined;
      onStream(isPlain ? plainStream(socket) : new SecuringStream(socket, secure, plainStream));
    };
    const pauseOnConnect = isLent || secure !== undefined;
    return new TcpListener(address, options, this.#logger, onSocket).open(pauseOnConnect);
  }

  dial(address: Address, timeoutMs: number, chunks: Chunks = 'given'): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      const isLent = chunks !== 'given';
      let stream: TcpStream | null = null;
      const onread = this.#memory.readerFor(() => stream, READ_BYTES);
      const { lookup } = this.#names;
      const options = { ...address, lookup, allowHalfOpen: true, noDelay: true };
      const socket = net.connect(isLent ? { ...options, onread } : options);
      // Nothing is read before the handlers are set.
      if (isLent) socket.pause();
      const timeout = setTimeout(() => {
        socket.destroy(new DialTimeout(address, timeoutMs));
      }, timeoutMs);
      const onClose = (): void => {
        clearTimeout(timeout);
        reject(new Error(`connection to ${hostAndPort(address)} closed`));
      };
      const onError = (error: Error): void => {
        clearTimeout(timeout);
        reject(error);
      };
      socket.once('close', onClose);
      socket.once('error', onError);
      socket.once('connect', () => {
        clearTimeout(timeout);
        socket.off('close', onClose);
        socket.off('error', onError);
        stream = new TcpStream(socket, isLent);
        resolve(stream);
      });
    });
  }

  dialTls(
    address: Address,
    timeoutMs: number,
    options: tls.ConnectionOptions,
  ): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      const { lookup } = this.#names;
      // An address is no server name.
      const servername = net.isIP(address.host) === 0 ? address.host : '';
      const plain = net.connect({ ...address, lookup, allowHalfOpen: true, noDelay: true });
      let isConnected = false;
      const timeout = setTimeout(() => {
        plain.destroy(new DialTimeout(address, timeoutMs));
      }, timeoutMs);
      const fail = (error: Error): void => {
        clearTimeout(timeout);
        plain.destroy();
        const reason = speaksNoTls(error) ? SPEAKS_NO_TLS : errorMessage(error);
        const what = `no TLS with ${hostAndPort(address)}: ${reason}`;
        reject(isConnected ? new TlsDialError(what, { cause: error }) : error);
      };
      const onClose = (): void => fail(new Error('the connection closed'));
      plain.once('error', fail);
      plain.once('close', onClose);
      plain.once('connect', () => {
        isConnected = true;
        const socket = tls.connect({ ...options, socket: plain, servername });
        socket.once('error', fail);
        socket.once('secureConnect', () => {
          clearTimeout(timeout);
          plain.off('close', onClose);
          plain.off('error', fail);
          socket.off('error', fail);
          resolve(new TcpStream(socket, false, securedBy(socket)));
        });
      });
    });
  }
}

/** The certificate has been verified; the dialler judges its names. */
function securedBy(socket: tls.TLSSocket): Secured {
  return { certificate: socket.getPeerX509Certificate()?.raw ?? null };
}

function hostAndPort({ host, port }: Address): string {
  return addressText(host, port);
}

class DialTimeout extends Error {
  override readonly name = 'DialTimeout';
  readonly code = 'ETIMEDOUT';

  constructor(address: Address, timeoutMs: number) {
    super(`no connection to ${hostAndPort(address)} within ${timeoutMs} ms`);
  }
}

class TcpStream implements ByteStream {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly secured: Secured | null;
  readonly #socket: net.Socket;
  readonly #isLending: boolean;
  /** Set by the first write of frames to a client that speaks TLS. */
  #records: TlsRecords | null = null;
  #error: Error | undefined;
  #closed = false;
  #handlers: StreamHandlers | null = null;

  /** A lending stream gets its chunks by `take`. */
  constructor(socket: net.Socket, isLending = false, secured: Secured | null = null) {
    this.#socket = socket;
    this.secured = secured;
    this.#isLending = isLending;
    this.remoteAddress = plainAddress(socket.remoteAddress ?? 'unknown');
    this.remotePort = socket.remotePort ?? 0;
    // Set at once, because an 'error' event without a listener would end the process.
    socket.on('error', (error) => {
      this.#error = error;
      // After a renegotiation of TLS that is refused, Node would leave the socket open.
      socket.destroy();
    });
    socket.once('close', () => {
      this.#closed = true;
    });
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  handle(handlers: StreamHandlers): void {
    const isHandedOver = this.#handlers !== null;
    this.#handlers = handlers;
    if (isHandedOver) return;
    const socket = this.#socket;
    // No listener may name `handlers`, or the first ones stay in memory as long as the socket.
    if (this.#closed) {
      process.nextTick(() => this.#handlers?.onClose(this.#error));
      return;
    }
    if (!this.#isLending) socket.on('data', (chunk) => this.take(bytesOf(chunk)));
    // A lending stream does not read before the handlers are set.
    socket.resume();
    socket.on('end', () => this.#handlers?.onEnd());
    socket.on('drain', () => this.#handlers?.onDrain());
    socket.once('close', () => this.#handlers?.onClose(this.#error));
  }

  /** Receives a chunk. */
  take(chunk: Uint8Array): void {
    this.#handlers?.onData(chunk);
  }

  write(bytes: Uint8Array, lastAt?: number): void {
    if (!this.#socket.writable) return;
    if (lastAt === undefined || !(this.#socket instanceof tls.TLSSocket)) {
      this.#socket.write(bytes);
      return;
    }
    this.#records ??= new TlsRecords(this.#socket);
    this.#records.write(bytes, lastAt);
  }

  writePieces(pieces: readonly Uint8Array[]): void {
    this.#socket.cork();
    for (const piece of pieces) this.write(piece);
    this.#socket.uncork();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/**
 * A client's stream that may begin with a TLS handshake.
 *
 * It exists from the moment the connection is accepted, so that its owner counts and bounds it from
 * then on. Nothing is delivered until it is known what the stream is: after the handshake on a port
 * that speaks only TLS, after the first byte on a port for both. From then on it passes everything
 * on to the stream that the bytes come from. With TLS that one never reads into shared memory,
 * because Node decrypts into new buffers.
 */
class SecuringStream implements ByteStream {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #socket: net.Socket;
  readonly #tls: ListenTls;
  readonly #plainStream: (socket: net.Socket) => ByteStream;
  #inner: ByteStream | null = null;
  #handlers: StreamHandlers | null = null;
  #error: Error | undefined;
  #isClosed = false;

  /**
   * Nothing has been read from the socket, and it is paused. `plainStream` takes it over if its
   * first byte is not TLS's, and gets what comes after the first chunk.
   */
  constructor(
    socket: net.Socket,
    listenTls: ListenTls,
    plainStream: (socket: net.Socket) => ByteStream,
  ) {
    this.#socket = socket;
    this.#tls = listenTls;
    this.#plainStream = plainStream;
    this.remoteAddress = plainAddress(socket.remoteAddress ?? 'unknown');
    this.remotePort = socket.remotePort ?? 0;
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.once('close', () => this.#onSocketClosed());
  }

  get secured(): Secured | null {
    return this.#inner?.secured ?? null;
  }

  get bufferedBytes(): number {
    return this.#inner?.bufferedBytes ?? 0;
  }

  handle(handlers: StreamHandlers): void {
    const isHandedOver = this.#handlers !== null;
    this.#handlers = handlers;
    if (isHandedOver) return;
    const socket = this.#socket;
    if (this.#isClosed) {
      process.nextTick(() => handlers.onClose(this.#error));
      return;
    }
    if (!this.#tls.allowsPlain) return this.#secure();
    // The first chunk is read as bytes of its own, whatever it turns out to be.
    socket.once('data', (chunk: Buffer) => this.#onFirst(chunk));
    socket.once('end', this.#onEarlyEnd);
    socket.resume();
  }

  write(bytes: Uint8Array, lastAt?: number): void {
    this.#inner?.write(bytes, lastAt);
  }

  pause(): void {
    this.#inner?.pause();
  }

  resume(): void {
    this.#inner?.resume();
  }

  end(): void {
    if (this.#inner === null) this.destroy();
    else this.#inner.end();
  }

  destroy(): void {
    if (this.#inner === null) this.#socket.destroy();
    else this.#inner.destroy();
  }

  readonly #onEarlyEnd = (): void => {
    this.#handlers?.onEnd();
  };

  #onFirst(chunk: Buffer): void {
    const socket = this.#socket;
    socket.off('end', this.#onEarlyEnd);
    if (chunk[0] === TLS_HANDSHAKE) {
      socket.pause();
      socket.unshift(chunk);
      return this.#secure();
    }
    this.#become(this.#plainStream(socket));
    this.#handlers?.onData(chunk);
  }

  #secure(): void {
    this.#tls.acceptor.accept(this.#socket, (secure, certificate) => {
      this.#become(new TcpStream(secure, false, { certificate }));
    });
  }

  #become(inner: ByteStream): void {
    this.#inner = inner;
    inner.handle({
      onData: (chunk) => this.#handlers?.onData(chunk),
      onEnd: () => this.#handlers?.onEnd(),
      onDrain: () => this.#handlers?.onDrain(),
      onClose: (error) => this.#close(error),
    });
  }

  #onSocketClosed(): void {
    // Once there is an inner stream, that one reports the close.
    if (this.#inner === null) this.#close(this.#error);
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#handlers?.onClose(error);
  }
}

/** The memory into which all lending streams read. A chunk is valid until the next read. */
class LentMemory {
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);

  /** The `onread` option for a socket that reads at most `bytesMax` bytes at a time. */
  readerFor(streamOf: () => TcpStream | null, bytesMax: number): net.OnReadOpts {
    const callback = (bytes: number): boolean => {
      streamOf()?.take(this.#buffer.subarray(0, bytes));
      return true;
    };
    return { buffer: this.#buffer.subarray(0, bytesMax), callback };
  }
}

/** Makes a stream that reads into shared memory, if Node allows it (see tcp.ts). */
function lendingStream(accepted: net.Socket, memory: LentMemory, bytesMax: number): TcpStream {
  let stream: TcpStream | null = null;
  const socket = lendingSocket(
    accepted,
    memory.readerFor(() => stream, bytesMax),
  );
  stream = socket === null ? new TcpStream(accepted) : new TcpStream(socket, true);
  return stream;
}

/** No encoding is set on the socket, so node always gives bytes. */
function bytesOf(chunk: Buffer | string): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk;
}

/**
 * Makes an accepted socket read into memory of the caller's, by a private part of Node.
 *
 * Otherwise Node allocates memory outside of the JavaScript heap for each read, and at some hundred
 * thousand reads a second this causes full collections. `net.connect` has the option `onread`
 * against that, `net.createServer` has none. So the accepted socket's handle (`_handle`, a private
 * property) is given to a new socket that has the option. If a release of Node has no such
 * property, the accepted socket stays as it is: only the speed of reads depends on it.
 */
function lendingSocket(accepted: net.Socket, onread: net.OnReadOpts): net.Socket | null {
  const handle: unknown = Reflect.get(accepted, '_handle');
  if (typeof handle !== 'object' || handle === null) return null;
  Reflect.set(accepted, '_handle', null);
  const options = { handle, allowHalfOpen: true, manualStart: true, onread };
  const socket = new net.Socket(options);
  socket.once('close', () => accepted.destroy());
  return socket;
}

/**
 * Writes frames by TLS so that the last one of each write has a record of its own.
 *
 * Some clients (kazoo 2.8) wait on the socket for the next answer although their TLS library holds
 * one already, because it came in one record with others. They would wait for seconds, until
 * something else comes. What they wait on stays readable as long as a further record is behind the
 * one that they read from, so it is enough that the last record has one frame. A record for each
 * frame would have the same effect and take far more time.
 */
export class TlsRecords {
  readonly #socket: TLSSocket;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    // Through `_writev`, Node would join writes that wait and encrypt them as one record.
    Reflect.set(socket, '_writev', null);
  }

  /** `lastAt`: where the last of several frames begins, 0 if there is only one. */
  write(bytes: Uint8Array, lastAt: number): void {
    if (lastAt > 0) this.#socket.write(bytes.subarray(0, lastAt));
    this.#socket.write(bytes.subarray(lastAt));
  }
}

/**
 * A TCP port on one or several addresses of this machine, as one listener.
 *
 * Either all of its addresses are bound or none is. The limit of open sockets holds for all of them
 * together. A connection that fails in accept, or that comes when the process is short of file
 * descriptors, is logged and the listener goes on: one that swallowed the error would be deaf
 * without a sign (ZOOKEEPER-4203).
 */
class TcpListener implements Listener {
  readonly #address: ListenAddress;
  readonly #bounds: ListenOptions;
  readonly #rateLimited: RateLimitedLog;
  readonly #onSocket: (socket: net.Socket) => void;
  readonly #servers: net.Server[] = [];
  /** Accepted sockets that are not closed. */
  readonly #count: { open: number };
  #port: number;

  constructor(
    address: ListenAddress,
    bounds: ListenOptions,
    logger: Logger,
    onSocket: (socket: net.Socket) => void,
  ) {
    this.#address = address;
    this.#bounds = bounds;
    this.#count = bounds.count ?? { open: 0 };
    this.#onSocket = onSocket;
    this.#port = address.port;
    this.#rateLimited = new RateLimitedLog(logger, systemTimers());
  }

  /** The bound port, also where any free one was asked for. */
  get port(): number {
    return this.#port;
  }

  /** With `pauseOnConnect`, accepted sockets are not read from until they are resumed. */
  async open(pauseOnConnect: boolean): Promise<this> {
    try {
      for (const host of listenHostsOf(this.#address)) await this.#bind(host, pauseOnConnect);
    } catch (error) {
      await this.close();
      throw error;
    }
    return this;
  }

  #bind(host: string, pauseOnConnect: boolean): Promise<void> {
    const options = { allowHalfOpen: true, noDelay: true, pauseOnConnect };
    const server = net.createServer(options, (socket) => this.#accept(socket));
    const address = { host, port: this.#port };
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      // Without a host Node listens on all addresses of both families.
      server.listen(host === EVERY_ADDRESS ? { port: address.port } : address, () => {
        server.off('error', reject);
        server.on('error', (error) => {
          this.#rateLimited.error('net.accept_failed', { ...address, err: error });
        });
        this.#servers.push(server);
        const bound = server.address();
        if (bound !== null && typeof bound === 'object') this.#port = bound.port;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    // Does not wait for the streams: they belong to the handlers.
    for (const server of this.#servers) server.close();
    this.#rateLimited.close();
    return Promise.resolve();
  }

  #accept(socket: net.Socket): void {
    const { streamsMax = Number.POSITIVE_INFINITY } = this.#bounds;
    const count = this.#count;
    if (count.open >= streamsMax) {
      const remote = socket.remoteAddress ?? 'unknown';
      this.#rateLimited.warn('net.accept_dropped', { port: this.#port, streamsMax, remote });
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    count.open += 1;
    socket.once('close', () => {
      count.open -= 1;
    });
    this.#onSocket(socket);
  }
}
