/**
 * An HTTP port for operators and their tools: reads requests with their bodies and sends answers
 * and refusals (HttpError), bounded in every respect.
 *
 * No client can hold memory here: connections, the size of heads and bodies, the time that a
 * request may take, the requests of a connection and the untaken bytes of answers have bounds, and
 * a body is read only if the router asks for it. The next request of a connection is handed on when
 * the answer before it is taken. Never decides what is answered: a `Router` does. Knows nothing of
 * a member; made by the metrics port and the admin port.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { assert } from '@rookery/protocol';
import { EVERY_ADDRESS } from '../config/addresses.js';
import { addressGroup } from '../security/address-group.js';

/** Who asks, as the head of a request and its connection say it. */
export interface Asking {
  readonly headers: IncomingMessage['headers'];
  readonly remoteAddress: string;
}

export interface HttpRequest extends Asking {
  readonly method: string;
  /** Without the query; begins with `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Aborted when the client is gone, or has its whole answer. */
  readonly signal: AbortSignal;
  /** Reads the body, if there is one. It is called once. Throws HttpError beyond `bytesMax`. */
  readBody(bytesMax: number): Promise<Uint8Array>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  /** Pieces are made as the client takes them, a few in each turn. */
  readonly body: string | Uint8Array | Iterable<string> | AsyncIterable<Uint8Array>;
  /** Called once nothing more is read of the body, sent or not. */
  close?(): Promise<void>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** May throw HttpError; any other error is answered 500 and goes to `onFault`. */
export type Router = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

/**
 * Enough for probes, scrapers and a few people. Beyond it, a connection of the address that has
 * most is closed, so that a client that holds many open keeps no probe out.
 */
const CONNECTIONS_MAX = 64;
/** The unanswered requests of one connection. */
const PIPELINED_MAX = 8;
const HEAD_BYTES_MAX = 16 << 10;
const URL_CHARACTERS_MAX = 4096;
/** The time from the first byte of a request to its last. */
const REQUEST_TIMEOUT_MS = 5000;
/** What ends a request before it is read, by Node's code of the error; others are no HTTP. */
const STATUS_OF_CLIENT_ERROR: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);
/** How often node looks for requests that take too long. */
const CHECK_MS = 1000;
/** The characters of an answer in pieces that are made in one turn. */
const PART_CHARACTERS = 32 << 10;
/** What a piece counts for besides its characters, because many are empty. */
const PIECE_CHARACTERS = 16;
const KEEP_ALIVE_MS = 15_000;
const REQUESTS_PER_CONNECTION_MAX = 10_000;
/** After this time a client that does not take its answer is dropped. */
const IDLE_TIMEOUT_MS = 30_000;

export class HttpPort {
  readonly #router: Router;
  readonly #at: { readonly host: string; readonly port: number };
  readonly #takesBodies: boolean;
  readonly #onFault: (error: unknown) => void;
  readonly #server: Server;
  /** In the order of their last requests, the most recent one last. */
  readonly #sockets = new Set<Socket>();
  /** Requests that are not answered yet. */
  readonly #pending = new WeakMap<Socket, Set<AbortController>>();
  /** When the latest answer of a connection is taken, or the connection is gone. */
  readonly #taken = new WeakMap<Socket, Promise<void>>();
  readonly #untaken: UntakenBytes;
  readonly #bodies = new HttpBodies();

