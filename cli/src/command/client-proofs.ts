/**
 * Makes the proofs of commands to servers, and their checks of servers: certificates from files,
 * users from credentials.
 *
 * The key of a certificate and a file of credentials are secrets: a file that other users may read
 * is refused, by the rule that members have for their secrets. Files of TLS are read again for each
 * connection, so that a command that runs for long outlives its certificate. A credential
 * `sasl:user:password` logs in by DIGEST-MD5 before anything else is sent; those of other schemes
 * are sent as `addauth` does. Used by targets, contexts and the mirror.
 */
import { statSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ConnectOptions, TlsOptions } from '@rookery/client';
import { errorMessage } from '@rookery/protocol';
import { OperatorError, readFileUpTo, readSecretFile, SMALL_FILE_BYTES_MAX } from '@rookery/server';

/** Files in PEM. Without `ca`, the authorities that the system trusts have signed the servers. */
export interface TlsPaths {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Credential {
  readonly scheme: string;
  readonly auth: string;
}

/** What the options of `tls-options.ts` say; null if none is given. */
export function tlsOfOptions(options: Readonly<Record<string, unknown>>): TlsPaths | null {
  const text = (name: string) => {
    const value = options[name];
    return typeof value === 'string' ? value : undefined;
  };
  const paths = { ca: text('tlsCa'), cert: text('tlsCert'), key: text('tlsKey') };
  return options['tls'] === true || isAnyGiven(paths) ? paths : null;
}

/** The same by the variables PREFIX (which is 1), PREFIX_CA, PREFIX_CERT and PREFIX_KEY. */
export function tlsOfEnvironment(
  environment: NodeJS.ProcessEnv,
  prefix = 'ROOKERY_TLS',
): TlsPaths | null {
  const text = (suffix: string) => environment[`${prefix}${suffix}`] || undefined;
  const paths = { ca: text('_CA'), cert: text('_CERT'), key: text('_KEY') };
  return text('') === '1' || isAnyGiven(paths) ? paths : null;
}

/** The client's options for these files. Throws OperatorError with the file that cannot be used. */
export function clientTlsOf(paths: TlsPaths): TlsOptions {
  readTls(paths);
  return { caFile: paths.ca, certFile: paths.cert, keyFile: paths.key };
}

/** What is in the files now. Throws OperatorError with the file that cannot be used. */
export function readTls({ ca, cert, key }: TlsPaths): ConnectionOptions {
  if ((cert === undefined) !== (key === undefined)) {
    throw new OperatorError('A certificate and its key are given together, or neither is.');
  }
  return {
    ...(ca === undefined ? {} : { ca: contentOf(ca, 'The authority of the servers') }),
    ...(cert === undefined ? {} : { cert: contentOf(cert, 'The certificate') }),
    ...(key === undefined ? {} : { key: readSecretFile(key, 'The key of the certificate') }),
  };
}

/**
 * The text of a file of credentials, which may also be a pipe that nobody else can open, as a shell
 * makes it for `<(command)`. Throws OperatorError without the text.
 */
export function readCredentials(path: string): string {
  if (isOwnPipe(path)) return contentOf(path, 'The pipe with credentials').toString();
  return readSecretFile(path, 'The file of credentials').toString('utf8');
}

function isOwnPipe(path: string): boolean {
  try {
    const stats = statSync(path);
    return stats.isFIFO() && (stats.mode & 0o077) === 0;
  } catch {
    // Reading it reports what is wrong.
    return false;
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

/** The client's options for these credentials. Throws OperatorError without a password. */
export function proofsOf(
  credentials: readonly Credential[],
): Pick<ConnectOptions, 'auth' | 'sasl'> {
  const auth = credentials.filter(({ scheme }) => scheme !== 'sasl');
  const [login, second] = credentials.filter(({ scheme }) => scheme === 'sasl');
  if (login === undefined) return { auth };
  const [, username, password] = /^([^:]+):(.+)$/s.exec(login.auth) ?? [];
  if (second !== undefined || username === undefined || password === undefined) {
    throw new OperatorError('There may be one credential of sasl, and it is sasl:user:password.');
  }
  return { auth, sasl: { username, password } };
}

function isAnyGiven(paths: TlsPaths): boolean {
  return Object.values(paths).some((path) => path !== undefined);
}

function contentOf(path: string, what: string): Buffer {
  try {
    return readFileUpTo(path, SMALL_FILE_BYTES_MAX);
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new OperatorError(`${what} cannot be read: ${reason}`, { cause });
  }
}
