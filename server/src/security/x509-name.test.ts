import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestAuthority } from '../simulated/security/certificates.js';
import { DerError } from './der-reader.js';
import { nameText, x509Name } from './x509-name.js';

let directory = '';
let authority: TestAuthority;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-x509-'));
  authority = new TestAuthority(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function subjectOf(name: string, subject: string): string {
  return x509Name(new X509Certificate(authority.client(name, subject).cert).raw);
}

it('writes a subject as Java does, by names and by numbers', () => {
  const subject = '/C=DE/ST=B, E/O=Ex "Q" /CN=client one/emailAddress=a@b.nc';
  expect(subjectOf('one', subject)).toBe(
    '1.2.840.113549.1.9.1=#16066140622e6e63,CN=client one,O=Ex \\"Q\\"\\ ,ST=B\\, E,C=DE',
  );
});

it('writes several attributes of one part with a plus, and other letters as they are', () => {
  expect(subjectOf('two', '/DC=org/O=Müller/CN=a+UID=u')).toBe('CN=a+UID=u,O=Müller,DC=org');
});

it('throws DerError, and nothing else, for whatever is no certificate', () => {
  const { raw } = new X509Certificate(authority.client('cut').cert);
  for (let end = 0; end < 200; end++)
    expect(() => x509Name(raw.subarray(0, end))).toThrow(DerError);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        x509Name(bytes);
        nameText(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(DerError);
      }
    }),
  );
});
