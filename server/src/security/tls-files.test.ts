import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { OperatorError } from '../config/operator-error.js';
import {
  TestAuthority,
  type TestCertificate,
  writePkcs12,
} from '../simulated/security/certificates.js';
import { loadTlsFiles, pathsOf, pemBlocks, revocationListEnd, type TlsFiles } from './tls-files.js';

const NOTHING: TlsFiles = {
  certFile: null,
  keyFile: null,
  pkcs12File: null,
  passphraseFile: null,
  caFile: null,
  crlFiles: [],
};
const PASSPHRASE = 'open sesame';

let directory = '';
let authority: TestAuthority;
let server: TestCertificate;
let pem: TlsFiles;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-tls-'));
  authority = new TestAuthority(directory);
  server = authority.server();
  const { certFile, keyFile } = server;
  pem = { ...NOTHING, certFile, keyFile, caFile: authority.caFile };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The suite by which a client that offers only this one is served; null if it is refused. */
async function suiteOf(ciphers: string): Promise<string | null> {
  const own = createServer(loadTlsFiles(pem).options, (socket) => socket.end());
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
  const { port } = own.address() as AddressInfo;
  const client = connect({
    host: '127.0.0.1',
    port,
    ciphers,
    maxVersion: 'TLSv1.2',
    rejectUnauthorized: false,
  });
  try {
    return await new Promise((resolve) => {
      client.once('secureConnect', () => resolve(client.getCipher().standardName));
      client.once('error', () => resolve(null));
    });
  } finally {
    client.destroy();
    own.close();
  }
}

it('takes suites that authenticate what they encrypt, as Java 8 has them, and no others', async () => {
  const kind = 'ECDSA';
  expect(await suiteOf(`ECDHE-${kind}-AES128-GCM-SHA256`)).toContain('AES_128_GCM');
  expect(await suiteOf(`ECDHE-${kind}-AES256-GCM-SHA384`)).toContain('AES_256_GCM');
  for (const old of ['AES128-SHA256', 'AES256-SHA384', 'AES128-SHA', 'AES256-SHA']) {
    expect(await suiteOf(`ECDHE-${kind}-${old}`), old).toBeNull();
  }
  expect(await suiteOf('AES128-GCM-SHA256'), 'a stolen key would open it later').toBeNull();
});

