/**
 * The options of connect(), with their units and defaults. Types only; checked in
 * ../options-check.ts.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Logger } from './logger.js';
import type { Surroundings } from './surroundings.js';

export interface ConnectOptions {
  /** Asked of the server, which may clamp it; milliseconds, 1,000 to 2^31-1; default 30,000. */
  readonly sessionTimeoutMs?: number | undefined;
  /**
   * Of an attempt to reach one server, TCP, TLS and session together; default 1/3 of the session
   * timeout, at most 10,000.
   */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * How long connect() tries to get the first session, milliseconds; default 30,000; 0 for ever.
   * createClient() does not wait and has no such limit.
   */
  readonly connectDeadlineMs?: number | undefined;
  /** Of an operation that says none itself; default 30,000; 0 for none. */
  readonly operationTimeoutMs?: number | undefined;
  /**
   * Delay between rounds of attempts: grows from base to max, with full jitter; defaults 50 and
   * 5,000.
   */
  readonly reconnectDelayBaseMs?: number | undefined;
  readonly reconnectDelayMaxMs?: number | undefined;
  /** Whether a member without quorum will do; default false. */
  readonly readOnly?: boolean | undefined;
  /** Credentials for every connection, as addAuth() takes them. */
  readonly auth?:
    | readonly { readonly scheme: string; readonly auth: Uint8Array | string }[]
    | undefined;
  /**
   * TLS by Node's own options (ca, cert, key, servername...), true for the system's authorities.
   */
  readonly tls?: ConnectionOptions | boolean | undefined;
  /** Resume a session instead of opening one; lost if it has expired. */
  readonly resume?: { readonly sessionId: bigint; readonly password: Uint8Array } | undefined;
  /**
   * Open a new session when one is lost (default), or stay 'lost' and refuse every operation with
   * SessionExpiredError. No operation crosses from one session to the next either way.
   */
  readonly renewSession?: boolean | undefined;
  /** Ask servers in random order, the default, or as given. */
  readonly shuffle?: boolean | undefined;
  /** Largest frame accepted from a server, bytes; default 16 MiB, so that large lists arrive. */
  readonly frameBytesMax?: number | undefined;
  /**
   * Largest request, bytes: beyond it an operation is refused with RequestTooLargeError, unsent,
   * because a server closes the connection without a word. Default 1,048,575, the servers' own
   * default; for servers that take more (or less), say so.
   */
  readonly requestBytesMax?: number | undefined;
  /** Requests queued or in flight at once; beyond it operations are refused; default 100,000. */
  readonly outstandingMax?: number | undefined;
  /**
   * Socket and heartbeats in a worker thread, so that a busy main thread keeps its session. In a
   * bundled program the URL of the thread's own bundle, whose entry is `@rookery/client/worker`.
   */
  readonly worker?: boolean | URL | undefined;
  /**
   * Whether an open client keeps the process alive; default true. With false it never does, not
   * even while operations or connect() itself are pending: a process with nothing else to do ends.
   */
  readonly keepAlive?: boolean | undefined;
  /**
   * Tells this client from others of the process, in log lines, diagnostics and metrics; default
   * 'default'.
   */
  readonly name?: string | undefined;
  /**
   * Where the client and its recipes say what happens: a pino logger, the console, or whatever has
   * debug, info, warn and error that take an object of fields and a sentence. Without one, what
   * nobody should miss is a process warning.
   */
  readonly logger?: Logger | undefined;
  /** Gives up connecting: connect() rejects and the client is closed. */
  readonly signal?: AbortSignal | undefined;
  /** For tests. */
  readonly surroundings?: Surroundings | undefined;
}
