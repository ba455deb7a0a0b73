/**
 * The settings by which clients and members prove who they are and connections are protected: their
 * meaning and their rules.
 *
 * Paths are relative to the config file until `resolvedTls`, `resolvedSasl` and `resolvedPeerAuth`
 * make them absolute. No file is read here: which files are secret, and what they must be, is
 * checked when the member starts. Called by config.ts and config-schema.ts.
 */
import { resolve } from 'node:path';
import { DIGEST_ALGS } from '@rookery/protocol';
import { z } from 'zod';
import { type Endpoints, isLoopback, listenHostsOf, peerAddressOf } from './addresses.js';
import { DIGEST_PATTERN } from './digest-of.js';
import { flag, integer, text } from './setting-types.js';

/** TLS for clients. */
export interface TlsSettings {
  /**
   * The member's certificate as PEM, followed by intermediate ones. Clients check that it names the
   * host that they connect to. It needs `keyFile`.
   */
  readonly certFile: string | null;
  /** The private key of `certFile` as PEM. Only its owner may have access to the file. */
  readonly keyFile: string | null;
  /**
   * Certificate and key in one PKCS#12 file, in place of `certFile` and `keyFile`. Only its owner
   * may have access to it. Java's keystores (JKS) are refused with the command that converts them.
   */
  readonly pkcs12File: string | null;
  /**
   * The file with the passphrase of the key or of the PKCS#12 file, as its only line. Only its
   * owner may have access to it.
   */
  readonly passphraseFile: string | null;
  /** The authorities, as PEM, that sign certificates of clients. No other one is trusted. */
  readonly caFile: string | null;
  /**
   * Lists of revoked certificates, as PEM. If there is any, each authority in the chain of a
   * client's certificate needs one that has not expired, or the client is refused.
   */
  readonly crlFiles: readonly string[];
  /**
   * Whether clients present certificates: `need` refuses those who do not, `want` lets them in
   * without an identity, `none` does not ask. The default is `need` if there is a `caFile`, and
   * otherwise `none`. A certificate that is expired, revoked or of another authority is refused in
   * any case.
   */
  readonly clientAuth: 'none' | 'want' | 'need';
  /**
   * What of a client's certificate is its identity of scheme `x509`: `subject` (the default, as in
   * ZooKeeper), or `san-uri` or `san-dns`, the URIs or the DNS names among its alternative names.
   * Each of these is an identity, and a certificate without any identifies no client. All members
   * need the same value.
   */
  readonly identity: 'subject' | 'san-uri' | 'san-dns';
  /**
   * Whether `clientPort` speaks TLS, too; default true. The first byte tells TLS from plain
   * connections.
   */
  readonly onClientPort: boolean;
  /**
   * Whether sessions without TLS are refused; default false. Four-letter words are still answered
   * without it, as far as `fourLetterWords` allows.
   */
  readonly required: boolean;
  /** How long a handshake may take, in ms; default 10,000. */
  readonly handshakeTimeoutMs: number;
  /**
   * The number of handshakes that may be under way; default 1,000. One more takes the place of the
   * oldest from the address that has most; IPv6 addresses of one network of 64 bits count as one.
   */
  readonly handshakesMax: number;
}

/** SASL for clients. */
export interface SaslSettings {
  /**
   * The users of DIGEST-MD5, as [the page on security](operations/security.md) describes them. Only
   * its owner may have access to the file. It is read again when it changes.
   */
  readonly usersFile: string;
}

/** Schemes by which a client can prove who it is. */
const PROVING_SCHEMES = ['digest', 'x509', 'sasl'] as const;

const file = text;
const optionalFile = (what: string) => file(what).nullable().default(null);

/** Bounded because each handshake checks the client's chain against all of them. */
const CRL_FILES_MAX = 100;