  /**
   * `port` is 0 for any that is free. Unless the router `takesBodies`, a request with a body is
   * refused. `onFault` gets what the router throws that is no HttpError, errors of the server, and
   * the reason when a connection is closed because its client takes no answers.
   */
  constructor(
    router: Router,
    at: { readonly host: string; readonly port: number; readonly takesBodies?: boolean },
    onFault: (error: unknown) => void,
  ) {
    this.#router = router;
    this.#at = at;
    this.#takesBodies = at.takesBodies === true;
    this.#onFault = onFault;
    this.#untaken = new UntakenBytes((address, bytes) => {
      const why = `did not take ${bytes} bytes of answers, and too much waits for all clients`;
      onFault(new Error(`a connection from ${address} was closed: it ${why}`));
    });
    this.#server = createServer(
      {
        maxHeaderSize: HEAD_BYTES_MAX,
        headersTimeout: REQUEST_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CHECK_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        insecureHTTPParser: false,
      },
      (request, response) => void this.#onRequest(request, response),
    );
    this.#server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION_MAX;
    this.#server.timeout = IDLE_TIMEOUT_MS;
    this.#server.on('connection', (socket: Socket) => {
      if (this.#sockets.size >= CONNECTIONS_MAX) this.#closeOne();
      this.#sockets.add(socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        // Node reports it only to the answer that is being sent, not to those behind it.
        for (const gone of this.#pending.get(socket) ?? []) gone.abort();
      });
    });
    // A body that waits for leave to come gets it when it is read, or is refused.
    this.#server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      void this.#onRequest(request, response);
    });
    // No other protocol is wanted here.
    this.#server.on('upgrade', (_request: IncomingMessage, socket: Socket) => socket.destroy());
    this.#server.on('connect', (_request: IncomingMessage, socket: Socket) => socket.destroy());
    this.#server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
      endWith(socket, STATUS_OF_CLIENT_ERROR.get(error.code ?? '') ?? 400);
    });
  }

  /** The port that it is bound to. */
  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : this.#at.port;
  }

  /** Rejects with the system's error. */
  listen(): Promise<void> {
    const { host, port } = this.#at;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(host === EVERY_ADDRESS ? { port } : { port, host }, () => {
        this.#server.off('error', reject);
        // Too many open files, for example: new clients are not served, and others stay.
        this.#server.on('error', (error) => this.#onFault(error));
        resolve();
      });
    });
  }

  /** Resolves when nothing of it is left; what is under way is cut. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  /**
   * Closes the longest idle connection of the address that has most, or its oldest one if all of
   * them wait for answers. A client that holds many loses only connections from its own address.
   */
  #closeOne(): void {
    const most = this.#socketsOfMost();
    const closed = most.find((socket) => this.#pendingOf(socket) === 0) ?? most[0];
    if (closed === undefined) return;
    this.#sockets.delete(closed);
    closed.destroy();
  }

  #socketsOfMost(): readonly Socket[] {
    const counts = new Map<string, number>();
    const groupOf = ({ remoteAddress = '' }: Socket) => addressGroup(remoteAddress);
    for (const socket of this.#sockets) {
      counts.set(groupOf(socket), (counts.get(groupOf(socket)) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    return [...this.#sockets].filter((socket) => counts.get(groupOf(socket)) === most);
  }

  #read(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): HttpRequest {
    const { method = 'GET', url = '/', headers, socket } = request;
    if (hostsOf(request) > 1) throw new HttpError(400, 'The head must name one Host.');
    if (url.length > URL_CHARACTERS_MAX) throw new HttpError(414, 'The address is too long.');
    if (!url.startsWith('/')) throw new HttpError(400, 'The address must begin with a slash.');
    if (hasBody(request) && !this.#takesBodies) {
      throw new HttpError(413, 'This port takes no body.');
    }
    const end = url.indexOf('?');
    return {
      method,
      path: end < 0 ? url : url.slice(0, end),
      query: new URLSearchParams(end < 0 ? '' : url.slice(end + 1)),
      headers,
      remoteAddress: socket.remoteAddress ?? '',
      signal,
      readBody: (bytesMax) => this.#bodies.read(request, response, bytesMax),
    };
  }

  #pendingOf(socket: Socket): number {
    return this.#pending.get(socket)?.size ?? 0;
  }

  /**
   * Node hands on all requests that came in one read, which may be two thousand. Those of one
   * connection are answered one after the other, because their answers would wait in memory, and a
   * connection that sends too many is closed.
   */
  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const pending = this.#pending.get(socket) ?? new Set();
    if (pending.size >= PIPELINED_MAX) {
      socket.destroy();
      return;
    }
    this.#pending.set(socket, pending);
    this.#sockets.delete(socket);
    this.#sockets.add(socket);
    const gone = new AbortController();
    pending.add(gone);
    response.once('close', () => {
      pending.delete(gone);
      gone.abort();
    });
    const before = this.#taken.get(socket);
    this.#taken.set(socket, ended(gone.signal));
    await before;
    if (gone.signal.aborted) return;
    const exchange = { request, response, gone: gone.signal, untaken: this.#untaken };
    try {
      const answer = await this.#router(this.#read(request, response, gone.signal));
      try {
        await send(exchange, answer);
      } finally {
        await answer.close?.();
      }
    } catch (error) {
      // What was begun cannot become another answer.
      if (response.headersSent) response.destroy();
      if (error instanceof HttpError) return refuse(exchange, error);
      this.#onFault(error);
      refuse(exchange, new HttpError(500, 'The answer could not be made.'));
    }
  }
}

