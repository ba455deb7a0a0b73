import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { TestAuthority } from '../simulated/security/certificates.js';
import { revocationListEnd } from './revocation-list.js';

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
