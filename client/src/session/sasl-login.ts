/**
 * Logs a connection in by SASL with DIGEST-MD5 (RFC 2831), before anything else is sent on it.
 *
 * A login ends in one of three ways: the server has proved that it knows the password, too; it
 * refuses the user; or it cannot be trusted or offers no SASL, and then another server is tried,
 * but nothing is ever sent without the login. Called by SessionKeeper for each connection.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  AuthFailedError,
  ConnectionLossError,
  digestMd5Response,
  digestMd5Secret,
  KeeperError,
  OPERATIONS,
  OpCode,
} from '@rookery/protocol';
import { ProtocolViolationError } from '../api/errors.js';
import type { Call } from './call.js';
import type { Connection } from './connection.js';
import { PendingRequest } from './request.js';

export interface SaslCredential {
  readonly username: string;
  readonly password: string;
}

export interface LoginEvents {
  onLoggedIn(): void;
  /** The server refuses the user. */
  onRefused(error: AuthFailedError): void;
}

/** Null if the login has succeeded. */
type OnLogin = (error: Error | null) => void;

const EMPTY = new Uint8Array(0);
const SERVICE = 'zookeeper';
const CNONCE_BYTES = 24;

/** Without a credential there is no login. Calls one of the two, or the connection ends. */
export function logIn(
  connection: Connection,
  credential: SaslCredential | null,
  events: LoginEvents,
): void {
  if (credential === null) return events.onLoggedIn();
  exchange(connection, credential, (error) => {
    if (error === null) events.onLoggedIn();
    else if (error instanceof AuthFailedError) events.onRefused(error);
    else connection.fail(new ConnectionLossError(undefined, { cause: error }));
  });
}

function exchange(connection: Connection, credential: SaslCredential, done: OnLogin): void {
  sendToken(connection, EMPTY, (error, challenge) => {
    if (error !== null) return done(error);
    const answer = answerTo(challenge, credential);
    if (answer === null) {
      return done(new ProtocolViolationError('the server offers no login by DIGEST-MD5'));
    }
    sendToken(connection, Buffer.from(answer.response), (refusal, proof) => {
      if (refusal !== null) return done(refusal);
      const isProven = equalText(Buffer.from(proof ?? EMPTY).toString('latin1'), answer.proof);
      done(isProven ? null : new ProtocolViolationError('the server does not know the password'));
    });
  });
}

type OnToken = (error: Error | null, token: Uint8Array | null) => void;

function sendToken(connection: Connection, token: Uint8Array, done: OnToken): void {
  const { request, response } = OPERATIONS[OpCode.sasl];
  const call: Call<Uint8Array | null> = {
    opcode: OpCode.sasl,
    path: undefined,
    isWrite: false,
    write: (writer) => request.write(writer, { token }),
    read: (reader) => {
      const answered = response.read(reader).token;
      return answered === null ? null : Uint8Array.from(answered);
    },
  };
  connection.send(
    new PendingRequest<Uint8Array | null>({
      call,
      owner: { trouble: null, onSettled: () => undefined },
      signal: undefined,
      resolve: (answered) => done(null, answered),
      reject: (error) => done(refusalOf(error), null),
    }),
  );
}

/** Both codes mean that this user will not get in. */
function refusalOf(error: Error): Error {
  const isRefusal = error instanceof KeeperError && error.code === AuthFailedError.code;
  return isRefusal ? new AuthFailedError(undefined, { cause: error }) : error;
}

/** Null for what is no challenge of DIGEST-MD5. */
function answerTo(
  challenge: Uint8Array | null,
  { username, password }: SaslCredential,
): { readonly response: string; readonly proof: string } | null {
  const fields = directivesOf(Buffer.from(challenge ?? EMPTY).toString('latin1'));
  const nonce = fields.get('nonce');
  if (nonce === undefined || fields.get('algorithm') !== 'md5-sess') return null;
  const realm = fields.get('realm') ?? '';
  const cnonce = randomBytes(CNONCE_BYTES).toString('base64');
  const uri = `${SERVICE}/${realm}`;
  const secret = digestMd5Secret(username, realm, password);
  const parts = { secret, nonce, cnonce, nc: '00000001', qop: 'auth', uri };
  const directives = [
    ...['charset=utf-8', `username=${quoted(username)}`, `realm=${quoted(realm)}`],
    ...[`nonce=${quoted(nonce)}`, 'nc=00000001', `cnonce=${quoted(cnonce)}`],
    ...[
      `digest-uri=${quoted(uri)}`,
      'maxbuf=65536',
      `response=${digestMd5Response('AUTHENTICATE', parts)}`,
    ],
    'qop=auth',
  ];
  return { response: directives.join(','), proof: `rspauth=${digestMd5Response('', parts)}` };
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function directivesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // Sticky: what follows a text that is no directive is not looked for, so the time is linear.
  const directive = /[\s,]*([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s",]*))/gy;
  for (const [, key = '', inQuotes, plain = ''] of text.matchAll(directive)) {
    found.set(key.toLowerCase(), inQuotes?.replace(/\\([\s\S])/g, '$1') ?? plain);
  }
  return found;
}

function equalText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left, 'latin1'), Buffer.from(right, 'latin1')];
  return a.length === b.length && timingSafeEqual(a, b);
}
