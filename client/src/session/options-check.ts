/**
 * Checks the options of connect() and fills in their defaults. An option that is unknown, of the
 * wrong type or out of range is refused at once with OptionError, rather than when it does harm.
 */

import { OptionError } from '../api/errors.js';
import type { Log, LogLevel } from '../api/logger.js';
import type { ConnectOptions } from '../api/options.js';
import type { Surroundings } from '../api/surroundings.js';
import { ClientLog } from '../defaults/log.js';
import { systemSurroundings } from '../defaults/surroundings.js';
import { TlsSource } from '../wire/tls-source.js';
import { workerOf } from '../worker/thread-url.js';
import type { Credential } from './credentials.js';
import type { SaslCredential } from './sasl-login.js';

export interface CheckedOptions {
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly connectDeadlineMs: number;
  readonly operationTimeoutMs: number;
  readonly reconnectDelayBaseMs: number;
  readonly reconnectDelayMaxMs: number;
  readonly readOnly: boolean;
  readonly auth: readonly Credential[];
  /** Null to send no login. */
  readonly sasl: SaslCredential | null;
  readonly tls: TlsSource;
  readonly resume: { readonly sessionId: bigint; readonly password: Uint8Array } | null;
  readonly renewSession: boolean;
  readonly shuffle: boolean;
  readonly frameBytesMax: number;
  readonly requestBytesMax: number;
  readonly outstandingMax: number;
  /** The URL of the thread's module, or null to use no thread. */
  readonly worker: URL | null;
  readonly keepAlive: boolean;
  readonly surroundings: Surroundings;
  readonly name: string;
  readonly log: Log;
}

/** The type of each option if it is given. Ranges are checked later. */
const KINDS: Readonly<Record<keyof ConnectOptions, (value: unknown) => boolean>> = {
  sessionTimeoutMs: isAny,
  connectTimeoutMs: isAny,
  operationTimeoutMs: isAny,
  connectDeadlineMs: isAny,
  reconnectDelayBaseMs: isAny,
  reconnectDelayMaxMs: isAny,
  frameBytesMax: isAny,
  requestBytesMax: isAny,
  outstandingMax: isAny,
  readOnly: isBoolean,
  renewSession: isBoolean,
  shuffle: isBoolean,
  worker: (value) => isBoolean(value) || value instanceof URL,
  keepAlive: isBoolean,
  auth: Array.isArray,
  sasl: isObject,
  resume: isObject,
  surroundings: isObject,
  tls: (value) => isBoolean(value) || isObject(value),
  name: (value) => typeof value === 'string' && value.length > 0,
  logger: isLogger,
  signal: (value) => isObject(value) && 'aborted' in value && 'addEventListener' in value,
};
const INT_MAX = 2 ** 31 - 1;
const CONNECT_MS_MAX = 10_000;
const RECONNECT_MS_MAX = 5_000;
/** The default limit of servers: ZooKeeper's jute.maxbuffer and Rookery's frameBytesMax. */
const REQUEST_BYTES_MAX = 0xfffff;
const DEFAULT_NAME = 'default';
const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export function checkedOptions(options: ConnectOptions): CheckedOptions {
  checkKinds(options);
  const whole = wholeNumbersOf(options);
  const sessionTimeoutMs = whole('sessionTimeoutMs', 30_000, 1_000);
  const connectDefaultMs = Math.min(Math.ceil(sessionTimeoutMs / 3), CONNECT_MS_MAX);
  const reconnectDelayBaseMs = whole('reconnectDelayBaseMs', 50, 1);
  const pauseDefaultMs = Math.min(Math.ceil(sessionTimeoutMs / 6), RECONNECT_MS_MAX);
  const reconnectDelayMaxMs = whole('reconnectDelayMaxMs', pauseDefaultMs, 1);
  const keepAlive = options.keepAlive ?? true;
  const name = options.name ?? DEFAULT_NAME;
  const log = new ClientLog({ logger: options.logger ?? null, name });
  const worker = workerOf(options.worker ?? false);
  if (worker !== null && options.surroundings !== undefined) {
    throw new OptionError('worker', 'cannot be combined with surroundings');
  }
  return {
    sessionTimeoutMs,
    connectTimeoutMs: whole('connectTimeoutMs', connectDefaultMs, 1),
    connectDeadlineMs: whole('connectDeadlineMs', 30_000, 0),
    operationTimeoutMs: whole('operationTimeoutMs', 30_000, 0),
    reconnectDelayBaseMs,
    reconnectDelayMaxMs: Math.max(reconnectDelayMaxMs, reconnectDelayBaseMs),
    readOnly: options.readOnly ?? false,
    auth: (options.auth ?? []).map(checkedCredential),
    sasl: saslOf(options.sasl),
    tls: new TlsSource(options.tls ?? false, { isForThread: worker !== null, log }),
    resume: resumeOf(options.resume),
    renewSession: options.renewSession ?? true,
    shuffle: options.shuffle ?? true,
    frameBytesMax: whole('frameBytesMax', 16 * 1024 * 1024, 1024),
    requestBytesMax: whole('requestBytesMax', REQUEST_BYTES_MAX, 1024),
    outstandingMax: whole('outstandingMax', 100_000, 1),
    worker,
    keepAlive,
    surroundings: options.surroundings ?? systemSurroundings(keepAlive),
    name,
    log,
  };
}

