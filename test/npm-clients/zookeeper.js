/**
 * Drives the npm package `zookeeper`, which is built on ZooKeeper's own C client: two clients at
 * two members.
 *
 * Usage: node zookeeper.js HOST:PORT HOST:PORT. Exits 0 when all was as expected.
 */
import assert from 'node:assert/strict';
import ZooKeeper from 'zookeeper';
import { refused, upcoming } from './expectations.js';

const { constants } = ZooKeeper;
const SESSION_TIMEOUT_MS = 10_000;

const [a, b] = await Promise.all(process.argv.slice(2, 4).map(connected));

assert.equal(await a.create('/native', 'one', 0), '/native');
await refused('create again', constants.ZNODEEXISTS, b.create('/native', 'again', 0));
await b.sync('/native');

const changed = upcoming('the change');
const [stat, data] = await b.w_get('/native', (type, _state, path) => changed.arrive([type, path]));
assert.equal(String(data), 'one');
assert.equal(stat.version, 0);
assert.equal((await a.set('/native', 'two', 0)).version, 1);
assert.deepEqual(await changed.arrived, [constants.ZOO_CHANGED_EVENT, '/native']);
assert.equal(String((await b.get('/native', false))[1]), 'two');
await refused('a stale version', constants.ZBADVERSION, b.set('/native', 'three', 0));

const grown = upcoming('the new child');
assert.deepEqual(await b.w_get_children('/native', grown.arrive), []);
const flags = constants.ZOO_EPHEMERAL | constants.ZOO_SEQUENCE;
const path = await a.create('/native/e-', '', flags);
assert.equal(path, '/native/e-0000000000');
assert.equal(await grown.arrived, constants.ZOO_CHILD_EVENT);
const gone = upcoming('the end of the ephemeral');
const owned = await b.w_exists(path, gone.arrive);
assert.equal(String(owned.ephemeralOwner), a.client_id);
const [names, parent] = await b.get_children2('/native', false);
assert.deepEqual([names, parent.numChildren], [['e-0000000000'], 1]);

await authenticate(b, 'ann:secret');
await b.create('/native/mine', 'secret', 0);
const owner = [{ perms: constants.ZOO_PERM_ALL, scheme: 'auth', auth: '' }];
await b.set_acl('/native/mine', -1, owner);
await a.sync('/native/mine');
await refused('get without permission', constants.ZNOAUTH, a.get('/native/mine', false));
const [[acl]] = await b.get_acl('/native/mine');
assert.equal(acl.scheme, 'digest');
assert.match(acl.auth, /^ann:/);
await authenticate(a, 'ann:secret');
assert.equal(String((await a.get('/native/mine', false))[1]), 'secret');

const timed = await b.create('/native/ttl', 'x', constants.ZOO_PERSISTENT_WITH_TTL, 100_000);
assert.equal(timed, '/native/ttl');
const container = await b.create('/native/box', '', constants.ZOO_CONTAINER);
assert.equal(container, '/native/box');
await refused('delete with children', constants.ZNOTEMPTY, b.delete_('/native', -1));

const closed = upcoming('the end of the session');
a.once('close', closed.arrive);
a.close();
await closed.arrived;
assert.equal(await gone.arrived, constants.ZOO_DELETED_EVENT);
for (const name of await b.get_children('/native', false)) await b.delete_(`/native/${name}`, -1);
await b.delete_('/native', -1);
assert.equal(await b.pathExists('/native', false), false);
b.close();
console.log('zookeeper: everything as expected');
process.exit(0);

async function connected(server) {
  const client = new ZooKeeper({
    connect: server,
    timeout: SESSION_TIMEOUT_MS,
    debug_level: constants.ZOO_LOG_LEVEL_WARN,
    host_order_deterministic: true,
  });
  const arrival = upcoming(`a connection to ${server}`);
  client.once('connect', arrival.arrive);
  client.init({});
  await arrival.arrived;
  return client;
}

async function authenticate(client, credential) {
  const answer = upcoming('the answer to the authentication');
  client.add_auth('digest', credential, answer.arrive);
  assert.equal(await answer.arrived, constants.ZOK);
}