function refusal(files: TlsFiles): string {
  try {
    loadTlsFiles(files);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'it was loaded';
}

function secret(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

it('loads PEM files with a list of revoked certificates, and names every file that it reads', () => {
  const files = { ...pem, crlFiles: [authority.revocationList('none')] };
  const { certificate, authorities, options, ...first } = loadTlsFiles(files);
  expect(certificate.subject).toBe('CN=server');
  expect(first.firstListToExpire).toMatchObject({ file: files.crlFiles[0], block: 1 });
  expect(first.firstListToExpire?.endsWallMs).toBeGreaterThan(Date.now());
  expect(first.firstAuthorityToExpire?.subject).toBe('CN=authority');
  expect(loadTlsFiles({ ...pem, caFile: null })).toMatchObject({
    firstListToExpire: null,
    firstAuthorityToExpire: null,
  });
  expect(authorities.size).toBe(1);
  expect(options.minVersion).toBe('TLSv1.2');
  expect(pathsOf(files)).toHaveLength(4);
});

it('loads PKCS#12, and knows its certificate', () => {
  const pkcs12File = writePkcs12(server, PASSPHRASE, authority.caFile);
  const passphraseFile = secret('passphrase', `${PASSPHRASE}\n`);
  const { certificate } = loadTlsFiles({ ...NOTHING, pkcs12File, passphraseFile });
  expect(certificate.subject).toBe('CN=server');
  const wrong = secret('wrong', 'guessed');
  expect(refusal({ ...NOTHING, pkcs12File, passphraseFile: wrong })).toBe(
    `The PKCS#12 file ${pkcs12File} cannot be used: ` +
      'the passphrase is missing or wrong (passphraseFile).',
  );
  expect(refusal({ ...NOTHING, pkcs12File })).toContain('the passphrase is missing or wrong');
  chmodSync(pkcs12File, 0o644);
  expect(refusal({ ...NOTHING, pkcs12File, passphraseFile })).toContain('open to other users');
});

it('knows of PKCS#12 when the authority that has signed its certificate expires', () => {
  const brief = new TestAuthority(directory, 'brief', 1);
  const files = { ...NOTHING, pkcs12File: writePkcs12(brief.server('ours'), '', brief.caFile) };
  const { certificate, firstToExpire } = loadTlsFiles(files);
  expect(certificate.subject).toBe('CN=ours');
  expect(firstToExpire.subject).toBe('CN=brief');
  // Where it is one of caFile, it is watched as such.
  const listed = loadTlsFiles({ ...files, caFile: brief.caFile });
  expect(listed.firstToExpire.subject).toBe('CN=ours');
  expect(listed.firstAuthorityToExpire?.subject).toBe('CN=brief');
});

it.each([0xfeedfeed, 0xcececece])('refuses a keystore of Java (%i) and tells how', (magic) => {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32BE(magic);
  const pkcs12File = secret('server.jks', bytes);
  const message = refusal({ ...NOTHING, pkcs12File });
  expect(message).toContain(`${pkcs12File} is a keystore of Java`);
  expect(message).toContain(`keytool -importkeystore -srckeystore ${pkcs12File} `);
  expect(message).toContain('-deststoretype PKCS12');
  expect(refusal({ ...pem, caFile: pkcs12File })).toContain('keytool -importkeystore');
});

it('refuses what does not belong together, is no certificate, or is open to others', () => {
  const other = authority.server('other');
  const mixed = refusal({ ...pem, keyFile: other.keyFile });
  expect(mixed).toContain('cannot be used: they do not belong together.');
  const text = secret('text', 'certainly no certificate\n');
  expect(refusal({ ...pem, certFile: text })).toContain(`The certificate ${text} and the key`);
  expect(refusal({ ...pem, caFile: text })).toContain('has no PEM block "CERTIFICATE"');
  expect(refusal({ ...pem, crlFiles: [text] })).toContain('has no PEM block "X509 CRL"');
  expect(refusal({ ...pem, keyFile: null })).toContain('needs its private key');
  const open = join(directory, 'open.key');
  copyFileSync(server.keyFile, open);
  chmodSync(open, 0o640 | 0o004);
  expect(refusal({ ...pem, keyFile: open })).toBe(
    `The private key ${open} is open to other users (its mode is 0644). ` +
      `Only its owner may have access to it: chmod 600 ${open}`,
  );
  const bundle = secret('damaged-bundle', authority.ca.toString().replace(/MII.{8}/, ''));
  expect(refusal({ ...pem, caFile: bundle })).toContain('The certificate 1 of the list');
});

it('takes every revocation list of a file, and names the one that cannot be read', () => {
  const [first, second] = ['first', 'second'].map((name) => {
    return readFileSync(authority.revocationList(name), 'utf8');
  });
  const both = secret('both.crl', `# of two authorities\n${first}${second}`);
  expect(loadTlsFiles({ ...pem, crlFiles: [both] }).options.crl).toHaveLength(2);
  const damaged = secret('damaged.crl', `${first}${second?.replace(/\nMI.{9}/, '\n')}`);
  expect(refusal({ ...pem, crlFiles: [damaged] })).toContain(
    `The block 2 of the revocation list ${damaged} cannot be read`,
  );
  const cut = secret('cut.crl', `${first}${second?.slice(0, -30)}`);
  expect(refusal({ ...pem, crlFiles: [cut] })).toContain('has an incomplete PEM block "X509 CRL"');
});

it('tells the end of a list of revoked certificates as openssl does', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-crl-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const file = authority.revocationList('list', [authority.server()]);
  const shown = execFileSync('openssl', ['crl', '-in', file, '-noout', '-nextupdate'], {
    encoding: 'utf8',
  });
  const end = Date.parse(shown.replace('nextUpdate=', ''));
  expect(end).toBeGreaterThan(Date.now());
  const pem = readFileSync(file);
  expect(revocationListEnd(pem)).toBe(end);
  expect(revocationListEnd(Buffer.concat([pem, pem]))).toBe(end);
  expect(revocationListEnd(Buffer.from('nothing'))).toBeNull();

  // A list whose times cannot be read has no known end, and does not hide that of another list.
  const [, base64 = ''] = /CRL-----([^-]*)-----END/.exec(pem.toString('latin1')) ?? [];
  const der = Buffer.from(base64, 'base64').toString('latin1');
  const spoilt = Buffer.from(der.replaceAll(/\d{12}Z/g, 'no time at al'), 'latin1');
  expect(spoilt).toHaveLength(der.length);
  const block = `-----BEGIN X509 CRL-----\n${spoilt.toString('base64')}\n-----END X509 CRL-----\n`;
  expect(revocationListEnd(Buffer.from(block))).toBeNull();
  expect(revocationListEnd(Buffer.concat([Buffer.from(block), pem]))).toBe(end);
});

const block = (text: string) => `-----BEGIN A-----${text}-----END A-----`;

it('returns the whole blocks of a label, and no others', () => {
  const other = '-----BEGIN B-----\nb\n-----END B-----';
  const text = `x ${block('\n1\n')}\n${other}${block('2')}${block('3-4')}-----BEGIN A-----5`;
  expect(pemBlocks(text, 'A')).toEqual([block('\n1\n'), block('2')]);
  expect(pemBlocks(`-----BEGIN A-----1${block('2')}`, 'A')).toEqual([block('2')]);
  expect(pemBlocks('', 'A')).toEqual([]);
});