function checkKinds(options: ConnectOptions): void {
  if (!isObject(options)) throw new OptionError('(all of them)', 'must be an object');
  for (const [name, value] of Object.entries(options)) {
    if (!isOptionName(name)) throw new OptionError(name, `does not exist${hintFor(name)}`);
    if (value === undefined || KINDS[name](value)) continue;
    // The message omits the value, because it may be a secret.
    throw new OptionError(name, `is of a wrong type: ${value === null ? 'null' : typeof value}`);
  }
}

function isOptionName(name: string): name is keyof ConnectOptions {
  return Object.hasOwn(KINDS, name);
}

/** Option names here contain the unit, unlike those of other libraries. */
function hintFor(name: string): string {
  const similar = Object.keys(KINDS).find((known) => {
    return known.toLowerCase().startsWith(name.toLowerCase());
  });
  return similar === undefined ? '' : `; is ${similar} meant?`;
}

function isAny(): boolean {
  return true;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isLogger(value: unknown): boolean {
  if (typeof value !== 'object' && typeof value !== 'function') return false;
  return (
    value !== null && LOG_LEVELS.every((level) => typeof Reflect.get(value, level) === 'function')
  );
}

function checkedCredential(given: { readonly scheme: string; readonly auth: Uint8Array | string }) {
  const isText = typeof given?.scheme === 'string' && typeof given.auth === 'string';
  if (isText || (typeof given?.scheme === 'string' && ArrayBuffer.isView(given.auth))) {
    return credentialOf(given.scheme, given.auth);
  }
  throw new OptionError('auth', "must hold { scheme: 'digest', auth: 'user:password' }");
}

/** A string is sent as UTF-8. Bytes are copied, because later connections send them again. */
export function credentialOf(scheme: string, auth: Uint8Array | string): Credential {
  return { scheme, auth: typeof auth === 'string' ? Buffer.from(auth) : Buffer.from(auth) };
}

type NumberName =
  | 'sessionTimeoutMs'
  | 'connectTimeoutMs'
  | 'connectDeadlineMs'
  | 'operationTimeoutMs'
  | 'reconnectDelayBaseMs'
  | 'reconnectDelayMaxMs'
  | 'frameBytesMax'
  | 'requestBytesMax'
  | 'outstandingMax';

/** Reads one of the numbers; throws OptionError if it is not whole, or out of range. */
function wholeNumbersOf(options: ConnectOptions) {
  return (name: NumberName, otherwise: number, min: number): number => {
    const value = options[name] ?? otherwise;
    if (Number.isSafeInteger(value) && value >= min && value <= INT_MAX) return value;
    throw new OptionError(name, `is ${value}, not a whole number from ${min} to ${INT_MAX}`);
  };
}

function saslOf(sasl: ConnectOptions['sasl']): SaslCredential | null {
  if (sasl === undefined) return null;
  const { username, password } = sasl;
  if (isPrintable(username) && isPrintable(password)) return { username, password };
  // The message omits both, because they are secrets.
  throw new OptionError('sasl', 'must hold { username, password } of printable ASCII');
}

function isPrintable(text: unknown): text is string {
  return typeof text === 'string' && /^[\x20-\x7e]+$/.test(text);
}

function resumeOf(resume: ConnectOptions['resume']): CheckedOptions['resume'] {
  if (resume === undefined) return null;
  if (typeof resume.sessionId !== 'bigint' || resume.sessionId === 0n) {
    throw new OptionError('resume', 'has no session id');
  }
  return { sessionId: resume.sessionId, password: Buffer.from(resume.password) };
}
