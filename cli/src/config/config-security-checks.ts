/**
 * Checks for `rookery config check` whether a member on this machine could use its files with
 * certificates, secrets and users, and its directories of audit logs and backups.
 *
 * Files are read by the code of the members themselves. Nothing is changed, and no content is
 * shown. Each check returns its findings and never throws.
 */
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { connect, createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';
import {
  type Config,
  EXPIRY_WARN_MS,
  loadTlsFiles,
  OperatorError,
  peerCertificateProblem,
  readFileUpTo,
  readPeerSecrets,
  readSaslUsers,
  revocationListEnd,
  type ServerAddress,
  SMALL_FILE_BYTES_MAX,
  type TlsFiles,
  type TlsMaterial,
} from '@rookery/server';
import { codeOf } from '../machine/error-code.js';
import { directoryCheck, type Finding, finding } from './config-checks.js';

const HANDSHAKE_MS = 5_000;

/** `self` is the member that is to run on this machine; null if none is named. */
export async function securityChecks(
  config: Config,
  self: ServerAddress | null,
): Promise<readonly Finding[]> {
  const found = [
    ...(await clientTlsChecks(config, self)),
    ...(await peerAuthChecks(config, self)),
    ...userChecks(config),
    ...(await auditChecks(config)),
    ...(await backupChecks(config, self)),
  ];
  if (self !== null) return found;
  // Perhaps these files belong on other machines.
  return found.map(({ verdict, text }) =>
    verdict === 'FAIL'
      ? finding('warning', `on this machine, ${lowerFirst(text)}`)
      : { verdict, text },
  );
}

async function clientTlsChecks(
  { tls }: Config,
  self: ServerAddress | null,
): Promise<readonly Finding[]> {
  if (tls === null) return [];
  const material = loaded(tls);
  if ('verdict' in material) return [material];
  const found = [
    validity(material, 'the certificate for clients'),
    ...authorityChecks(material, 'clients'),
    ...(await revocationChecks(tls.crlFiles)),
  ];
  const host = self?.clientHost ?? self?.host;
  if (host === undefined || isNamed(material, host)) return found;
  const text =
    `the certificate for clients does not name ${host}: clients that check the name of the ` +
    'member, as most do, refuse it';
  return [...found, finding('warning', text)];
}

async function peerAuthChecks(
  { peerAuth, servers }: Config,
  self: ServerAddress | null,
): Promise<readonly Finding[]> {
  if (peerAuth === null || peerAuth === 'none' || servers.length === 1) return [];
  const { secretFile, tls } = peerAuth;
  const found = secretFile === undefined ? [] : [secretCheck(secretFile)];
  if (tls === undefined) return found;
  const material = loaded(tls);
  if ('verdict' in material) return [...found, material];
  found.push(validity(material, 'the certificate for members'));
  found.push(...authorityChecks(material, 'members'));
  if (self !== null) {
    const name = { id: self.id, host: self.host, ensemble: tls.ensemble };
    const problem = peerCertificateProblem(material.certificate.raw, name);
    if (problem !== null) found.push(finding('FAIL', `other members refuse this one: ${problem}`));
  }
  return [...found, await ownHandshake(material.options)];
}

function secretCheck(path: string): Finding {
  return attempt(() => {
    const { length } = readPeerSecrets(path);
    const also = length === 1 ? '' : ', and the one that is to take its place';
    return finding('ok', `${path} has the secret of the members${also}`);
  });
}

function userChecks({ sasl, superIdentities }: Config): readonly Finding[] {
  if (sasl === null) return [];
  const { usersFile } = sasl;
  const users = attempt(() => readSaslUsers(usersFile));
  if ('verdict' in users) return [users];
  const missing = superIdentities
    .filter((identity) => identity.startsWith('sasl:'))
    .map((identity) => identity.slice('sasl:'.length))
    .filter((user) => !users.has(user));
  const count = users.size === 1 ? 'one user' : `${users.size} users`;
  return [
    finding('ok', `${usersFile} has ${count} of SASL`),
    ...missing.map((user) =>
      finding('warning', `superIdentities names sasl:${user}, whom ${usersFile} does not list`),
    ),
  ];
}

async function auditChecks({ auditFile, auditRequired }: Config): Promise<readonly Finding[]> {
  if (auditFile === null) return [];
  const folder = dirname(auditFile);
  const code = await access(folder, constants.W_OK | constants.X_OK).then(() => null, codeOf);
  if (code === null) return [finding('ok', `the audit log can be written to ${folder}`)];
  const text = `the audit log cannot be written to ${folder} (${code})`;
  if (auditRequired) return [finding('FAIL', `${text}: the member does not start`)];
  return [finding('FAIL', `${text}: the member starts, and loses its lines`)];
}

async function backupChecks(
  { backupDirectory, dataDir }: Config,
  self: ServerAddress | null,
): Promise<readonly Finding[]> {
  if (backupDirectory === null) return [];
  const found = await directoryCheck(backupDirectory);
  const [backups, data] = await Promise.all([deviceOf(backupDirectory), deviceOf(dataDir)]);
  if (self === null || backups !== data) return [found];
  const text = `${backupDirectory} is on the disk of the data: backups do not outlive that disk`;
  return [found, finding('warning', text)];
}

/** The device of the directory, or of the nearest one above it that exists. */
async function deviceOf(directory: string): Promise<number | null> {
  const stats = await stat(directory).catch(() => null);
  if (stats !== null) return stats.dev;
  const parent = dirname(directory);
  return parent === directory ? null : await deviceOf(parent);
}

function loaded(files: TlsFiles): TlsMaterial | Finding {
  return attempt(() => loadTlsFiles(files));
}

function attempt<T>(read: () => T): T | Finding {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return finding('FAIL', error.message);
  }
}

