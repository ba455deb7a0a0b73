/**
 * Files of secrets and certificates that cannot be used at the start: each kind of file, missing,
 * no file, empty, or open to other users, gives one sentence that names it. The command ends with
 * exit code 2 for it, as test/src/answers/security/secrets.test.ts shows.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Config } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import { simulatedConfig } from '../simulated/memory-ensemble.js';
import { keptLog } from '../simulated/net/fixtures.js';
import { TestAuthority, writePkcs12 } from '../simulated/security/certificates.js';
import { MemberSecurity } from './member-security.js';

interface Files {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
  readonly crlFile: string;
  readonly pkcs12File: string;
  readonly passphraseFile: string;
  readonly usersFile: string;
  readonly secretFile: string;
}
type Kind = keyof Files;

let directory = '';
let good: Files;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-secrets-'));
  const authority = new TestAuthority(directory);
  const server = authority.server();
  const file = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  good = {
    certFile: server.certFile,
    keyFile: server.keyFile,
    caFile: authority.caFile,
    crlFile: authority.revocationList('list'),
    pkcs12File: writePkcs12(server, 'open'),
    passphraseFile: file('passphrase', 'open\n'),
    usersFile: file('users', 'ann:secret\n'),
    secretFile: file('peers', `${'s'.repeat(40)}\n`),
  };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const PKCS12 = new Set<Kind>(['pkcs12File', 'passphraseFile']);

/** A configuration that reads all kinds of files; those of TLS for clients, or for members. */
function configWith(files: Files, use: 'clients' | 'members', isPkcs12: boolean): Config {
  const { certFile, keyFile, caFile, crlFile, pkcs12File, passphraseFile } = files;
  const own = isPkcs12
    ? { certFile: null, keyFile: null, pkcs12File, passphraseFile }
    : { certFile, keyFile, pkcs12File: null, passphraseFile: null };
  const tls = { ...own, caFile, crlFiles: [crlFile] };
  const seats = [1, 2].map((id) => ({ id, host: `member-${id}` }));
  const config = simulatedConfig(seats);
  const { usersFile, secretFile } = files;
  if (use === 'members') {
    return { ...config, peerAuth: { secretFile, tls: { ...tls, ensemble: null }, required: true } };
  }
  const more = { clientAuth: 'need', identity: 'subject', onClientPort: true } as const;
  const bounds = { required: false, handshakeTimeoutMs: 10_000, handshakesMax: 10 };
  return { ...config, sasl: { usersFile }, tls: { ...tls, ...more, ...bounds } };
}

function refusal(config: Config): string {
  try {
    new MemberSecurity(config, keptLog().logger).close();
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'it was made';
}

const USES: readonly (readonly [Kind, 'clients' | 'members', string])[] = [
  ['keyFile', 'clients', 'The private key'],
  ['keyFile', 'members', 'The private key'],
  ['pkcs12File', 'clients', 'The PKCS#12 file'],
  ['pkcs12File', 'members', 'The PKCS#12 file'],
  ['passphraseFile', 'clients', 'The passphrase'],
  ['passphraseFile', 'members', 'The passphrase'],
  ['usersFile', 'clients', 'The list of users'],
  ['secretFile', 'members', 'The secret of peerAuth'],
  ['certFile', 'clients', 'The certificate'],
  ['certFile', 'members', 'The certificate'],
  ['caFile', 'clients', 'The list of authorities'],
  ['caFile', 'members', 'The list of authorities'],
  ['crlFile', 'clients', 'The revocation list'],
  ['crlFile', 'members', 'The revocation list'],
];

it.each(USES)('%s of %s that cannot be used is named in one sentence', (kind, use, what) => {
  const made = (path: string) =>
    refusal(configWith({ ...good, [kind]: path }, use, PKCS12.has(kind)));
  expect(made(good[kind])).toBe('it was made');
  const at = (name: string) => join(directory, `${kind}-${use}-${name}`);
  expect(made(at('missing'))).toBe(
    `${what} ${at('missing')} cannot be read: there is no such file.`,
  );
  mkdirSync(at('folder'), { mode: 0o700 });
  expect(made(at('folder'))).toBe(`${what} ${at('folder')} is not a file.`);
  writeFileSync(at('empty'), '', { mode: 0o600 });
  expect(made(at('empty'))).toBe(`${what} ${at('empty')} is empty.`);
  copyFileSync(good[kind], at('open'));
  for (const mode of [0o644, 0o604, 0o602]) {
    chmodSync(at('open'), mode);
    const isPublic = ['certFile', 'caFile', 'crlFile'].includes(kind);
    expect(made(at('open'))).toBe(
      isPublic
        ? 'it was made'
        : `${what} ${at('open')} is open to other users (its mode is 0${mode.toString(8)}). ` +
            `Only its owner may have access to it: chmod 600 ${at('open')}`,
    );
  }
});

it('an ACL of the root that nobody could write is refused before anything is done', () => {
  const config = simulatedConfig([{ id: 1, host: 'member-1' }]);
  expect(refusal({ ...config, rootAcl: ['sasl:ann:cdrwa'] })).toContain('rootAcl[0]: no ACL may');
});
