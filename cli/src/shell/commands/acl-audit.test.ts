import type { Acl } from '@rookery/client';
import { permsText } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { sha1Finding, worldFinding } from './acl-audit.js';

const entry = (scheme: string, id: string, perms: number): Acl => ({ scheme, id, perms });
const [READ, WRITE, CREATE, ADMIN] = [1, 2, 4, 16];

it.each([
  [[entry('world', 'anyone', 31)], 'cdwa'],
  [[entry('world', 'anyone', READ)], null],
  [[entry('world', 'anyone', READ), entry('world', 'anyone', WRITE | READ)], 'w'],
  [[entry('ip', '0.0.0.0/0', CREATE)], 'c'],
  [[entry('ip', '::/0', ADMIN), entry('world', 'anyone', WRITE)], 'wa'],
  [[entry('ip', '10.0.0.0/10', 31), entry('sasl', 'ann', 31)], null],
  [[], null],
] as const)('of %j, everybody may %s', (acl, perms) => {
  const finding = worldFinding('/a', acl);
  expect(finding === null ? null : permsText(finding.perms)).toBe(perms);
});

it('knows digests of SHA-1 by their length, and those that are not shown', () => {
  const sha1 = 'D/InIHSb7yEEbrWz8b9l71RjZJU=';
  const sha256 = `${'A'.repeat(43)}=`;
  const ann = entry('digest', `ann:${sha1}`, 31);
  const bob = entry('digest', `bob:${sha256}`, 31);
  expect(sha1Finding('/a', [ann, bob, ann])).toEqual({ path: '/a', perms: 0, users: ['ann'] });
  expect(sha1Finding('/a', [bob, entry('sasl', `ann:${sha1}`, 31)])).toBeNull();
  expect(sha1Finding('/a', [bob, entry('digest', 'ann:x', 1)])).toBe('hidden');
});
