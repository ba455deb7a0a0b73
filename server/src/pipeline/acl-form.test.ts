import { describe, expect, it } from 'vitest';
import { legalAcl, type ProvenScheme } from './acl-form.js';

const WORLD = { perms: 31, scheme: 'world', id: 'anyone' };
const BOB = { scheme: 'digest', id: 'bob:hash' };
const ANN = { scheme: 'digest', id: 'ann:hash' };
const HOME = { scheme: 'ip', id: '127.0.0.1' };
const SUPER = { scheme: 'super', id: '' };

function auth(perms: number, id = '') {
  return { perms, scheme: 'auth', id };
}

const ALL: ReadonlySet<ProvenScheme> = new Set(['sasl', 'x509']);

describe('an ACL list of a request', () => {
  it('is invalid when it is null or empty', () => {
    expect(legalAcl(null, [BOB])).toBe(null);
    expect(legalAcl([], [BOB])).toBe(null);
  });

  it.each([
    ['world', 'anyone', true],
    ['world', 'someone', false],
    ['world', '', false],
    ['digest', 'bob:hash', true],
    ['digest', ':hash', true],
    ['digest', 'bob:hash:', true],
    ['digest', 'bob', false],
    ['digest', 'bob:', false],
    ['digest', ':', false],
    ['digest', '', false],
    ['digest', 'a:b:c', false],
    ['ip', '10.0.0.0/8', true],
    ['ip', '10.0.0.0/40', false],
    ['super', '', false],
    ['sasl', 'bob', false],
    ['x509', 'CN=bob', false],
    ['', '', false],
  ])('with %s:%s is legal: %s', (scheme, id, legal) => {
    const acl = { perms: 31, scheme, id };
    expect(legalAcl([acl], [])).toEqual(legal ? [acl] : null);
    expect(legalAcl([WORLD, acl], []) === null).toBe(!legal);
  });

  it.each([
    ['x509', 'CN=bob', 'x509', true],
    ['x509', 'spiffe://a/b', 'x509', false],
    ['x509', 'spiffe://a/b', 'x509-san-uri', true],
    ['x509', 'batch.example.org', 'x509-san-uri', false],
    ['x509', 'batch.example.org', 'x509-san-dns', true],
    ['x509', 'Batch.example.org', 'x509-san-dns', false],
    ['x509', 'CN=bob', 'x509-san-dns', false],
    ['sasl', 'bob', 'sasl', true],
    ['sasl', 'bob', 'x509', false],
  ] as const)('with %s:%s where clients prove %s is legal: %s', (scheme, id, proven, legal) => {
    const acl = { perms: 31, scheme, id };
    expect(legalAcl([acl], [], new Set([proven]))).toEqual(legal ? [acl] : null);
  });

  it('loses its duplicates and keeps its order', () => {
    const read = { ...WORLD, perms: 1 };
    expect(legalAcl([read, WORLD, read, WORLD], [])).toEqual([read, WORLD]);
  });

  it('has no duplicates where two entries only read alike', () => {
    const one = { perms: 31, scheme: 'digest', id: 'a b:c' };
    expect(legalAcl([{ perms: 31, scheme: 'digest a', id: 'b:c' }, one], [])).toBe(null);
  });

  it('has each authenticated id of the connection in the place of auth, but not the address', () => {
    expect(legalAcl([auth(3, 'whatever'), WORLD], [SUPER, ANN, BOB, HOME])).toEqual([
      { perms: 3, ...ANN },
      { perms: 3, ...BOB },
      WORLD,
    ]);
  });

  it('loses its duplicates before auth is replaced, as in ZooKeeper', () => {
    const bob = { perms: 31, ...BOB };
    expect(legalAcl([auth(31), bob, auth(31), auth(1)], [BOB, HOME])).toEqual([
      bob,
      bob,
      { perms: 1, ...BOB },
    ]);
  });

  it('cannot be larger than what a client takes as an answer, however it is written', () => {
    const long = { perms: 31, scheme: 'digest', id: `${'u'.repeat(8_000)}:x` };
    const copies = (count: number, id = long.id) =>
      Array.from({ length: count }, (_, perms) => ({ ...long, id, perms }));
    expect(legalAcl(copies(32), [])).toHaveLength(32);
    expect(legalAcl(copies(33), [])).toBe(null);
    expect(legalAcl(copies(11, `${'\u4e00'.repeat(8_000)}:x`), [])).toBe(null);
    const identities = Array.from({ length: 150 }, (_, i) => ({ scheme: 'digest', id: `${i}:x` }));
    const many = Array.from({ length: 60_000 }, (_, perms) => auth(perms));
    expect(legalAcl(many, identities)).toBe(null);
  });

  it('has no id that is longer than an identity can be, and is refused before it is judged', () => {
    const idOf = (length: number) => ({
      perms: 31,
      scheme: 'digest',
      id: `u:${'x'.repeat(length - 2)}`,
    });
    expect(legalAcl([idOf(8192)], [])).toEqual([idOf(8192)]);
    expect(legalAcl([idOf(8193)], [])).toBe(null);
    for (const scheme of ['digest', 'ip', 'x509', 'sasl', 'x']) {
      const id = `${':'.repeat(1 << 20)}x`;
      expect(legalAcl([{ perms: 31, scheme, id }], [], ALL), scheme).toBe(null);
    }
  });

  it('ignores colons at the end of a digest, as Java does when it splits', () => {
    const isLegal = (id: string) => legalAcl([{ perms: 31, scheme: 'digest', id }], []) !== null;
    const legal = ['u:x', 'u:x:', 'u:x:::', ':x', ':x::'];
    const illegal = ['', ':', '::', 'u', 'u:', 'u::', 'u:x:y', 'u::x', '::x', 'u:x::y:'];
    expect(legal.filter((id) => !isLegal(id))).toEqual([]);
    expect(illegal.filter(isLegal)).toEqual([]);
  });

  it('is invalid with auth on a connection that has not authenticated', () => {
    expect(legalAcl([auth(31)], [HOME])).toBe(null);
    expect(legalAcl([WORLD, auth(31)], [])).toBe(null);
  });
});