export const tlsSchema = z
  .strictObject(
    {
      certFile: optionalFile('a PEM file'),
      keyFile: optionalFile('a PEM file'),
      pkcs12File: optionalFile('a PKCS#12 file'),
      passphraseFile: optionalFile('a file with a passphrase'),
      caFile: optionalFile('a PEM file'),
      crlFiles: z
        .array(file('a PEM file'), { error: 'expected a list of PEM files' })
        .max(CRL_FILES_MAX, { error: `expected at most ${CRL_FILES_MAX} files` })
        .default([]),
      clientAuth: z
        .enum(['none', 'want', 'need'], { error: 'expected one of none, want, need' })
        .optional(),
      identity: z
        .enum(['subject', 'san-uri', 'san-dns'], {
          error: 'expected one of subject, san-uri, san-dns',
        })
        .default('subject'),
      onClientPort: flag().default(true),
      required: flag().default(false),
      handshakeTimeoutMs: integer(100, 600_000).default(10_000),
      handshakesMax: integer(1, 1_000_000).default(1_000),
    },
    { error: 'expected an object with certFile and keyFile, or pkcs12File' },
  )
  .transform((tls): TlsSettings => {
    const clientAuth = tls.clientAuth ?? (tls.caFile === null ? 'none' : 'need');
    return { ...tls, clientAuth };
  });

export const saslSchema = z.strictObject(
  { usersFile: file('a file with users') },
  { error: 'expected an object with usersFile' },
);

export const enforceAuthSchema = z
  .array(z.enum(PROVING_SCHEMES, { error: `expected one of ${PROVING_SCHEMES.join(', ')}` }), {
    error: `expected a list of some of ${PROVING_SCHEMES.join(', ')}`,
  })
  .default([]);

const EXPECTED_ALGS = `expected a list of some of ${DIGEST_ALGS.join(', ')}`;

export const digestAlgsSchema = z
  .array(z.enum(DIGEST_ALGS, { error: EXPECTED_ALGS }), { error: EXPECTED_ALGS })
  .min(1, { error: EXPECTED_ALGS })
  .refine((algs) => new Set(algs).size === algs.length, { error: EXPECTED_ALGS })
  .default(['SHA1']);

const EXPECTED_SUPER = 'expected "x509:" and a subject, "sasl:" and a user, or "digest:" and an id';
/** Bounded because each identity of a client is compared with all of them. */
const SUPER_IDENTITIES_MAX = 1_000;

export const superIdentitiesSchema = z
  .array(
    z
      .string({ error: EXPECTED_SUPER })
      .regex(new RegExp(`^(x509:.+|sasl:.+|digest:[^:]+:${DIGEST_PATTERN})$`), {
        error: EXPECTED_SUPER,
      }),
    { error: 'expected a list of identities' },
  )
  .max(SUPER_IDENTITIES_MAX, { error: `expected at most ${SUPER_IDENTITIES_MAX} identities` })
  .default([]);

const EXPECTED_ROOT_ACL =
  'expected "scheme:id:permissions" with scheme world, digest, ip, sasl or x509, and letters of ' +
  'cdrwa';
/** Ample; bounded because each access to the root is judged by all of them. */
const ROOT_ACL_MAX = 100;

export const rootAclSchema = z
  .array(
    z.string({ error: EXPECTED_ROOT_ACL }).regex(/^(world|digest|ip|sasl|x509):.+:[cdrwa]+$/s, {
      error: EXPECTED_ROOT_ACL,
    }),
    { error: 'expected a list of entries of an ACL' },
  )
  .min(1, { error: 'expected at least one entry' })
  .max(ROOT_ACL_MAX, { error: `expected at most ${ROOT_ACL_MAX} entries` })
  .nullable()
  .default(null);

