import { AuthPacket, encode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { digestOf, isDigestOf } from '../config/digest-of.js';
import type { Identities } from './access.js';
import { legalAcl } from './acl-form.js';
import { Authenticator, clientInfoOf, identitiesOf, identityBytesOf } from './identities.js';

const HOME = { scheme: 'ip', id: '127.0.0.1' };
const BOB = { scheme: 'digest', id: 'bob:gyVmCdwVbTJYrznoSu1koqYEYF0=' };

function packet(scheme: string, auth: string | null): Uint8Array {
  return encode(AuthPacket, { type: 0, scheme, auth: auth === null ? null : Buffer.from(auth) });
}
/** As `Authenticator.authenticate`, with the identities alone. */
function newAuthenticator(superDigest: string | null = null) {
  const authenticator = new Authenticator({ digestOf, superDigest });
  return {
    authenticate: (body: Uint8Array, before: Identities): Identities | null =>
      authenticator.authenticate(body, before)?.identities ?? null,
    get failures() {
      return authenticator.failures;
    },
  };
}

describe('a connection', () => {
  it('is its address from the start, IPv4-mapped or not', () => {
    expect(identitiesOf('127.0.0.1')).toEqual([HOME]);
    expect(identitiesOf('::ffff:127.0.0.1')).toEqual([HOME]);
    expect(identitiesOf('')).toEqual([]);
  });

  it('becomes the digest of what it sends, besides what it was', () => {
    const before = [HOME];
    const after = newAuthenticator().authenticate(packet('digest', 'bob:secret'), before);
    expect(after?.map(({ scheme }) => scheme)).toEqual(['digest', 'ip']);
    expect(after?.[0]?.id).toBe(digestOf('bob:secret'));
    expect(before).toEqual([HOME]);
  });

  it('has each identity once, however often it authenticates', () => {
    const authenticator = newAuthenticator();
    const once = authenticator.authenticate(packet('digest', 'bob:secret'), [HOME]) ?? [];
    expect(authenticator.authenticate(packet('digest', 'bob:secret'), once)).toEqual(once);
    expect(authenticator.authenticate(packet('digest', 'ann:secret'), once)).toHaveLength(3);
  });

  it('sends at most 16 KB of it: nothing of a longer packet is hashed', () => {
    let hashed = 0;
    const counting = (text: string) => {
      hashed += 1;
      return digestOf(text);
    };
    const authenticator = new Authenticator({ digestOf: counting, superDigest: null });
    const sized = (bytes: number) => {
      const around = packet('digest', '').length;
      return packet('digest', `bob:${'x'.repeat(bytes - around - 4)}`);
    };
    expect(authenticator.authenticate(sized(16_384), [HOME])).not.toBe(null);
    hashed = 0;
    expect(authenticator.guessedUser(sized(16_385))).toBe(null);
    expect(authenticator.authenticate(sized(16_385), [HOME])).toBe(null);
    expect(hashed).toBe(0);
  });

  it('gains nothing by authenticating with its address, which always holds', () => {
    expect(newAuthenticator().authenticate(packet('ip', null), [HOME])).toEqual([HOME]);
  });

  it.each(['world', 'auth', 'super', 'sasl', 'x509', 'nope', ''])(
    'cannot authenticate with scheme %j',
    (scheme) => {
      const authenticator = newAuthenticator();
      expect(authenticator.authenticate(packet(scheme, 'bob:secret'), [HOME])).toBe(null);
      expect(authenticator.failures).toBe(1);
    },
  );

  it('does not authenticate with a malformed packet or without data', () => {
    const authenticator = newAuthenticator();
    expect(authenticator.authenticate(new Uint8Array(3), [HOME])).toBe(null);
    expect(authenticator.authenticate(packet('digest', null), [HOME])).toBe(null);
    expect(authenticator.failures).toBe(2);
  });

  it('cannot make each of its requests as large as it likes', () => {
    const authenticator = newAuthenticator();
    expect(authenticator.authenticate(packet('digest', `${'u'.repeat(9000)}:x`), [])).toBe(null);
    const wide = (count: number) =>
      authenticator.authenticate(packet('digest', `${'\u4e00'.repeat(count)}:x`), []);
    expect(identityBytesOf(wide(2_700) ?? [])).toBe(6 + 3 * 2_700 + 1 + 28);
    expect(wide(2_800)).toBe(null);
    let identities: ReturnType<typeof identitiesOf> | null = [HOME];
    let count = 0;
    while (identities !== null && count < 1000) {
      count += 1;
      identities = authenticator.authenticate(packet('digest', `user${count}:x`), identities);
    }
    expect(identities).toBe(null);
    expect(count).toBeGreaterThan(100);
  });

  it('is the super user with the password that the operator chose, and only then', () => {
    const authenticator = newAuthenticator(digestOf('super:secret'));
    const schemes = (auth: string) =>
      authenticator.authenticate(packet('digest', auth), [HOME])?.map(({ scheme }) => scheme);
    expect(schemes('super:secret')).toEqual(['super', 'digest', 'ip']);
    expect(schemes('super:wrong')).toEqual(['digest', 'ip']);
    expect(schemes('bob:secret')).toEqual(['digest', 'ip']);
    const without = newAuthenticator().authenticate(packet('digest', 'super:secret'), []);
    expect(without).toHaveLength(1);
  });
});

describe('with digests of several algorithms', () => {
  const SHA1 = digestOf('bob:secret');
  const SHA256 = digestOf('bob:secret', 'SHA256');
  const ids = (identities: Identities | undefined) => identities?.map(({ id }) => id);

  it('a password proves each of them, and is shown and written into ACLs as the first', () => {
    const both = new Authenticator({ digestOf, superDigest: null, digestAlgs: ['SHA256', 'SHA1'] });
    const { identities = [] } = both.authenticate(packet('digest', 'bob:secret'), [HOME]) ?? {};
    expect(ids(identities)).toEqual([SHA256, SHA1, '127.0.0.1']);
    expect(clientInfoOf(identities).map(({ user }) => user)).toEqual(['bob', '127.0.0.1']);
    const auth = { perms: 31, scheme: 'auth', id: '' };
    expect(legalAcl([auth], identities)).toEqual([{ perms: 31, scheme: 'digest', id: SHA256 }]);
    const again = both.authenticate(packet('digest', 'ann:secret'), identities)?.identities ?? [];
    expect(legalAcl([auth], again)).toHaveLength(2);
  });

  it('a password proves nothing by an algorithm that is not listed', () => {
    const one = new Authenticator({ digestOf, superDigest: null, digestAlgs: ['SHA256'] });
    const after = one.authenticate(packet('digest', 'bob:secret'), []);
    expect(ids(after?.identities)).toEqual([SHA256]);
  });

  it.each(['SHA1', 'SHA256', 'SHA512'] as const)(
    'the super user may be written by %s',
    (algorithm) => {
      const authenticator = new Authenticator({
        digestOf,
        superDigest: digestOf('super:secret', algorithm),
        superIdentities: new Set([`digest:${digestOf('root:secret', algorithm)}`]),
      });
      const judged = (auth: string, before: Identities = []) => {
        const { identities = [], isWrongSuper } =
          authenticator.authenticate(packet('digest', auth), before) ?? {};
        return { isSuper: identities[0]?.scheme === 'super', isWrongSuper, identities };
      };
      expect(judged('super:secret')).toMatchObject({ isSuper: true, isWrongSuper: false });
      expect(judged('root:secret')).toMatchObject({ isSuper: true, isWrongSuper: false });
      const wrong = judged('root:guess');
      expect(wrong).toMatchObject({ isSuper: false, isWrongSuper: true });
      expect(judged('root:guess', wrong.identities).isWrongSuper).toBe(false);
      expect(judged('bob:secret')).toMatchObject({ isSuper: false, isWrongSuper: false });
    },
  );
});

describe('the answer of whoAmI', () => {
  it('names users and addresses, and no digest', () => {
    expect(clientInfoOf([{ scheme: 'super', id: '' }, BOB, HOME])).toEqual([
      { authScheme: 'super', user: '' },
      { authScheme: 'digest', user: 'bob' },
      { authScheme: 'ip', user: '127.0.0.1' },
    ]);
  });
});

describe('the digest scheme', () => {
  it('is the user and the base64 SHA-1 of user and password, as ZooKeeper has it', () => {
    // The entry in ZooKeeper's documentation of its ACL schemes.
    expect(digestOf('super:test')).toBe('super:D/InIHSb7yEEbrWz8b9l71RjZJU=');
    expect(digestOf('super:admin')).toBe('super:xQJmxLMiHGwaqBvst5y6rkB6HQs=');
    // printf %s super:test | openssl dgst -sha256 -binary | base64
    expect(digestOf('super:test', 'SHA256')).toBe(
      'super:wjySwxg860UATFtciuZ1lpzrCHrPeov6SPu/ZD56uig=',
    );
    expect(isDigestOf('super:D/InIHSb7yEEbrWz8b9l71RjZJU=', 'super:test')).toBe(true);
    expect(isDigestOf('super:wjySwxg860UATFtciuZ1lpzrCHrPeov6SPu/ZD56uig=', 'super:test')).toBe(
      true,
    );
    expect(isDigestOf('super:wjySwxg860UATFtciuZ1lpzrCHrPeov6SPu/ZD56uig=', 'super:tests')).toBe(
      false,
    );
  });
});
