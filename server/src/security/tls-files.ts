/**
 * Reads what one side of a TLS connection proves itself by and trusts: PEM or PKCS#12 files.
 *
 * What it promises to a port that uses TLS: `loadTlsFiles` returns material of which Node has made
 * a TLS context already, so that a certificate without its key, a wrong passphrase or a damaged
 * file is found here and not at the first connection; the private key and the passphrase are files
 * that others cannot read (secret-file.ts); every problem is one sentence that names the file.
 * Java's keystores are refused with the command that converts them. Reads synchronously.
 */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { errorMessage } from '@rookery/protocol';
import { OperatorError } from '../config/operator-error.js';
import { DerError, DerReader, TAG } from './der-reader.js';
import { readPublicFile, readSecretFile, readSecretLine } from './secret-file.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long before something expires a member and `config check` warn of it, in ms. */
export const EXPIRY_WARN_MS = {
  /** An operator who renews certificates a month before they expire is in time. */
  certificate: 14 * DAY_MS,
  /** Until then every certificate that it has signed needs another one in its place. */
  authority: 30 * DAY_MS,
  /** Lists are renewed every few hours or days, so a longer time would warn of healthy ones. */
  revocationList: HOUR_MS,
} as const;

/** Absolute paths. Either `certFile` and `keyFile`, or `pkcs12File`. */
export interface TlsFiles {
  /** PEM: the certificate, then the intermediate ones. */
  readonly certFile: string | null;
  /** PEM; encrypted if there is a passphrase. */
  readonly keyFile: string | null;
  readonly pkcs12File: string | null;
  /** The passphrase of the key or of the PKCS#12 file, the only line of a file. */
  readonly passphraseFile: string | null;
  /** PEM: the authorities that may have signed the certificates of others. */
  readonly caFile: string | null;
  /** PEM: a list of revoked certificates for each authority. */
  readonly crlFiles: readonly string[];
}

export interface TlsMaterial {
  /** For `tls.createServer`, `tls.connect` and `setSecureContext`. */
  readonly options: SecureContextOptions;
  /** The certificate by which this side proves itself. */
  readonly certificate: X509Certificate;
  /**
   * The one that expires first of it and the intermediate ones behind it in `certFile`; of a
   * PKCS#12 file only the certificate itself and the one that has signed it are known.
   */
  readonly firstToExpire: X509Certificate;
  /** The one of `caFile` that expires first; null without a `caFile`. */
  readonly firstAuthorityToExpire: X509Certificate | null;
  /** The revocation list that expires first; null where none does, as far as is known. */
  readonly firstListToExpire: RevocationListEnd | null;
  /** Node trusts the other certificates of such a file, too. */
  readonly isPkcs12: boolean;
  /** SHA-256 of each trusted authority, as Node writes fingerprints. */
  readonly authorities: ReadonlySet<string>;
}

export interface RevocationListEnd {
  readonly file: string;
  /** Which of the lists in the file it is; the first one is 1. */
  readonly block: number;
  /** Ms since 1970. */
  readonly endsWallMs: number;
}

/** Every file that is read, for a watch on them. */
export function pathsOf(files: TlsFiles): readonly string[] {
  const { certFile, keyFile, pkcs12File, passphraseFile, caFile, crlFiles } = files;
  const single = [certFile, keyFile, pkcs12File, passphraseFile, caFile];
  return [...single.filter((path) => path !== null), ...crlFiles];
}

/**
 * Suites that authenticate what they encrypt (AEAD) and keep former connections secret. Node's
 * default has suites with CBC, too. Java has had those with GCM since version 8.
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** Throws OperatorError with one sentence for the first problem. */
export function loadTlsFiles(files: TlsFiles): TlsMaterial {
  const { passphraseFile, caFile } = files;
  const passphrase =
    passphraseFile === null ? null : readSecretLine(passphraseFile, 'The passphrase');
  const authorities = caFile === null ? [] : readAuthorities(caFile);
  const lists = revocationListsIn(files.crlFiles);
  const options: SecureContextOptions = {
    ...ownPart(files),
    ...(passphrase === null ? {} : { passphrase }),
    // An empty list trusts no authority; without one Node trusts every public authority.
    ca: authorities.map((one) => one.toString()),
    ...(lists.length === 0 ? {} : { crl: lists.map(({ pem }) => pem) }),
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
  };
  const chain = chainOf(options, files, authorities);
  const fingerprints = new Set(authorities.map(({ fingerprint256 }) => fingerprint256));
  return {
    options,
    certificate: chain[0],
    firstToExpire: firstToExpireOf(chain),
    firstAuthorityToExpire: authorities.length === 0 ? null : firstToExpireOf(authorities),
    firstListToExpire: firstListToExpireOf(lists),
    isPkcs12: files.pkcs12File !== null,
    authorities: fingerprints,
  };
}

