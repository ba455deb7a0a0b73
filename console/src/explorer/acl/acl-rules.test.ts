import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { DigestAlg } from '../../api/types.js';
import { aclValues, digestId, likelyAlg, rightsUnder, wrongAcl, wrongEntry } from './acl-rules.js';

it('computes the digest that ZooKeeper computes', () => {
  // From ZooKeeper's administrator's guide.
  expect(digestId('super:test', 'SHA1')).toBe('super:D/InIHSb7yEEbrWz8b9l71RjZJU=');
  for (const [alg, name] of [
    ['SHA256', 'sha256'],
    ['SHA512', 'sha512'],
  ] as const) {
    const hash = createHash(name).update('super:test').digest('base64');
    expect(digestId('super:test', alg)).toBe(`super:${hash}`);
  }
});

it('takes for likely the hash of the digests that are there', () => {
  const open = { scheme: 'world', id: 'anyone', perms: 'r' };
  const digest = (alg: DigestAlg) => {
    return { scheme: 'digest', id: digestId('a:b', alg), perms: 'r' };
  };
  expect([likelyAlg([]), likelyAlg([open, digest('SHA1')])]).toEqual(['SHA1', 'SHA1']);
  expect(likelyAlg([open, digest('SHA256')])).toBe('SHA256');
  expect(likelyAlg([digest('SHA512'), digest('SHA1')])).toBe('SHA512');
});

it('sends each entry by itself, and a single one so that its commas separate nothing', () => {
  const open = { scheme: 'world', id: 'anyone', perms: 'r' };
  const subject = { scheme: 'x509', id: 'CN=a,O=b', perms: 'cdrwa' };
  expect(aclValues([open])).toEqual(['world:anyone:r']);
  expect(aclValues([open, subject])).toEqual(['world:anyone:r', 'x509:CN=a,O=b:cdrwa']);
  expect(aclValues([subject])).toEqual(['', 'x509:CN=a,O=b:cdrwa']);
});

it('says what is wrong with an entry', () => {
  const good = [
    { scheme: 'world', id: 'anyone', perms: 'r' },
    { scheme: 'auth', id: '', perms: 'cdrwa' },
    { scheme: 'digest', id: digestId('a:b', 'SHA1'), perms: 'r' },
    { scheme: 'digest', id: digestId('a:b', 'SHA256'), perms: 'r' },
    { scheme: 'digest', id: digestId('a:b', 'SHA512'), perms: 'r' },
    { scheme: 'ip', id: '10.0.0.0/8', perms: 'r' },
    { scheme: 'sasl', id: 'a/b@C', perms: 'r' },
    { scheme: 'x509', id: 'CN=a,O=b', perms: 'r' },
  ];
  expect(good.map((entry) => wrongEntry(entry))).toEqual(good.map(() => null));
  const bad = [
    { scheme: 'world', id: 'me', perms: 'r' },
    { scheme: 'digest', id: 'a:b', perms: 'r' },
    { scheme: 'digest', id: digestId(':b', 'SHA1'), perms: 'r' },
    { scheme: 'digest', id: `${digestId('a:b', 'SHA512')}=`, perms: 'r' },
    { scheme: 'ip', id: 'host', perms: 'r' },
    { scheme: '', id: 'a', perms: 'r' },
    { scheme: 'sasl', id: 'a', perms: '' },
  ];
  expect(bad.filter((entry) => wrongEntry(entry) === null)).toEqual([]);
  expect(wrongAcl([])).not.toBeNull();
});

it('judges no id that is there already, so that another entry can be changed', () => {
  // Servers take any hash, and some have schemes of their own.
  const before = [
    { scheme: 'digest', id: 'a:2jmj7l5rSw0yVb/vlWAYkK/YBwk', perms: 'r' },
    { scheme: 'digest', id: 'b:x:', perms: 'r' },
    { scheme: 'own', id: '', perms: 'cdrwa' },
  ];
  const added = { scheme: 'world', id: 'anyone', perms: 'r' };
  expect(wrongAcl(before)).not.toBeNull();
  expect(wrongAcl([...before, added], before)).toBeNull();
  expect(aclValues([...before, added])[0]).toBe('digest:a:2jmj7l5rSw0yVb/vlWAYkK/YBwk:r');
  const [first = added, second = added] = before;
  expect(wrongEntry({ ...first, perms: 'rw' }, before)).toBeNull();
  expect(wrongEntry({ ...first, perms: '' }, before)).toContain('without a permission');
  expect(wrongEntry({ ...first, id: `${first.id}x` }, before)).toContain('base64');
  expect(wrongEntry({ ...second, scheme: 'ip' }, before)).toContain('An address');
  expect(wrongAcl([], before)).not.toBeNull();
});

it('tells what one could do under an ACL, by the hashes of the server', () => {
  const acl = [
    { scheme: 'world', id: 'anyone', perms: 'r' },
    { scheme: 'digest', id: digestId('anna:secret', 'SHA256'), perms: 'wa' },
  ];
  const rights = (credentials: readonly string[], algs = ['SHA1', 'SHA256'] as const) =>
    rightsUnder(acl, credentials, algs);
  expect(rights([])).toMatchObject({ read: true, write: false, admin: false });
  expect(rights(['anna:secret'])).toMatchObject({ read: true, write: true, admin: true });
  expect(rights(['anna:wrong'])).toMatchObject({ admin: false });
  expect(rightsUnder(acl, ['anna:secret'], ['SHA1'])).toMatchObject({ admin: false });
  const mine = [{ scheme: 'auth', id: '', perms: 'a' }];
  expect(rightsUnder(mine, [], ['SHA1'])).toMatchObject({ admin: false });
});
