/**
 * Drives the npm package `node-zookeeper-client`: two clients at two members.
 *
 * Usage: node node-zookeeper-client.js HOST:PORT HOST:PORT. Exits 0 when all was as expected.
 */
import assert from 'node:assert/strict';
import zookeeper from 'node-zookeeper-client';
import { refused, result, upcoming } from './expectations.js';

const { ACL, CreateMode, Exception, Id, Permission } = zookeeper;
const SESSION_TIMEOUT_MS = 10_000;
const OPEN = ACL.OPEN_ACL_UNSAFE;

const [a, b] = await Promise.all(process.argv.slice(2, 4).map(connected));

assert.equal(await result('create', (done) => a.create('/js', Buffer.from('one'), done)), '/js');
await refused(
  'create again',
  Exception.NODE_EXISTS,
  result('', (done) => b.create('/js', done)),
);

const changed = upcoming('the change');
const [data, stat] = await result('getData', (done) => b.getData('/js', changed.arrive, done));
assert.equal(data.toString(), 'one');
assert.equal(stat.version, 0);
const after = await result('setData', (done) => a.setData('/js', Buffer.from('two'), 0, done));
assert.equal(after.version, 1);
const event = await changed.arrived;
assert.deepEqual([event.getName(), event.getPath()], ['NODE_DATA_CHANGED', '/js']);
assert.equal((await result('getData', (done) => b.getData('/js', done)))[0].toString(), 'two');
await refused(
  'setData with a stale version',
  Exception.BAD_VERSION,
  result('', (done) => b.setData('/js', Buffer.from('three'), 0, done)),
);

const grown = upcoming('the new child');
assert.deepEqual((await children(b, '/js', grown.arrive)).names, []);
const path = await result('create', (done) => {
  a.create('/js/e-', null, OPEN, CreateMode.EPHEMERAL_SEQUENTIAL, done);
});
assert.equal(path, '/js/e-0000000000');
assert.equal((await grown.arrived).getName(), 'NODE_CHILDREN_CHANGED');
const gone = upcoming('the end of the ephemeral');
const owned = await result('exists', (done) => b.exists(path, gone.arrive, done));
assert.deepEqual(owned.ephemeralOwner, a.getSessionId());
const { names, stat: parent } = await children(b, '/js');
assert.deepEqual([names, parent.numChildren], [['e-0000000000'], 1]);

const results = await result('transaction', (done) => {
  b.transaction()
    .check('/js', 1)
    .create('/js/t', Buffer.from('x'))
    .setData('/js/t', Buffer.from('y'), 0)
    .create('/js/t2')
    .remove('/js/t2')
    .commit(done);
});
assert.equal(results.length, 5);
assert.equal(results[1].path, '/js/t');
assert.equal(results[2].stat.version, 1);
await refused(
  'a transaction with a failing check',
  Exception.BAD_VERSION,
  result('', (done) => b.transaction().create('/js/never').check('/js', 7).commit(done)),
);
assert.equal(await result('exists', (done) => b.exists('/js/never', done)), null);

b.addAuthInfo('digest', Buffer.from('ann:secret'));
const mine = [new ACL(Permission.ALL, new Id('auth', ''))];
await result('create', (done) => b.create('/js/mine', Buffer.from('s'), mine, done));
// This client has no sync: once its own write is answered, its member has the one before, too.
await result('setData', (done) => a.setData('/js', Buffer.from('z'), done));
await refused(
  'getData without permission',
  Exception.NO_AUTH,
  result('', (done) => a.getData('/js/mine', done)),
);
const [acls] = await result('getACL', (done) => b.getACL('/js/mine', done));
assert.equal(acls[0].id.scheme, 'digest');
assert.match(acls[0].id.id, /^ann:/);
a.addAuthInfo('digest', Buffer.from('ann:secret'));
assert.equal((await result('getData', (done) => a.getData('/js/mine', done)))[0].toString(), 's');

await result('mkdirp', (done) => a.mkdirp('/js/deep/er/still', done));
const ended = upcoming('the end of the session');
a.once('disconnected', ended.arrive);
a.close();
await ended.arrived;
assert.equal((await gone.arrived).getName(), 'NODE_DELETED');
for (const path of ['/deep/er/still', '/deep/er', '/deep', '/mine', '/t', '']) {
  await result('remove', (done) => b.remove(`/js${path}`, done));
}
assert.equal(await result('exists', (done) => b.exists('/js', done)), null);
b.close();
console.log('node-zookeeper-client: everything as expected');

async function connected(server) {
  const client = zookeeper.createClient(server, { sessionTimeout: SESSION_TIMEOUT_MS });
  const arrival = upcoming(`a connection to ${server}`);
  client.once('connected', arrival.arrive);
  client.connect();
  await arrival.arrived;
  return client;
}

async function children(client, path, watcher) {
  const [names, stat] = await result('getChildren', (done) => {
    client.getChildren(path, watcher, done);
  });
  return { names, stat };
}
