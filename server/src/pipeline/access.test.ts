import { Perms } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { mayDo } from './access.js';

const BOB = { scheme: 'digest', id: 'bob:hash' };
const HOME = { scheme: 'ip', id: '10.1.2.3' };
const SUPER = { scheme: 'super', id: '' };

function somebody(...identities: readonly { scheme: string; id: string }[]) {
  return { identities, skipAcl: false };
}
function entry(perms: number, scheme: string, id: string) {
  return { perms, scheme, id };
}

describe('an ACL list', () => {
  it('gives everybody what it gives the world, and no more', () => {
    const acl = [entry(Perms.read | Perms.create, 'world', 'anyone')];
    for (const [name, perm] of Object.entries(Perms)) {
      const expected = name === 'read' || name === 'create' || name === 'all';
      expect([name, mayDo(somebody(), acl, perm)]).toEqual([name, expected]);
    }
  });

  it('passes when any of the permissions asked for is there', () => {
    const acl = [entry(Perms.admin, 'world', 'anyone')];
    expect(mayDo(somebody(), acl, Perms.read | Perms.admin)).toBe(true);
  });

  it('gives a digest what is given to exactly that digest', () => {
    const acl = [entry(31, 'digest', 'bob:hash')];
    expect(mayDo(somebody(HOME, BOB), acl, Perms.write)).toBe(true);
    expect(mayDo(somebody({ scheme: 'digest', id: 'bob:other' }), acl, Perms.write)).toBe(false);
    expect(mayDo(somebody({ scheme: 'digest', id: 'bob' }), acl, Perms.write)).toBe(false);
    expect(mayDo(somebody({ scheme: 'ip', id: 'bob:hash' }), acl, Perms.write)).toBe(false);
    expect(mayDo(somebody(HOME), acl, Perms.write)).toBe(false);
  });

  it('takes permissions from several entries, but each from an entry that matches', () => {
    const acl = [entry(Perms.read, 'world', 'anyone'), entry(Perms.write, 'digest', 'bob:hash')];
    expect(mayDo(somebody(BOB), acl, Perms.read)).toBe(true);
    expect(mayDo(somebody(BOB), acl, Perms.write)).toBe(true);
    expect(mayDo(somebody(HOME), acl, Perms.write)).toBe(false);
    expect(mayDo(somebody(BOB), acl, Perms.admin)).toBe(false);
  });

  it('gives an address what is given to its range', () => {
    const acl = [entry(31, 'ip', '10.1.0.0/16')];
    expect(mayDo(somebody(HOME), acl, Perms.read)).toBe(true);
    expect(mayDo(somebody({ scheme: 'ip', id: '10.2.0.1' }), acl, Perms.read)).toBe(false);
  });

  it('holds back neither the super user nor anybody when checks are off', () => {
    const acl = [entry(0, 'world', 'anyone')];
    expect(mayDo(somebody(HOME), acl, Perms.read)).toBe(false);
    expect(mayDo(somebody(SUPER), acl, Perms.read)).toBe(true);
    expect(mayDo({ identities: [], skipAcl: true }, acl, Perms.read)).toBe(true);
  });
});
