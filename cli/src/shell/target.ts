/**
 * Which ensemble a command uses, with which credentials, and the connection to it.
 *
 * An option takes precedence over the environment, the environment over the selected context, and
 * the default is 127.0.0.1:2181. Credentials of a context are sent to its own servers only. If no
 * session is granted in time, each server is asked for its state, so that the message says what is
 * wrong.
 */
import { readFileSync } from 'node:fs';
import {
  AuthFailedError,
  type Client,
  type ConnectOptions,
  connect,
  OperationTimeoutError,
} from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { askWord } from '../status/four-letter-word.js';
import { parseStatus, reasonOf } from '../status/server-status.js';
import { addressesOf } from './addresses.js';
import { Contexts } from './contexts.js';
import { NoConnectionError } from './failures.js';

export interface TargetOptions {
  readonly connect?: string | undefined;
  readonly context?: string | undefined;
  readonly authFile?: string | undefined;
  /** The time limit for a session, and for each answer. */
  readonly timeoutMs: number;
  readonly readOnly: boolean;
}

export interface Target {
  readonly connect: string;
  /** The origin of the value, for messages. */
  readonly source: string;
  readonly auth: readonly Credential[];
  readonly timeoutMs: number;
  readonly readOnly: boolean;
}

export interface Credential {
  readonly scheme: string;
  readonly auth: string;
}

const DEFAULT_CONNECT = '127.0.0.1:2181';
const ASK_TIMEOUT_MS = 1000;

/** Throws OperatorError. */
export function targetOf(options: TargetOptions, environment: NodeJS.ProcessEnv): Target {
  const { timeoutMs, readOnly } = options;
  const place = placeOf(options, environment);
  const file = options.authFile;
  const own = file === undefined ? (environment['ROOKERY_AUTH'] ?? '') : textOfFile(file);
  const lines = own.split('\n').map((line) => line.trim());
  const auth = [...place.auth, ...lines.filter((line) => line !== '')].map(credentialOf);
  return { connect: place.connect, source: place.source, auth, timeoutMs, readOnly };
}

interface Place {
  readonly connect: string;
  readonly source: string;
  readonly auth: readonly string[];
}

function placeOf(options: TargetOptions, environment: NodeJS.ProcessEnv): Place {
  const contexts = new Contexts(environment);
  const saved = (name: string): Place => {
    return { ...contexts.load(name), source: `the context ${name}` };
  };
  const { connect: given, context } = options;
  if (given !== undefined && context !== undefined) {
    throw new OperatorError('Give --connect or --context, not both.');
  }
  if (given !== undefined) return { connect: given, source: '--connect', auth: [] };
  if (context !== undefined) return saved(context);
  const fromEnvironment = environment['ROOKERY_CONNECT'] ?? '';
  if (fromEnvironment !== '') {
    return { connect: fromEnvironment, source: 'ROOKERY_CONNECT', auth: [] };
  }
  const name = environment['ROOKERY_CONTEXT'] ?? '';
  const selected = name === '' ? contexts.selected() : name;
  if (selected !== null) return saved(selected);
  return { connect: DEFAULT_CONNECT, source: 'the default, for want of --connect', auth: [] };
}

function textOfFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError(`The file of credentials cannot be read: ${reason}`, { cause });
  }
}

/** Throws OperatorError without the text, which may be a password. */
export function credentialOf(text: string): Credential {
  const colon = text.indexOf(':');
  if (colon < 1) {
    throw new OperatorError('A credential is scheme:auth, such as digest:user:password.');
  }
  return { scheme: text.slice(0, colon), auth: text.slice(colon + 1) };
}

/** Rejects with NoConnectionError, which says what each server does. */
export async function openClient(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const { timeoutMs, auth, readOnly } = target;
  try {
    return await connect(target.connect, {
      connectDeadlineMs: timeoutMs,
      operationTimeoutMs: timeoutMs,
      auth,
      readOnly,
      logger: SILENT,
      ...options,
    });
  } catch (error) {
    if (error instanceof AuthFailedError || !(error instanceof OperationTimeoutError)) throw error;
    throw new NoConnectionError(await whyNotConnected(target), { cause: error });
  }
}

/** The commands report everything themselves. */
const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export async function whyNotConnected(target: Target): Promise<string> {
  const asked = await Promise.all(
    addressesOf(target.connect).map(async ({ address, ...server }) => {
      try {
        const text = await askWord(server, 'srvr', ASK_TIMEOUT_MS);
        const serves = parseStatus(text) !== null;
        const state = serves ? 'it serves, but gives no session' : reasonOf(text);
        return { address, isThere: true, serves, state };
      } catch (error) {
        const state = error instanceof Error ? error.message : String(error);
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
