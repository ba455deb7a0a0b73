import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { TestAuthority } from '../simulated/security/certificates.js';
import { provenBy } from './client-port.js';

it('takes a certificate whose subject cannot be read for nobody, and goes on', () => {
  const certificate = Uint8Array.of(0x30, 0x03, 0x1f, 0x81, 0x00);
  for (const identity of ['subject', 'san-uri', 'san-dns'] as const) {
    expect(provenBy({ certificate }, identity)).toEqual([]);
  }
  expect(provenBy({ certificate: null })).toEqual([]);
});

it('names a client by what the setting says, and never by something else', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-proven-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const signed = (subjectAltName: string) => {
    const { cert } = authority.sign('c', { extensions: `subjectAltName=${subjectAltName}` });
    return { certificate: new X509Certificate(cert).raw };
  };
  const named = signed('URI:spiffe://example.org/batch,DNS:batch.example.org');
  const x509 = (id: string) => ({ scheme: 'x509', id });
  expect(provenBy(named)).toEqual([x509('CN=c')]);
  expect(provenBy(named, 'san-uri')).toEqual([x509('spiffe://example.org/batch')]);
  expect(provenBy(named, 'san-dns')).toEqual([x509('batch.example.org')]);
  expect(provenBy(signed('DNS:batch.example.org'), 'san-uri')).toEqual([]);
  const many = Array.from({ length: 17 }, (_, n) => `DNS:h${n}`).join(',');
  expect(provenBy(signed(many), 'san-dns')).toEqual([]);
});