interface RevocationList {
  readonly file: string;
  readonly block: number;
  readonly pem: string;
}

function firstListToExpireOf(lists: readonly RevocationList[]): RevocationListEnd | null {
  let first: RevocationListEnd | null = null;
  for (const { file, block, pem } of lists) {
    const endsWallMs = listEndOf(pem);
    if (endsWallMs === null || (first !== null && first.endsWallMs <= endsWallMs)) continue;
    first = { file, block, endsWallMs };
  }
  return first;
}

function listEndOf(pem: string): number | null {
  try {
    return revocationListEnd(Buffer.from(pem, 'latin1'));
  } catch (error) {
    // OpenSSL reads what is not quite DER; then the end is not known.
    if (error instanceof DerError) return null;
    throw error;
  }
}

/** `certificates` are one at least. */
function firstToExpireOf(certificates: readonly X509Certificate[]): X509Certificate {
  const endOf = ({ validTo }: X509Certificate) => Date.parse(validTo);
  return certificates.reduce((first, one) => (endOf(one) < endOf(first) ? one : first));
}

function ownPart(files: TlsFiles): SecureContextOptions {
  const { certFile, keyFile, pkcs12File } = files;
  if (pkcs12File !== null) {
    const pfx = readSecretFile(pkcs12File, 'The PKCS#12 file');
    refuseJavaKeystore(pfx, pkcs12File);
    return { pfx };
  }
  if (certFile === null || keyFile === null) {
    throw new OperatorError('A certificate needs its private key, and a private key the other.');
  }
  const cert = readPublicFile(certFile, 'The certificate');
  refuseJavaKeystore(cert, certFile);
  const key = readSecretFile(keyFile, 'The private key');
  refuseJavaKeystore(key, keyFile);
  return { cert, key };
}

/** Every list in the files, each by itself, because Node reads only the first one of a text. */
function revocationListsIn(crlFiles: readonly string[]): readonly RevocationList[] {
  const lists = crlFiles.flatMap(revocationListsOf);
  if (lists.length <= CRLS_MAX) return lists;
  throw new OperatorError(
    `crlFiles have ${lists.length} revocation lists: expected ${CRLS_MAX} at most.`,
  );
}

function revocationListsOf(path: string): readonly RevocationList[] {
  const text = readPublicFile(path, 'The revocation list').toString('latin1');
  const blocks = pemBlocks(text, CRL_LABEL);
  if (
    blocks.length === 0 ||
    blocks.length !== text.split(`-----BEGIN ${CRL_LABEL}-----`).length - 1
  ) {
    const problem = blocks.length === 0 ? 'no' : 'an incomplete';
    throw new OperatorError(`The revocation list ${path} has ${problem} PEM block "X509 CRL".`);
  }
  return blocks.map((pem, index) => {
    const block = index + 1;
    try {
      createSecureContext({ crl: pem });
    } catch (cause) {
      const which = `block ${block} of the revocation list ${path}`;
      throw new OperatorError(`The ${which} cannot be read: ${reasonOf(cause)}.`, { cause });
    }
    return { file: path, block, pem };
  });
}

/** Node has no other way to the certificates in a PKCS#12 file, and none to those further up. */
interface NativeContext {
  getCertificate?(): Buffer | null;
  getIssuer?(): Buffer | null;
}

type Chain = readonly [X509Certificate, ...X509Certificate[]];

/**
 * The certificate, and those behind it in `certFile`. Makes a context of the options once, which is
 * how their problems are found.
 */
function chainOf(
  options: SecureContextOptions,
  files: TlsFiles,
  authorities: readonly X509Certificate[],
): Chain {
  const { certFile, keyFile, pkcs12File } = files;
  try {
    const context = createSecureContext(options);
    if (certFile !== null) {
      const bytes = readPublicFile(certFile, 'The certificate');
      const [, ...behind] = pemBlocks(bytes.toString('latin1'), 'CERTIFICATE');
      return [new X509Certificate(bytes), ...behind.map((block) => new X509Certificate(block))];
    }
    const native: NativeContext = context.context;
    const der = native.getCertificate?.() ?? null;
    if (der === null) throw new OperatorError(`${pkcs12File} has no certificate.`);
    const issuerDer = native.getIssuer?.() ?? null;
    if (issuerDer === null) return [new X509Certificate(der)];
    const issuer = new X509Certificate(issuerDer);
    // OpenSSL also finds it in caFile, whose certificates are watched as authorities.
    const isOfCaFile = authorities.some((one) => one.fingerprint256 === issuer.fingerprint256);
    return [new X509Certificate(der), ...(isOfCaFile ? [] : [issuer])];
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      pkcs12File === null
        ? `The certificate ${certFile} and the key ${keyFile} cannot be used: ${reasonOf(error)}.`
        : `The PKCS#12 file ${pkcs12File} cannot be used: ${reasonOf(error)}.`,
      { cause: error },
    );
  }
}

