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

it('reads numbers of attributes of up to 128 bytes, and does not write longer ones out', () => {
  const numbered = (bytes: number): Buffer => {
    const number = Buffer.alloc(bytes, 0xff);
    number[0] = 0x55;
    number[bytes - 1] = 0x01;
    const attribute = Buffer.concat([derOf(0x06, number), derOf(0x0c, Buffer.from('x'))]);
    return derOf(0x30, derOf(0x31, derOf(0x30, attribute)));
  };
  expect(nameText(numbered(128))).toMatch(/^2\.5\.\d+=#0c82000178$/);
  expect(() => nameText(numbered(129))).toThrow(DerError);
  expect(() => nameText(numbered(60_000))).toThrow('the number of an attribute has 60000 bytes');
});

/** A value of DER whose content has fewer than 65,536 bytes. */
function derOf(tag: number, content: Buffer): Buffer {
  const length = Buffer.from([0x82, content.length >> 8, content.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, content]);
}

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
