import { Perms } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { mayDo } from './access.js';
import { keysOfAddress, prefixOfRange } from './address-range.js';

vi.mock('./address-range.js', { spy: true });

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

  it('is parsed once, and answers everybody once, until very many answers are kept', () => {
    const acl = Array.from({ length: 500 }, (_, n) => entry(31, 'ip', `10.9.${n >> 8}.${n & 255}`));
    const [bob, other] = [somebody(HOME, BOB), somebody({ scheme: 'ip', id: '10.9.1.7' })];
    const parses = () => vi.mocked(prefixOfRange).mock.calls.length;
    const lookUps = () => vi.mocked(keysOfAddress).mock.calls.length;
    const before = { parses: parses(), lookUps: lookUps() };
    for (const who of [bob, other, bob]) {
      for (let times = 0; times < 10; times++) {
        expect(mayDo(who, acl, Perms.read)).toBe(who === other);
      }
    }
    expect(parses() - before.parses).toBe(500);
    expect(lookUps() - before.lookUps).toBe(2);
    for (let others = 0; others < 16_384; others++) {
      expect(mayDo(somebody(HOME), acl, Perms.read)).toBe(false);
    }
    const between = lookUps();
    expect(mayDo(bob, acl, Perms.read)).toBe(false);
    expect(lookUps() - between).toBe(1);
    expect(parses() - before.parses).toBe(500);
  });

  it('gives what each of its entries gives, however long it is', () => {
    const inside: Readonly<Record<string, readonly string[]>> = {
      '10.1.2.3': ['10.1.2.3'],
      '10.1.0.0/16': ['10.1.2.3', '10.1.2.200'],
      '10.1.2.128/25': ['10.1.2.200'],
      '0.0.0.0/0': ['10.1.2.3', '10.1.2.200'],
      '::/0': ['::1'],
      x: [],
    };
    const id = fc.constantFrom(...Object.keys(inside));
    const someEntry = fc.oneof(
      fc.record({ perms: fc.nat(31), scheme: fc.constant('ip'), id }),
      fc.record({
        perms: fc.nat(31),
        scheme: fc.constant('digest'),
        id: fc.constantFrom('a', 'b'),
      }),
      fc.record({ perms: fc.nat(1), scheme: fc.constant('world'), id: fc.constant('anyone') }),
    );
    const someone = fc.oneof(
      fc.record({
        scheme: fc.constant('ip'),
        id: fc.constantFrom('10.1.2.3', '10.1.2.200', '::1'),
      }),
      fc.record({ scheme: fc.constant('digest'), id: fc.constantFrom('a', 'b', 'c') }),
    );
    fc.assert(
      fc.property(fc.array(someEntry), fc.array(someone), fc.nat(31), (acl, who, perms) => {
        const expected = acl.some(
          (one) =>
            (one.perms & perms) !== 0 &&
            (one.scheme === 'world' ||
              who.some((is) =>
                is.scheme === 'ip' && one.scheme === 'ip'
                  ? inside[one.id]?.includes(is.id)
                  : is.scheme === one.scheme && is.id === one.id,
              )),
        );
        expect(mayDo(somebody(...who), acl, perms)).toBe(expected);
      }),
    );
  });
});
