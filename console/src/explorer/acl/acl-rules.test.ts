import { expect, it } from 'vitest';
import { aclText, digestId, rightsUnder, wrongAcl, wrongEntry } from './acl-rules.js';

it('computes the digest that ZooKeeper computes', () => {
  // From ZooKeeper's administrator's guide.
  expect(digestId('super:test')).toBe('super:D/InIHSb7yEEbrWz8b9l71RjZJU=');
});

it('says what is wrong with an entry', () => {
  const good = [
    { scheme: 'world', id: 'anyone', perms: 'r' },
    { scheme: 'auth', id: '', perms: 'cdrwa' },
    { scheme: 'digest', id: digestId('a:b'), perms: 'r' },
    { scheme: 'ip', id: '10.0.0.0/8', perms: 'r' },
    { scheme: 'sasl', id: 'a/b@C', perms: 'r' },
  ];
  expect(good.map(wrongEntry)).toEqual(good.map(() => null));
  const bad = [
    { scheme: 'world', id: 'me', perms: 'r' },
    { scheme: 'digest', id: 'a:b', perms: 'r' },
    { scheme: 'ip', id: 'host', perms: 'r' },
    { scheme: 'x509', id: 'CN=a,O=b', perms: 'r' },
    { scheme: '', id: 'a', perms: 'r' },
    { scheme: 'sasl', id: 'a', perms: '' },
  ];
  expect(bad.filter((entry) => wrongEntry(entry) === null)).toEqual([]);
  expect(wrongAcl([])).not.toBeNull();
  expect(aclText(good.slice(0, 2))).toBe('world:anyone:r,auth::cdrwa');
});

it('tells what one could do under an ACL', () => {
  const acl = [
    { scheme: 'world', id: 'anyone', perms: 'r' },
    { scheme: 'digest', id: digestId('anna:secret'), perms: 'wa' },
  ];
  expect(rightsUnder(acl, [])).toMatchObject({ read: true, write: false, admin: false });
  expect(rightsUnder(acl, ['anna:secret'])).toMatchObject({ read: true, write: true, admin: true });
  expect(rightsUnder(acl, ['anna:wrong'])).toMatchObject({ admin: false });
  expect(rightsUnder([{ scheme: 'auth', id: '', perms: 'a' }], [])).toMatchObject({ admin: false });
});
