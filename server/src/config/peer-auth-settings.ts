/**
 * The setting `peerAuth`: how members authenticate each other, and when they must.
 *
 * Whoever reaches a port for members that has no authentication can vote, and read and write the
 * whole tree. So it has to be written down that this is wanted, unless only this machine can reach
 * the port. Knows nothing of files. Called by the rules of the config file.
 */
import { z } from 'zod';
import { type Endpoints, isLoopback, listenHostsOf, peerAddressOf } from './addresses.js';

const EXPECTED =
  'expected "none", or an object with secretFile or tls, and with required: false while members ' +
  'without peerAuth are let in';
const EXPECTED_FILE = 'expected a file';
const CRL_FILES_MAX = 100;

const file = z.string({ error: EXPECTED_FILE }).min(1, { error: EXPECTED_FILE });
const optionalFile = file.nullable().default(null);

const EXPECTED_ENSEMBLE = 'expected up to 100 letters, digits, dots, underscores and hyphens';

const peerTlsSchema = z.strictObject({
  certFile: optionalFile,
  keyFile: optionalFile,
  pkcs12File: optionalFile,
  passphraseFile: optionalFile,
  caFile: file,
  crlFiles: z.array(file).max(CRL_FILES_MAX).default([]),
  ensemble: z
    .string()
    .regex(/^[\w.-]{1,100}$/, { error: EXPECTED_ENSEMBLE })
    .nullable()
    .default(null),
});

export const peerAuthSchema = z
  .union(
    [
      z.literal('none'),
      z.strictObject({
        secretFile: file.optional(),
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