/** OpenSSL's words for the usual mistakes are not an operator's. */
function reasonOf(error: unknown): string {
  const text = errorMessage(error);
  if (/key values mismatch/i.test(text)) return 'they do not belong together';
  if (/mac verify failure|bad decrypt|bad password|interrupted or cancelled/i.test(text)) {
    return 'the passphrase is missing or wrong (passphraseFile)';
  }
  if (/unsupported/i.test(text)) {
    return `its encryption is too old for OpenSSL 3; encrypt it again (${text})`;
  }
  return text;
}

/** Each handshake looks for the authorities of a chain among them. */
const CRLS_MAX = 1_000;
const CRL_LABEL = 'X509 CRL';

/** One object for each certificate, because Node would ignore what it cannot read among them. */
function readAuthorities(path: string): readonly X509Certificate[] {
  const bytes = readPublicFile(path, 'The list of authorities');
  refuseJavaKeystore(bytes, path);
  const blocks = pemBlocks(bytes.toString('latin1'), 'CERTIFICATE');
  if (blocks.length === 0) {
    throw new OperatorError(`The list of authorities ${path} has no PEM block "CERTIFICATE".`);
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      const which = `certificate ${index + 1} of the list of authorities ${path}`;
      throw new OperatorError(`The ${which} cannot be read: ${reasonOf(cause)}.`, { cause });
    }
  });
}

/** The first bytes of JKS and JCEKS. */
const JAVA_KEYSTORES = [0xfeedfeed, 0xcececece];

function refuseJavaKeystore(bytes: Buffer, path: string): void {
  if (bytes.length < 4 || !JAVA_KEYSTORES.includes(bytes.readUInt32BE(0))) return;
  const command =
    `keytool -importkeystore -srckeystore ${path} ` +
    `-destkeystore ${path}.p12 -deststoretype PKCS12`;
  throw new OperatorError(
    `${path} is a keystore of Java, which only Java reads. Convert it with: ${command}`,
  );
}

const LABEL = 'X509 CRL';
const INTEGER = 0x02;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/**
 * Returns the earliest end of the lists in a PEM file, in ms since 1970; null if none of them ends.
 * Throws DerError for what is no such list.
 */
export function revocationListEnd(pem: Uint8Array): number | null {
  let earliest: number | null = null;
  for (const block of pemBlocks(Buffer.from(pem).toString('latin1'), LABEL)) {
    const base64 = block.split('-----')[2] ?? '';
    const end = endOf(Buffer.from(base64, 'base64'));
    if (end !== null && (earliest === null || end < earliest)) earliest = end;
  }
  return earliest;
}

/** RFC 5280, section 5.1: version, signature, issuer, thisUpdate, nextUpdate. */
function endOf(der: Uint8Array): number | null {
  const list = new DerReader(der).enter(TAG.sequence).enter(TAG.sequence);
  list.maybeSkip(INTEGER);
  list.skip();
  list.skip();
  list.skip();
  if (list.isAtEnd) return null;
  const { tag, bytes } = list.next();
  if (tag !== UTC_TIME && tag !== GENERALIZED_TIME) return null;
  return timeOf(Buffer.from(bytes).toString('latin1'), tag === UTC_TIME);
}

/**
 * `YYMMDDHHMMSSZ`, where years from 50 on are of the last century, or `YYYYMMDDHHMMSSZ`; null for
 * any other text.
 */
function timeOf(text: string, hasShortYear: boolean): number | null {
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const whole = hasShortYear ? `${century}${text}` : text;
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(whole) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? null : ms;
}

export function pemBlocks(text: string, label: string): readonly string[] {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const blocks: string[] = [];
  let at = text.indexOf(begin);
  while (at >= 0) {
    const dash = text.indexOf('-', at + begin.length);
    if (dash < 0) break;
    const isWhole = text.startsWith(end, dash);
    if (isWhole) blocks.push(text.slice(at, dash + end.length));
    at = text.indexOf(begin, isWhole ? dash + end.length : dash);
  }
  return blocks;
}
