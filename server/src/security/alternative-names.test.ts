import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestAuthority } from '../simulated/security/certificates.js';
import { DerError } from './der-reader.js';
import { alternativeNames, isAlternativeName } from './x509-name.js';

let directory = '';
let authority: TestAuthority;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-san-'));
  authority = new TestAuthority(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const certificateWith = (extensions: string) =>
  new X509Certificate(authority.sign('san', { extensions }).cert).raw;

it('reads URIs and DNS names, each once, and nothing that looks like another name', () => {
  const names = [
    ...['URI:spiffe://example.org/batch', 'DNS:Batch.Example.org', 'DNS:batch.example.org'],
    ...['DNS:*.example.org', 'IP:10.0.0.1', 'email:a@example.org', 'URI:urn:x:y'],
  ];
  const der = certificateWith(`subjectAltName=critical,${names.join(',')}`);
  expect(alternativeNames(der, 'uri')).toEqual(['spiffe://example.org/batch', 'urn:x:y']);
  expect(alternativeNames(der, 'dns')).toEqual(['batch.example.org']);
});

it('finds none in a certificate without any', () => {
  const other = certificateWith('basicConstraints=CA:FALSE');
  expect(alternativeNames(other, 'uri')).toEqual([]);
  expect(alternativeNames(certificateWith('subjectAltName=IP:10.0.0.1'), 'dns')).toEqual([]);
});

it.each([
  ['uri', 'CN=admin,O=Example', false],
  ['uri', 'CN=admin:x', false],
  ['uri', 'spiffe://a/b\u0000c', false],
  ['uri', 'spiffe://a/b c', false],
  ['uri', 'spiffe:', false],
  ['uri', 'a:b', true],
  ['dns', 'CN=admin', false],
  ['dns', 'a..b', false],
  ['dns', '*.b', false],
  ['dns', 'a\u0000.b', false],
  ['dns', 'a-1.b_2', true],
] as const)('as %s, takes %j for a name: %s', (kind, text, isName) => {
  expect(isAlternativeName(kind, text)).toBe(isName);
});

it('throws DerError, and nothing else, for whatever is no certificate', () => {
  const whole = certificateWith('subjectAltName=URI:spiffe://example.org/batch');
  const read = (bytes: Uint8Array) => {
    try {
      alternativeNames(bytes, 'uri');
    } catch (error) {
      expect(error).toBeInstanceOf(DerError);
    }
  };
  for (let end = 0; end < whole.length; end++) read(whole.subarray(0, end));
  const damaged = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(damaged, { minLength: 1, maxLength: 4 }), (changes) => {
      const copy = Uint8Array.from(whole);
      for (const [at, byte] of changes) copy[at] = byte;
      read(copy);
    }),
  );
});
