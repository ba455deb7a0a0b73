import { expect, it } from 'vitest';
import type { Config } from '../config/config.js';
import { checkSettings } from '../config/config-schema.js';
import { OperatorError } from '../config/operator-error.js';
import { rootAclOf } from './root-acl.js';

const servers = [{ id: 1, host: '127.0.0.1', clientPort: 2181, peerPort: 2881 }];
const NOTHING = { tls: null, sasl: null };
/** With a config of which nothing else is looked at. */
const read = (settings: Partial<Config>) => rootAclOf(settings as Config);
const DIGEST = 'ann:D/InIHSb7yEEbrWz8b9l71RjZJU=';

it('reads entries as ACLs have them', () => {
  const rootAcl = [`digest:${DIGEST}:cdrwa`, 'ip:10.0.0.0/8:rw', 'sasl:ann:r'];
  expect(read({ rootAcl, tls: null, sasl: { usersFile: 'users' } })).toEqual([
    { scheme: 'digest', id: DIGEST, perms: 31 },
    { scheme: 'ip', id: '10.0.0.0/8', perms: 3 },
    { scheme: 'sasl', id: 'ann', perms: 1 },
  ]);
  expect(read({ rootAcl: null, ...NOTHING })).toBeNull();
});

it.each([
  ['sasl:ann:cdrwa', 'scheme "sasl"'],
  ['x509:CN=a:a', 'scheme "x509"'],
  ['ip:10.0.0.0/40:a', 'scheme "ip"'],
  ['world:ann:a', 'scheme "world"'],
])('refuses %s, which no client could write, in a sentence', (entry, problem) => {
  const refused = () => read({ rootAcl: [`digest:${DIGEST}:cdrwa`, entry], ...NOTHING });
  expect(refused).toThrow(OperatorError);
  expect(refused).toThrow('rootAcl[1]: ');
  expect(refused).toThrow(problem);
});

it.each([
  [['world:anyone:r'], 'with permission a, or superDigest'],
  [['world:anyone'], 'rootAcl[0]: expected "scheme:id:permissions"'],
  [['auth::cdrwa'], 'rootAcl[0]: expected "scheme:id:permissions"'],
  [['world:anyone:x'], 'rootAcl[0]: expected "scheme:id:permissions"'],
  [[], 'expected at least one entry'],
  ['world:anyone:r', 'expected a list'],
])('as %j is refused in the config file', (rootAcl, problem) => {
  const { problems } = checkSettings({ dataDir: 'd', servers, rootAcl });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(problem);
});

it('may leave the administration of the root to super users', () => {
  const rootAcl = ['world:anyone:r'];
  for (const more of [
    { superDigest: 'super:D/InIHSb7yEEbrWz8b9l71RjZJU=' },
    { superIdentities: ['sasl:a'] },
  ]) {
    expect(checkSettings({ dataDir: 'd', servers, rootAcl, ...more }).problems).toEqual([]);
  }
});