function validity({ certificate, firstToExpire }: TlsMaterial, what: string): Finding {
  const { validFrom } = certificate;
  const named = (one: typeof certificate) => `${what} (${subjectOf(one)})`;
  if (Date.parse(validFrom) > Date.now()) {
    return finding('FAIL', `${named(certificate)} is not valid before ${validFrom}`);
  }
  const { validTo } = firstToExpire;
  const which = named(firstToExpire);
  const leftMs = Date.parse(validTo) - Date.now();
  if (leftMs <= 0) return finding('FAIL', `${which} has expired on ${validTo}`);
  return finding(
    leftMs < EXPIRY_WARN_MS.certificate ? 'warning' : 'ok',
    `${which} expires on ${validTo}`,
  );
}

/** Says nothing of authorities that last. Perhaps nothing of one that has expired is in use. */
function authorityChecks(
  { firstAuthorityToExpire: first }: TlsMaterial,
  signedFor: 'clients' | 'members',
): readonly Finding[] {
  if (first === null) return [];
  const { validTo } = first;
  const leftMs = Date.parse(validTo) - Date.now();
  if (leftMs > EXPIRY_WARN_MS.authority) return [];
  const which = `the authority of ${signedFor} in caFile (${subjectOf(first)})`;
  const text =
    leftMs <= 0
      ? `${which} has expired on ${validTo}: the certificates that it has signed are refused`
      : `${which} expires on ${validTo}: replace the certificates that it has signed before`;
  return [finding('warning', text)];
}

function subjectOf({ subject }: TlsMaterial['certificate']): string {
  return subject.replaceAll('\n', ', ');
}

async function revocationChecks(paths: readonly string[]): Promise<readonly Finding[]> {
  const ends = await Promise.all(
    paths.map(async (path) => ({
      path,
      end: revocationListEnd(readFileUpTo(path, SMALL_FILE_BYTES_MAX)),
    })),
  );
  return ends
    .filter(({ end }) => end !== null && end <= Date.now())
    .map(({ path }) =>
      finding(
        'FAIL',
        `the revocation list ${path} has expired: its authority's clients are refused`,
      ),
    );
}

function isNamed({ certificate }: TlsMaterial, host: string): boolean {
  return (certificate.checkHost(host) ?? certificate.checkIP(host)) !== undefined;
}

/**
 * A member dials and is dialled with one certificate, so it has to pass its own examination: by its
 * authority, its uses, its lists of revoked certificates.
 */
async function ownHandshake(options: SecureContextOptions): Promise<Finding> {
  const problem = await handshakeProblem(options);
  if (problem === null) {
    return finding('ok', 'a member with this certificate is accepted by one that trusts the same');
  }
  return finding('FAIL', `members with this certificate refuse each other: ${problem}`);
}

function handshakeProblem(options: SecureContextOptions): Promise<string | null> {
  return new Promise((resolve) => {
    // A refusal by Node would not say the reason.
    const server = createServer({ ...options, requestCert: true, rejectUnauthorized: false });
    let client: TLSSocket | null = null;
    const late = setTimeout(() => end('the handshake takes too long'), HANDSHAKE_MS);
    const end = (problem: string | null): void => {
      clearTimeout(late);
      server.close();
      client?.destroy();
      resolve(problem);
    };
    server.on('secureConnection', (socket) => {
      socket.on('error', () => undefined);
      end(socket.authorized ? null : String(socket.authorizationError));
    });
    server.on('tlsClientError', (error) => end(error.message));
    server.on('error', (error) => end(error.message));
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      const dialling = { ...options, checkServerIdentity: () => undefined };
      client = connect({ ...dialling, host: '127.0.0.1', port });
      client.on('error', (error) => end(error.message));
    });
  });
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? `${text[0]?.toLowerCase()}${text.slice(1)}` : text;
}
