/**
 * The options of connect(), with their units and defaults. Types only; checked in
 * ../session/options-check.ts.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Logger } from './logger.js';
import type { Surroundings } from './surroundings.js';

/**
 * Options of Node's TLS (ca, cert, key, servername...), or the files that have what some of these
 * options hold. Files are read again for each connection. Those that cannot be used, or do not
 * belong together, are refused with OptionError at first; later they are reported, and connections
 * go on with what was read before.
 */
export interface TlsOptions extends ConnectionOptions {
  /** PEM: the authorities that may have signed the servers. In place of `ca`. */
  readonly caFile?: string | undefined;
  /** PEM: the client's certificate, then the intermediate ones. In place of `cert`. */
  readonly certFile?: string | undefined;
  /** PEM: the key of `certFile`, encrypted if there is a `passphrase`. In place of `key`. */
  readonly keyFile?: string | undefined;
  /** PKCS#12: the certificate and its key. In place of `pfx`. */
  readonly pkcs12File?: string | undefined;
}

export interface ConnectOptions {
  /**
   * The session timeout to request, in milliseconds, 1,000 to 2^31-1; default 30,000. The server
   * may clamp it.
   */
  readonly sessionTimeoutMs?: number | undefined;
  /**
   * How long a connection to one server may take to open, including TLS, and then again how long
   * its handshake may take, in milliseconds; default a third of the session timeout, at most
   * 10,000. After two rounds in which every server has failed it doubles with each further one, up
   * to 10,000, because overloaded servers answer late. It also limits the resolution of a name.
   */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * How long connect() tries to get the first session, in milliseconds; default 30,000; 0 for no
   * limit. createClient() does not wait and has no such limit.
   */
  readonly connectDeadlineMs?: number | undefined;
  /**
   * The timeout of operations that have none of their own, in milliseconds; default 30,000; 0 for
   * none.
   */
  readonly operationTimeoutMs?: number | undefined;
  /**
   * The delay between rounds of connection attempts grows from base to max, in milliseconds, with
   * full jitter. The defaults are 50, and a sixth of the session timeout but at most 5,000, so that
   * a session is not lost in a pause although the servers have been back for most of its timeout.
   */
  readonly reconnectDelayBaseMs?: number | undefined;
  readonly reconnectDelayMaxMs?: number | undefined;
  /** Whether a member without a quorum is acceptable; default false. */
  readonly readOnly?: boolean | undefined;
  /** Credentials to present on every connection, as for addAuth(). */
  readonly auth?:
    | readonly { readonly scheme: string; readonly auth: Uint8Array | string }[]
    | undefined;
  /**
   * A user and password with which to log in on every connection, by SASL's DIGEST-MD5, before
   * anything else is sent; printable ASCII. A server that refuses them closes the client with
   * AuthFailedError. One that offers no such login is not used. Default none.
   */
  readonly sasl?: { readonly username: string; readonly password: string } | undefined;
  /**
   * How to connect by TLS, or true to trust the authorities that Node trusts by default. Default
   * false, which is plain TCP. `updateTls` replaces it.
   */
  readonly tls?: TlsOptions | boolean | undefined;
  /** Resumes an existing session instead of opening one. If it has expired, the session is lost. */
  readonly resume?: { readonly sessionId: bigint; readonly password: Uint8Array } | undefined;
  /**
   * Whether to open a new session when one is lost, the default, or to stay 'lost' and refuse every
   * operation with SessionExpiredError. In neither case is an operation carried over from one
   * session to the next.
   */
  readonly renewSession?: boolean | undefined;
  /** Whether to try the servers in random order, the default, or in the given order. */
  readonly shuffle?: boolean | undefined;
  /**
   * The largest frame to accept from a server, in bytes; default 16 MiB, so that large lists
   * arrive.
   */
  readonly frameBytesMax?: number | undefined;
  /**
   * The largest request, in bytes. A larger operation is refused with RequestTooLargeError and not
   * sent, because a server would close the connection without an explanation. The default is
   * 1,048,575, which is the default of servers; change it if your servers have another limit.
   */
  readonly requestBytesMax?: number | undefined;
  /**
   * How many requests may be queued or in flight. Operations beyond that are refused; default
   * 100,000.
   */
  readonly outstandingMax?: number | undefined;
  /**
   * Runs the socket and the heartbeats in a worker thread, so that a busy main thread does not lose
   * its session as long as the connection lasts; the next connection is made by the main thread. In
   * a bundled program, give the URL of the bundle of the thread, whose entry point is
   * `@rookery/client/worker`.
   */
  readonly worker?: boolean | URL | undefined;
  /**
   * Whether an open client keeps the process alive; default true. If false, the process may end
   * even while operations or connect() itself are pending.
   */
  readonly keepAlive?: boolean | undefined;
  /**
   * The name of this client in log messages, diagnostics and metrics, to tell it from other clients
   * of the process; default 'default'.
   */
  readonly name?: string | undefined;
  /**
   * Where the client and its recipes log: a pino logger, the console, or any object whose debug,
   * info, warn and error take an object of fields and a message. Without a logger, only what must
   * not be missed is reported, as process warnings.
   */
  readonly logger?: Logger | undefined;
  /** Aborting it gives up the attempt to connect: connect() rejects and the client is closed. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the clock, timers and randomness, for tests. */
  readonly surroundings?: Surroundings | undefined;
}