/** Finds a root to which no client could ever give another ACL. */
export function rootAclProblems(raw: Readonly<Record<string, unknown>>): string[] {
  const { success, data } = rootAclSchema.safeParse(raw['rootAcl']);
  if (!success || data === null) return [];
  const { superDigest, superIdentities } = raw;
  const hasSuper =
    typeof superDigest === 'string' ||
    (Array.isArray(superIdentities) && superIdentities.length > 0);
  if (hasSuper || data.some((entry) => /:[cdrw]*a[cdrwa]*$/.test(entry))) return [];
  return ['rootAcl: expected an entry with permission a, or superDigest or superIdentities'];
}

/** Finds schemes of `enforceAuth` by which no client can prove anything here. */
export function enforceAuthProblems(raw: Readonly<Record<string, unknown>>): string[] {
  const { enforceAuth, sasl, tls } = raw;
  const asked: readonly unknown[] = Array.isArray(enforceAuth) ? enforceAuth : [];
  const problems: string[] = [];
  if (asked.includes('sasl') && (sasl === undefined || sasl === null)) {
    problems.push('enforceAuth: expected sasl, which names the users');
  }
  const { success, data } = tlsSchema.safeParse(tls);
  if (asked.includes('x509') && !(success && data.clientAuth !== 'none')) {
    problems.push('enforceAuth: expected tls with clientAuth "want" or "need" for x509');
  }
  return problems;
}

/** Relations within `tls`, and of `tls` with the ports. `raw` is the whole file. */
export function tlsProblems(raw: Readonly<Record<string, unknown>>): string[] {
  const { tls: given, servers } = raw;
  const secureServers = (Array.isArray(servers) ? servers : []).flatMap((server, index) =>
    server?.secureClientPort === undefined ? [] : [index],
  );
  if (given === undefined || given === null) {
    return secureServers.map((index) => {
      return `servers[${index}].secureClientPort: expected tls, which names the certificate`;
    });
  }
  const { success, data: tls } = tlsSchema.safeParse(given);
  if (!success) return [];
  const problems: string[] = [];
  const isPem = tls.certFile !== null || tls.keyFile !== null;
  const isWhole = tls.certFile !== null && tls.keyFile !== null;
  if (isPem === (tls.pkcs12File !== null) || (isPem && !isWhole)) {
    problems.push('tls: expected either certFile and keyFile, or pkcs12File');
  }
  if (tls.caFile === null && tls.clientAuth !== 'none') {
    problems.push(
      `tls.clientAuth: expected caFile for "${tls.clientAuth}", which names the authorities`,
    );
  }
  if (tls.caFile === null && tls.crlFiles.length > 0) {
    problems.push('tls.crlFiles: expected caFile, because only its certificates can be revoked');
  }
  if (tls.identity !== 'subject' && tls.clientAuth === 'none') {
    problems.push(
      'tls.identity: expected clientAuth "want" or "need", which ask clients for a certificate',
    );
  }
  if (!tls.onClientPort && secureServers.length === 0) {
    problems.push(
      'tls.onClientPort: expected a secureClientPort, because no other port would speak TLS',
    );
  }
  return problems;
}

/** The same with absolute paths. */
export function resolvedTls(tls: TlsSettings | null, folder: string): TlsSettings | null {
  if (tls === null) return null;
  const at = (path: string | null) => (path === null ? null : resolve(folder, path));
  return {
    ...tls,
    certFile: at(tls.certFile),
    keyFile: at(tls.keyFile),
    pkcs12File: at(tls.pkcs12File),
    passphraseFile: at(tls.passphraseFile),
    caFile: at(tls.caFile),
    crlFiles: tls.crlFiles.map((path) => resolve(folder, path)),
  };
}

export function resolvedSasl(sasl: SaslSettings | null, folder: string): SaslSettings | null {
  return sasl === null ? null : { usersFile: resolve(folder, sasl.usersFile) };
}

const EXPECTED =
  'expected "none", or an object with secretFile or tls, and with required: false while members ' +
  'without peerAuth are let in';
const PEER_CRL_FILES_MAX = 100;

const peerFile = text('a file');
const optionalPeerFile = peerFile.nullable().default(null);

