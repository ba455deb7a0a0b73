/**
 * TLS and auth: connects by TLS, and keeps something that only one user may read and change.
 *
 *   node secure.ts localhost:2281 ca.pem
 *
 * The second argument is the authority that signed the servers' certificates. Where they ask
 * clients for a certificate, `tls` takes `cert` and `key`, too.
 */
import { readFileSync } from 'node:fs';
import { type Acl, connect, ensurePath, NoAuthError, Perms } from '@rookery/client';

const [servers = 'localhost:2281', authority = 'ca.pem'] = process.argv.slice(2);
const tls = { ca: readFileSync(authority) };
const PATH = `/examples/secrets-${process.pid}`;

// The scheme `auth` means whoever creates the znode, by all that the client has presented.
const OWN: readonly Acl[] = [{ perms: Perms.all, scheme: 'auth', id: '' }];
const auth = [{ scheme: 'digest', auth: 'ann:a password of hers' }];
await using ann = await connect(servers, { tls, auth });
await ensurePath(ann, '/examples');
await ann.create(PATH, 'the password of the database', { acl: OWN });
console.log('ann reads', String((await ann.getData(PATH)).data));

await using stranger = await connect(servers, { tls });
await stranger.sync(PATH);
await stranger.getData(PATH).catch((error) => {
  if (!(error instanceof NoAuthError)) throw error;
  console.log('a stranger reads nothing');
});
await ann.delete(PATH);