/** Of several, Node would take the first one and be silent about the others (RFC 9112, 3.2). */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  // Names and values follow each other.
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host')
    .length;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the answer is taken, or the client is gone. */
  readonly gone: AbortSignal;
  readonly untaken: UntakenBytes;
}

async function send(
  exchange: Exchange,
  { status, type, body, headers }: HttpAnswer,
): Promise<void> {
  const { request, response, gone, untaken } = exchange;
  // What is left of a body is not read: nothing else can come on that connection.
  const isUnread = hasBody(request) && !request.complete;
  const all = {
    'content-type': type,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(isUnread ? { connection: 'close' } : {}),
    ...headers,
  };
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    response.writeHead(status, { ...all, 'content-length': bytes.length });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    if (gone.aborted) return;
    untaken.hold(request.socket, bytes.length);
    response.end(bytes);
    await ended(gone);
    untaken.release(request.socket, bytes.length);
    return;
  }
  response.writeHead(status, all);
  if (request.method !== 'HEAD') {
    if (Symbol.asyncIterator in body) await sendBytes(exchange, body);
    else await sendPieces(exchange, body);
  }
  response.end();
}

async function sendBytes(exchange: Exchange, parts: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of parts) {
    if (exchange.gone.aborted) return;
    await sendPart(exchange, part);
  }
}

/** Resolves when the client has taken most of it, or is gone. */
async function sendPart(
  { request, response, gone, untaken }: Exchange,
  part: Uint8Array,
): Promise<void> {
  untaken.hold(request.socket, part.length);
  if (!response.write(part)) await drained(response, gone);
  untaken.release(request.socket, part.length);
}

/** Sends a part in each turn. The server's own timeout drops a client that takes nothing. */
async function sendPieces(exchange: Exchange, pieces: Iterable<string>): Promise<void> {
  let part = '';
  let work = 0;
  for (const piece of pieces) {
    part += piece;
    work += piece.length + PIECE_CHARACTERS;
    if (work < PART_CHARACTERS) continue;
    if (exchange.gone.aborted) return;
    if (part !== '') await sendPart(exchange, Buffer.from(part));
    part = '';
    work = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  exchange.response.write(part);
}

function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      gone.removeEventListener('abort', done);
      resolve();
    };
    response.on('drain', done);
    gone.addEventListener('abort', done);
  });
}

function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Also ends the connection: what else comes on it is not read. */
function refuse(exchange: Exchange, error: HttpError): void {
  if (exchange.response.headersSent) return;
  const body = `${error.message}\n`;
  const headers = { ...error.headers, connection: 'close' };
  const answer = { status: error.status, type: 'text/plain', body, headers };
  void send(exchange, answer);
}

