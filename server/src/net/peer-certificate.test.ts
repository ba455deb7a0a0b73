/** To which members a certificate belongs, by its subject alternative names. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestAuthority } from '../simulated/security/certificates.js';
import { certificateProblem, type MemberName } from './peer-certificate.js';

let directory = '';
let authority: TestAuthority;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-peer-certificate-'));
  authority = new TestAuthority(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let made = 0;
function certificateWith(names: string, subject = '/CN=zk1.example'): Uint8Array {
  const extensions = names === '' ? {} : { extensions: `subjectAltName=${names}` };
  const { cert } = authority.sign(`member-${++made}`, { subject, ...extensions });
  return new X509Certificate(cert).raw;
}

const MEMBER: MemberName = { id: 1, host: 'zk1.example', ensemble: 'prod' };

it.each<[string, string, Partial<MemberName>]>([
  ['the host of the member', 'DNS:other.example,DNS:zk1.example', {}],
  ['the host in other letters', 'DNS:ZK1.Example', {}],
  ['a host that ends with a dot in the file', 'DNS:zk1.example', { host: 'zk1.example.' }],
  ['the address of the member', 'IP:10.0.0.1', { host: '10.0.0.1' }],
  ['an address of IPv6', 'IP:2001:db8:0:0:0:0:0:1', { host: '2001:db8::1' }],
  ['the URI of the member', 'URI:rookery://prod/1', {}],
  ['the URI among others', 'DNS:x,URI:spiffe://a/b,URI:rookery://prod/1', { host: null }],
  ['URIs of several members', 'URI:rookery://prod/2,URI:rookery://prod/1', {}],
])('a certificate with %s is that of the member', (_what, names, member) => {
  expect(certificateProblem(certificateWith(names), { ...MEMBER, ...member })).toBeNull();
});

it.each<[string, string, Partial<MemberName>]>([
  ['no names but its subject', '', {}],
  ['the host of another member', 'DNS:zk2.example', {}],
  ['a wildcard for all members', 'DNS:*.prod.example', { host: 'zk1.prod.example' }],
  ['a domain above the host', 'DNS:example', {}],
  ['an address as a DNS name', 'DNS:10.0.0.1', { host: '10.0.0.1' }],
  ['the address of another member', 'IP:10.0.0.2', { host: '10.0.0.1' }],
  ['the URI of another member', 'URI:rookery://prod/2', {}],
  ['the URI of a longer id', 'URI:rookery://prod/11', {}],
  ['the URI of another ensemble, and the host', 'URI:rookery://test/1,DNS:zk1.example', {}],
  ['a URI where the ensemble has no name', 'URI:rookery://prod/1', { ensemble: null }],
  ['the host, for an id that the file does not list', 'DNS:zk1.example', { host: null }],
  ['a URI of another scheme', 'URI:https://prod/1', { host: null }],
])('a certificate with %s is not', (_what, names, member) => {
  expect(certificateProblem(certificateWith(names), { ...MEMBER, ...member })).not.toBeNull();
});

it('says of a member that is not in the list that it is not, and not that the names are wrong', () => {
  const certificate = certificateWith('DNS:zk1.example');
  expect(certificateProblem(certificate, { ...MEMBER, host: null })).toBe(
    `member ${MEMBER.id} is not in the list of members here`,
  );
});
