/**
 * The server's side of SASL's DIGEST-MD5 (RFC 2831) as ZooKeeper speaks it.
 *
 * The server's challenge is the one of Java's `SaslServer` for the realm `zk-sasl-md5`: no list of
 * qualities, so authentication alone. Every exchange has a nonce of its own and is over after one
 * response, right or wrong. Responses are bounded and compared in constant time, and an unknown
 * user takes the same steps as a wrong password. User names and passwords are ASCII, because
 * clients do not agree on how to encode others. Called by the pipeline, through its interface
 * `SaslServer`.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { digestMd5Response, digestMd5Secret } from '@rookery/protocol';
import { OperatorError } from '../config/operator-error.js';
import type { SaslAnswer, SaslExchange, SaslServer } from './sasl.js';
import { readSecretFile } from './secret-file.js';

const REALM = 'zk-sasl-md5';
const DIGEST_URI = `zookeeper/${REALM}`;
const RESPONSE_BYTES_MAX = 4096;
const NONCE_BYTES = 30;

/** Returns H(user:realm:password) in hex, or undefined for an unknown user. */
type SecretOf = (user: string) => string | undefined;

export class DigestMd5Server implements SaslServer {
  readonly #secretOf: SecretOf;
  readonly #newNonce: () => string;

  constructor(secretOf: SecretOf, newNonce = () => randomBytes(NONCE_BYTES).toString('base64')) {
    this.#secretOf = secretOf;
    this.#newNonce = newNonce;
  }

  begin(): SaslExchange {
    const nonce = this.#newNonce();
    let step: 'challenge' | 'response' | 'over' = 'challenge';
    return {
      userIn: (token) => fieldsOf(token)?.username ?? '',
      answer: (token) => {
        switch (step) {
          case 'challenge':
            step = 'response';
            return { kind: 'challenge', token: Buffer.from(challengeText(nonce)) };
          case 'response':
            step = 'over';
            return this.#judge(nonce, token);
          case 'over':
            return refused('the exchange is over');
        }
      },
    };
  }

  #judge(nonce: string, token: Uint8Array): SaslAnswer {
    const fields = fieldsOf(token);
    if (fields === null) return refused('the response is malformed or too long');
    const { username = '', nonce: answered, cnonce = '', authzid, response = '' } = fields;
    const { realm, qop = 'auth', nc = '00000001', 'digest-uri': uri = '' } = fields;
    if (realm !== REALM) return refused('the realm is another one');
    if (answered !== nonce || nc !== '00000001') return refused('the nonce is another one');
    if (qop !== 'auth') return refused('the quality of protection is not auth');
    if (uri.toLowerCase() !== DIGEST_URI) return refused('the service is another one');
    if (cnonce === '') return refused('there is no nonce of the client');
    const known = this.#secretOf(username);
    const secret = Buffer.from(known ?? NOBODYS_SECRET, 'hex');
    const parts = { secret, nonce, cnonce, nc, qop, uri, authzid };
    const isRight = equalText(response.toLowerCase(), digestMd5Response('AUTHENTICATE', parts));
    if (!isRight || known === undefined) return refused('the user or the password is wrong');
    const proof = Buffer.from(`rspauth=${digestMd5Response('', parts)}`);
    return { kind: 'done', token: proof, user: username };
  }
}

/** Compared for an unknown user; it is the digest of no known text. */
const NOBODYS_SECRET = randomBytes(16).toString('hex');

function refused(reason: string): SaslAnswer {
  return { kind: 'refused', reason };
}

function challengeText(nonce: string): string {
  return `realm="${REALM}",nonce="${nonce}",charset=utf-8,algorithm=md5-sess`;
}

/** What the server keeps of a password. */
export function secretOfPassword(user: string, password: string): string {
  return Buffer.from(digestMd5Secret(user, REALM, password)).toString('hex');
}

function equalText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left, 'latin1'), Buffer.from(right, 'latin1')];
  return a.length === b.length && timingSafeEqual(a, b);
}

interface Directives {
  readonly username?: string;
  readonly nonce?: string;
  readonly cnonce?: string;
  readonly authzid?: string;
  readonly response?: string;
  readonly realm?: string;
  readonly qop?: string;
  readonly nc?: string;
  readonly 'digest-uri'?: string;
}

const DIRECTIVE = /\s*([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"\s*|([^\s",]+)\s*)?(?:,|$)/y;

/** Null for what is no response. */
function fieldsOf(token: Uint8Array): Directives | null {
  if (token.length > RESPONSE_BYTES_MAX) return null;
  return directivesOf(Buffer.from(token).toString('latin1'));
}

/** Null if it is no list of directives, or has one twice. */
function directivesOf(text: string): Directives | null {
  const found = new Map<string, string>();
  DIRECTIVE.lastIndex = 0;
  while (DIRECTIVE.lastIndex < text.length) {
    const match = DIRECTIVE.exec(text);
    if (match === null) return null;
    const [, name = '', quoted, plain = ''] = match;
    const key = name.toLowerCase();
    if (found.has(key)) return null;
    found.set(key, quoted === undefined ? plain : quoted.replace(/\\([\s\S])/g, '$1'));
  }
  return Object.fromEntries(found);
}

const USERS_MAX = 100_000;
/** Neither may mean a host or a realm to a reader of ACLs, as in Kerberos. */
const USER = /^[^\s:@/"\\]{1,256}$/;
const PRINTABLE = /^[\x20-\x7e]*$/;
const DIGEST = new RegExp(`^([^:]*):${REALM}:([0-9a-fA-F]{32})$`);

/** Throws OperatorError for a file that cannot be used. */
export function readSaslUsers(path: string): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  const text = readSecretFile(path, 'The list of users').toString('utf8');
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\r$/, '');
    if (line.trim() === '' || line.startsWith('#')) continue;
    const where = `Line ${index + 1} of the list of users ${path}`;
    const entry = entryOf(line);
    if (typeof entry === 'string') throw new OperatorError(`${where} ${entry}.`);
    if (users.has(entry.user))
      throw new OperatorError(`${where} names a user for the second time.`);
    users.set(entry.user, entry.secret);
    if (users.size > USERS_MAX) throw new OperatorError(`${where} is one too many: ${USERS_MAX}.`);
  }
  if (users.size === 0) throw new OperatorError(`The list of users ${path} has no user.`);
  return users;
}

/** A text says what is wrong. */
function entryOf(line: string): { readonly user: string; readonly secret: string } | string {
  if (!PRINTABLE.test(line)) return 'has characters other than printable ASCII';
  const digest = DIGEST.exec(line);
  const colon = line.indexOf(':');
  const user = line.slice(0, Math.max(colon, 0));
  if (!USER.test(user))
    return 'must begin with a user without blanks, @, / and quotes, and a colon';
  if (digest !== null) return { user, secret: (digest[2] ?? '').toLowerCase() };
  const password = line.slice(colon + 1);
  return password === '' ? 'has no password' : { user, secret: secretOfPassword(user, password) };
}
