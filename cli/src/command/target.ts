/**
 * Chooses the ensemble of a command with its credentials and certificates, and connects to it.
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
import {
  type Credential,
  clientTlsOf,
  credentialOf,
  proofsOf,
  readCredentials,
  readTls,
  type TlsPaths,
  tlsOfEnvironment,
} from './client-proofs.js';
import { Contexts } from './contexts.js';
import { NoConnectionError } from './failures.js';
import { SILENT } from './silent-logger.js';
import { whyNeverConnected, whyNotConnected } from './why-not-connected.js';

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
  readonly tls: TlsPaths | null;
  readonly timeoutMs: number;
  readonly readOnly: boolean;
}

const DEFAULT_CONNECT = '127.0.0.1:2181';
/** A server gives a session much sooner, so few commands ask what else it might be. */
const ASK_AFTER_MS = 1000;

/** Throws OperatorError. */
export function targetOf(options: TargetOptions, environment: NodeJS.ProcessEnv): Target {
  const { timeoutMs, readOnly } = options;
  const place = placeOf(options, environment);
  const file = options.authFile;
  const own = file === undefined ? (environment['ROOKERY_AUTH'] ?? '') : readCredentials(file);
  const lines = own.split('\n').map((line) => line.trim());
  const auth = [...place.auth, ...lines.filter((line) => line !== '')].map(credentialOf);
  const paths = options.tls ?? tlsOfEnvironment(environment) ?? place.tls;
  // A missing file is reported before anything else.
  if (paths !== null) readTls(paths);
  return { connect: place.connect, source: place.source, auth, tls: paths, timeoutMs, readOnly };
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
    ...(tls === null ? {} : { tls: clientTlsOf(tls) }),
    readOnly,
    logger: SILENT,
  };
}

/**
 * Rejects with NoConnectionError, which says what each server does: after the time limit, or soon
 * if TLS or a certificate is why no server will ever give a session.
 */
export async function openClient(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const connectDeadlineMs = target.timeoutMs;
  const hopeless = new AbortController();
  const given = options.signal;
  const signal = given === undefined ? hopeless.signal : AbortSignal.any([given, hopeless.signal]);
  let why: string | null = null;
  let isOver = false;
  const timer = setTimeout(async () => {
    const never = await whyNeverConnected(target);
    if (never === null || isOver) return;
    why = never;
    hopeless.abort();
  }, ASK_AFTER_MS);
  try {
    return await connect(target.connect, {
      ...clientOptionsOf(target),
      connectDeadlineMs,
      ...options,
      signal,
    });
  } catch (error) {
    if (why !== null) throw new NoConnectionError(why, { cause: error });
    if (error instanceof AuthFailedError || !(error instanceof OperationTimeoutError)) throw error;
    const trouble = error.cause === undefined ? '' : errorMessage(error.cause);
    throw new NoConnectionError(await whyNotConnected(target, trouble), { cause: error });
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