function endWith(socket: Socket, status: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: 0\r\n\r\n`, () => socket.destroy());
}

/** Refuses a request, with a status and one sentence for the client. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields for programs beside the sentence; only `/api/v1` sends them. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.facts = facts;
  }
}

/** The bytes of incomplete bodies that all requests of a port may hold together. */
const BODIES_BYTES_MAX = 8 << 20;

/**
 * Reads the body of a request, as much as is allowed and not a byte more.
 *
 * What is announced as too large is refused before any of it is read; of what is not announced,
 * reading stops at the bound. All bodies that are being read together have a bound, too, so that
 * many slow senders cannot hold more memory than one. The time that a body may take is the
 * server's: it ends a request that is not complete in time. Called by HttpPort.
 */
class HttpBodies {
  #bytes = 0;

  /** The bytes of incomplete bodies that are held now; for tests. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws HttpError: 413 beyond `bytesMax`, 503 while others send too much. */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    bytesMax: number,
  ): Promise<Uint8Array> {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > bytesMax) throw tooLarge(bytesMax);
    if (request.headers.expect !== undefined) response.writeContinue();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of request) {
        if (!(chunk instanceof Uint8Array)) continue;
        bytes += chunk.length;
        this.#bytes += chunk.length;
        if (bytes > bytesMax) throw tooLarge(bytesMax);
        if (this.#bytes > BODIES_BYTES_MAX) {
          throw new HttpError(503, 'Others send too much at the moment.', { 'retry-after': '1' });
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks, bytes);
    } catch (error) {
      // The client has left in the middle of its body, which is no fault of this member.
      if (error instanceof HttpError) throw error;
      if (request.errored !== null) throw new HttpError(400, 'The body was cut off.');
      throw error;
    } finally {
      this.#bytes -= bytes;
    }
  }
}

/** Whether one is announced. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(413, `The body may have ${bytesMax} bytes at most.`);
}

/** There may be one answer more than this. */
export const UNTAKEN_BYTES_MAX = 32 << 20;

interface Holder {
  readonly remoteAddress?: string | undefined;
  destroy(): void;
}

/**
 * The bytes of answers that clients have not taken yet, with a bound over all connections of a
 * port.
 *
 * When a further answer is to be sent and the bound is reached, connections are closed until there
 * is room: of the address whose connections hold most, the one that holds most. A client that asks
 * much and takes nothing loses its own connections, and no other's. `onClosed` is called for each.
 * Used by HttpPort, which has at most one answer of each connection at a time.
 */
export class UntakenBytes {
  readonly #held = new Map<Holder, number>();
  readonly #onClosed: (address: string, bytes: number) => void;
  #bytes = 0;

  constructor(onClosed: (address: string, bytes: number) => void) {
    this.#onClosed = onClosed;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts what is about to be sent. */
  hold(holder: Holder, bytes: number): void {
    while (this.#bytes >= UNTAKEN_BYTES_MAX) this.#dropOne();
    this.#set(holder, (this.#held.get(holder) ?? 0) + bytes);
  }

  /** The client has taken these, or is gone. */
  release(holder: Holder, bytes: number): void {
    const held = this.#held.get(holder);
    if (held !== undefined) this.#set(holder, held - bytes);
  }

  #dropOne(): void {
    const groups = new Map<string, number>();
    const groupOf = ({ remoteAddress = '' }: Holder) => addressGroup(remoteAddress);
    for (const [holder, bytes] of this.#held) {
      groups.set(groupOf(holder), (groups.get(groupOf(holder)) ?? 0) + bytes);
    }
    const [group] = largestOf(groups);
    const [dropped, bytes] = largestOf(
      new Map([...this.#held].filter(([holder]) => groupOf(holder) === group)),
    );
    this.#set(dropped, 0);
    dropped.destroy();
    this.#onClosed(dropped.remoteAddress ?? '', bytes);
  }

  #set(holder: Holder, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(holder) ?? 0);
    if (bytes > 0) this.#held.set(holder, bytes);
    else this.#held.delete(holder);
  }
}

function largestOf<Key>(sizes: ReadonlyMap<Key, number>): readonly [Key, number] {
  const [first, ...rest] = sizes;
  assert(first !== undefined, 'whatever holds bytes is counted');
  return rest.reduce((largest, one) => (one[1] > largest[1] ? one : largest), first);
}
