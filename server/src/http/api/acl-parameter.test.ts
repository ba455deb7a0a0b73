/** What the parameter `acl` is read as, and that nothing is guessed. */
import { expect, it } from 'vitest';
import { HttpError } from '../http-port.js';
import { aclIn } from './acl-parameter.js';

function read(...given: readonly string[]): readonly string[] | string | null {
  try {
    const acl = aclIn(new URLSearchParams(given.map((one): [string, string] => ['acl', one])));
    return acl?.map(({ scheme, id, perms }) => `${scheme} ${id} ${perms}`) ?? null;
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return error.message;
    throw error;
  }
}

const SUBJECT = 'x509:CN=a,O=b:cdrwa';
const EXPECTED = 'acl: expected scheme:id:perms, once for each entry.';

it('takes an entry for each occurrence, with whatever commas are in its id', () => {
  expect(read()).toBeNull();
  expect(read('world:anyone:r', SUBJECT)).toEqual(['world anyone 1', 'x509 CN=a,O=b 31']);
  expect(read('', SUBJECT)).toEqual(['x509 CN=a,O=b 31']);
  expect(read('', 'sasl:a:r,world:anyone:cdrwa')).toEqual(['sasl a:r,world:anyone 31']);
});

it('takes a single occurrence as a list or as an entry, whichever it can be', () => {
  expect(read('world:anyone:r')).toEqual(['world anyone 1']);
  expect(read('world:anyone:r,auth::cdrwa')).toEqual(['world anyone 1', 'auth  31']);
  expect(read('digest:u:abc=:r,sasl:joe:w')).toEqual(['digest u:abc= 1', 'sasl joe 2']);
  expect(read('ip:10.0.0.0/8:r,x509:CN=a:w')).toEqual(['ip 10.0.0.0/8 1', 'x509 CN=a 2']);
  expect(read(SUBJECT)).toEqual(['x509 CN=a,O=b 31']);
  expect(read('digest:a,b:abc=:r')).toEqual(['digest a,b:abc= 1']);
});

it('refuses what can be both, so that no id of a stranger becomes an entry of its own', () => {
  for (const both of ['x509:CN=a:r,world:anyone:cdrwa', 'sasl:joe:r,auth::cdrwa']) {
    expect(read(both), both).toContain('can be a list or one entry');
  }
  const behind = 'x509:CN=a:cdrwa,world:anyone:r';
  for (const first of ['world:anyone:r', 'ip:10.0.0.1:r', 'auth::r', 'digest:u:abc=:r']) {
    expect(read(`${first},${behind}`), first).toContain('can be a list or one entry');
  }
});

it('refuses a list whose ids have commas, rather than take it for one id that nobody has', () => {
  for (const list of [`${SUBJECT},world:anyone:r`, `${SUBJECT},${SUBJECT}`, 'sasl:a,b:r,auth::r']) {
    expect(read(list), list).toContain('can be a list or one entry');
  }
});

it('refuses what is no entry', () => {
  const wrong = ['', 'world', 'world:anyone', 'world:anyone:x', ':a:r', 'world:anyone:r,'];
  for (const one of [...wrong, 'world:anyone:r,x']) expect(read(one), one).toBe(EXPECTED);
  expect(read('', '')).toBe(EXPECTED);
  expect(read('world:anyone:r', 'x')).toBe(EXPECTED);
});