const EXPECTED_ENSEMBLE = 'expected up to 100 letters, digits, dots, underscores and hyphens';

const peerTlsSchema = z.strictObject({
  certFile: optionalPeerFile,
  keyFile: optionalPeerFile,
  pkcs12File: optionalPeerFile,
  passphraseFile: optionalPeerFile,
  caFile: peerFile,
  crlFiles: z.array(peerFile).max(PEER_CRL_FILES_MAX).default([]),
  ensemble: z
    .string()
    .regex(/^[\w.-]{1,100}$/, { error: EXPECTED_ENSEMBLE })
    .nullable()
    .default(null),
});

/**
 * The setting `peerAuth`: how members authenticate each other, and when they must.
 *
 * Whoever reaches a port for members that has no authentication can vote, and read and write the
 * whole tree. So it has to be written down that this is wanted, unless only this machine can reach
 * the port. Knows nothing of files. Called by the rules of the config file.
 */
export const peerAuthSchema = z
  .union(
    [
      z.literal('none'),
      z.strictObject({
        secretFile: peerFile.optional(),
        tls: peerTlsSchema.optional(),
        required: z.boolean({ error: 'expected true or false' }).default(true),
      }),
    ],
    { error: EXPECTED },
  )
  .nullable()
  .default(null);

export type PeerAuth = Readonly<Exclude<z.infer<typeof peerAuthSchema>, 'none' | null>>;

/** The setting with absolute paths. */
export function resolvedPeerAuth(
  setting: PeerAuth | 'none' | null,
  resolve: (path: string) => string,
): PeerAuth | 'none' | null {
  if (setting === null || setting === 'none') return setting;
  const { secretFile, tls, required } = setting;
  return {
    required,
    ...(secretFile === undefined ? {} : { secretFile: resolve(secretFile) }),
    ...(tls === undefined ? {} : { tls: resolvedPeerTls(tls, resolve) }),
  };
}

function resolvedPeerTls(
  tls: NonNullable<PeerAuth['tls']>,
  resolve: (path: string) => string,
): NonNullable<PeerAuth['tls']> {
  const at = (path: string | null) => (path === null ? null : resolve(path));
  return {
    ...tls,
    certFile: at(tls.certFile),
    keyFile: at(tls.keyFile),
    pkcs12File: at(tls.pkcs12File),
    passphraseFile: at(tls.passphraseFile),
    caFile: resolve(tls.caFile),
    crlFiles: tls.crlFiles.map(resolve),
  };
}

/** Finds what is missing in a setting whose parts are each right. */
export function peerAuthProblems(raw: unknown): string[] {
  const { data: setting = null } = peerAuthSchema.safeParse(raw);
  if (setting === null || setting === 'none') return [];
  const { secretFile, tls } = setting;
  if (tls === undefined) {
    return secretFile === undefined ? ['peerAuth: expected secretFile, or tls, or both'] : [];
  }
  const { certFile, keyFile, pkcs12File } = tls;
  const isPem = certFile !== null && keyFile !== null && pkcs12File === null;
  const isPkcs12 = certFile === null && keyFile === null && pkcs12File !== null;
  if (isPem || isPkcs12) return [];
  return ['peerAuth.tls: expected either certFile and keyFile, or pkcs12File'];
}

/** Finds peer ports off loopback without `peerAuth`; a server that is alone opens none. */
export function missingPeerAuth(servers: readonly Omit<Endpoints, 'clientPort'>[]): string[] {
  if (servers.length === 1) return [];
  const hosts = servers.flatMap((server) => listenHostsOf(peerAddressOf(server)));
  const open = hosts.find((name) => !isLoopback(name));
  if (open === undefined) return [];
  return [
    'peerAuth: expected an object with secretFile or tls, or "none", because members ' +
      `listen on "${open}", which other machines may reach; got nothing`,
  ];
}
