/**
 * Which ensemble a command uses, with which credentials and certificates, and the connection to it.
 *
 * An option takes precedence over the environment, the environment over the selected context, and
 * the default is 127.0.0.1:2181. The credentials and certificates of a context are used for its own
 * servers only, never for those of an option or of the environment. If no session is granted in
 * time, each server is asked for its state, so that the message says what is wrong.
 */
import {
  AuthFailedError,
  type Client,
  type ConnectOptions,
  connect,
  OperationTimeoutError,
} from '@rookery/client';
import { errorMessage } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import { SILENT } from '../silent-logger.js';
import { askWord } from '../status/four-letter-word.js';
import { parseStatus, reasonOf } from '../status/server-status.js';
import { addressesOf } from './addresses.js';
import {
  type ClientTls,
  type Credential,
  credentialOf,
  proofsOf,
  readCredentials,
  readTls,
  type TlsPaths,
  tlsOfEnvironment,
} from './client-proofs.js';
import { Contexts } from './contexts.js';
import { NoConnectionError } from './failures.js';

export interface TargetOptions {
  readonly connect?: string | undefined;
  /** The name that the user knows the option of `connect` by; `--connect` if absent. */
  readonly connectOption?: string;
  readonly context?: string | undefined;
  readonly authFile?: string | undefined;
  /** Null or absent for what the environment or the context says. */
  readonly tls?: TlsPaths | null;
  /** The time limit for a session, and for each answer. */
  readonly timeoutMs: number;
  readonly readOnly: boolean;
}

export interface Target {
  readonly connect: string;
  /** The origin of the value, for messages. */
  readonly source: string;
  readonly auth: readonly Credential[];
  /** Null for connections without TLS. */
  readonly tls: ClientTls | null;
  readonly timeoutMs: number;
  readonly readOnly: boolean;
}

const DEFAULT_CONNECT = '127.0.0.1:2181';
const ASK_TIMEOUT_MS = 1000;

/** Throws OperatorError. */
export function targetOf(options: TargetOptions, environment: NodeJS.ProcessEnv): Target {
  const { timeoutMs, readOnly } = options;
  const place = placeOf(options, environment);
  const file = options.authFile;
  const own = file === undefined ? (environment['ROOKERY_AUTH'] ?? '') : readCredentials(file);
  const lines = own.split('\n').map((line) => line.trim());
  const auth = [...place.auth, ...lines.filter((line) => line !== '')].map(credentialOf);
  const paths = options.tls ?? tlsOfEnvironment(environment) ?? place.tls;
  const tls = paths === null ? null : readTls(paths);
  return { connect: place.connect, source: place.source, auth, tls, timeoutMs, readOnly };
}

interface Place {
  readonly connect: string;
  readonly source: string;
  readonly auth: readonly string[];
  readonly tls: TlsPaths | null;
}

const NOTHING_SAVED = { auth: [], tls: null } as const;

function placeOf(options: TargetOptions, environment: NodeJS.ProcessEnv): Place {
  const contexts = new Contexts(environment);
  const saved = (name: string): Place => {
    const { tls = null, ...context } = contexts.load(name);
    return { ...context, tls, source: `the context ${name}` };
  };
  const { connect: given, connectOption = '--connect', context } = options;
  if (given !== undefined && context !== undefined) {
    throw new OperatorError(`Give ${connectOption} or --context, not both.`);
  }
  if (given !== undefined) return { connect: given, source: connectOption, ...NOTHING_SAVED };
  if (context !== undefined) return saved(context);
  const fromEnvironment = environment['ROOKERY_CONNECT'] ?? '';
  if (fromEnvironment !== '') {
    return { connect: fromEnvironment, source: 'ROOKERY_CONNECT', ...NOTHING_SAVED };
  }
  const name = environment['ROOKERY_CONTEXT'] ?? '';
  const selected = name === '' ? contexts.selected() : name;
  if (selected !== null) return saved(selected);
  const source = `the default, for want of ${connectOption}`;
  return { connect: DEFAULT_CONNECT, source, ...NOTHING_SAVED };
}

/** What a client of this target proves, checks and waits for. Throws OperatorError. */
export function clientOptionsOf({ timeoutMs, auth, tls, readOnly }: Target): ConnectOptions {
  return {
    operationTimeoutMs: timeoutMs,
    ...proofsOf(auth),
    ...(tls === null ? {} : { tls }),
    readOnly,
    logger: SILENT,
  };
}

/** Rejects with NoConnectionError, which says what each server does. */
export async function openClient(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const connectDeadlineMs = target.timeoutMs;
  try {
    return await connect(target.connect, {
      ...clientOptionsOf(target),
      connectDeadlineMs,
      ...options,
    });
  } catch (error) {
    if (error instanceof AuthFailedError || !(error instanceof OperationTimeoutError)) throw error;
    throw new NoConnectionError(await whyNotConnected(target), { cause: error });
  }
}

function noSessionOf({ tls, auth }: Target): string {
  const missing = [...(tls === null ? ['TLS'] : []), ...(auth.length === 0 ? ['a login'] : [])];
  const maybe = missing.length === 0 ? '' : `: it may ask for ${missing.join(' or ')}`;
  return `it serves, but gives no session${maybe}`;
}

export async function whyNotConnected(target: Target): Promise<string> {
  const asked = await Promise.all(
    addressesOf(target.connect, target.tls).map(async ({ address, ...server }) => {
      try {
        const text = await askWord(server, 'srvr', ASK_TIMEOUT_MS);
        const serves = parseStatus(text) !== null;
        const state = serves ? noSessionOf(target) : reasonOf(text);
        return { address, isThere: true, serves, state };
      } catch (error) {
        const state = errorMessage(error);
        return { address, isThere: false, serves: false, state };
      }
    }),
  );
  const reached = asked.filter(({ isThere }) => isThere).length;
  const count = `${reached} of ${asked.length} servers can be reached`;
  const states = asked.map(({ address, state }) => `${address}: ${state}`).join('; ');
  const seconds = target.timeoutMs / 1000;
  const what = asked.some(({ serves }) => serves)
    ? `No session in ${seconds} s`
    : `No quorum in ${seconds} s`;
  return `${what}, ${count} (${states}). The servers are those of ${target.source}.`;
}
