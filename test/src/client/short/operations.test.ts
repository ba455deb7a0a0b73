/**
 * Every operation of a client once, against real members: what it gives, and which errors.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  BadArgumentsError,
  BadVersionError,
  type Client,
  connect,
  NoAuthError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  type OperationMessage,
  Perms,
  ReconfigDisabledError,
  TransactionError,
  UnimplementedError,
  WatcherType,
} from '@rookery/client';
import { CreateFlag } from '@rookery/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { create as createByWire } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { connectTo } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const ROOKERY = productUnderTest().name === 'rookery';
const ensemble = sharedEnsemble();
let tests = 0;

async function connected(): Promise<Client> {
  const hosts = ensemble().ports.map((port) => `127.0.0.1:${port}`);
  const client = await connect(hosts.join(','), { sessionTimeoutMs: 10_000 });
  onTestFinished(() => client.close());
  return client;
}

/** A client, and a directory of its own that exists. */
async function fixture(): Promise<{ readonly client: Client; readonly at: string }> {
  const client = await connected();
  tests++;
  const { path } = await client.create(`/operations-${tests}`);
  return { client, at: path };
}

it('creates in every mode, and tells path and Stat of what was created', async () => {
  const { client, at } = await fixture();
  const plain = await client.create(`${at}/plain`, 'data');
  expect(plain.path).toBe(`${at}/plain`);
  expect(plain.stat).toMatchObject({ version: 0, dataLength: 4, ephemeralOwner: 0n });
  expect(plain.stat.czxid).toBe(client.lastZxidSeen);
  const sequential = await client.create(`${at}/s-`, null, { mode: 'persistentSequential' });
  expect(sequential.path).toBe(`${at}/s-0000000001`);
  const ephemeral = await client.create(`${at}/e`, '', { mode: 'ephemeral' });
  expect(ephemeral.stat.ephemeralOwner).toBe(client.session?.id);
  const both = await client.create(`${at}/es-`, '', { mode: 'ephemeralSequential' });
  expect(both.path).toBe(`${at}/es-0000000003`);
  await client.create(`${at}/container`, '', { mode: 'container' });
  await client.create(`${at}/ttl`, '', { mode: 'persistentWithTtl', ttlMs: 100_000 });
  const ttl = { mode: 'persistentSequentialWithTtl', ttlMs: 100_000 } as const;
  expect((await client.create(`${at}/ts-`, '', ttl)).path).toBe(`${at}/ts-0000000006`);
  expect([...(await client.getEphemerals(at))].sort()).toEqual([`${at}/e`, both.path].sort());
  expect(await client.countDescendants(at)).toBe(7);
  await expect(client.create(`${at}/plain`)).rejects.toBeInstanceOf(NodeExistsError);
  await expect(client.create(`${at}/no/child`)).rejects.toBeInstanceOf(NoNodeError);
});

it('tells null data from empty, and gives bytes as they were', async () => {
  const { client, at } = await fixture();
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  for (const data of [null, '', bytes]) {
    await client.setData(at, data);
    const read = (await client.getData(at)).data;
    expect(read).toEqual(data === null ? null : Buffer.from(data));
  }
});

it('reads, changes and deletes by version', async () => {
  const { client, at } = await fixture();
  expect(await client.exists(`${at}/none`)).toBeNull();
  await expect(client.getData(`${at}/none`)).rejects.toBeInstanceOf(NoNodeError);
  const stat = await client.setData(at, 'one', { version: 0 });
  expect(stat.version).toBe(1);
  await expect(client.setData(at, 'two', { version: 0 })).rejects.toBeInstanceOf(BadVersionError);
  await client.create(`${at}/child`);
  await client.sync(at);
  expect((await client.getChildren(at)).children).toEqual(['child']);
  expect((await client.exists(at))?.numChildren).toBe(1);
  await expect(client.delete(at)).rejects.toBeInstanceOf(NotEmptyError);
  await client.delete(`${at}/child`, { version: 0 });
  await client.delete(at);
  expect(await client.exists(at)).toBeNull();
});

it('lists all children in code-unit order', async () => {
  const { client, at } = await fixture();
  const names = ['b', 'a', 'é', 'Z', '1'];
  await Promise.all(names.map((name) => client.create(`${at}/${name}`)));
  const listed: string[] = [];
  for await (const name of client.listChildren(at)) listed.push(name);
  expect(listed).toEqual([...names].sort());
});

it('keeps others out by ACLs, and knows who it is', async () => {
  const { client, at } = await fixture();
  await client.addAuth('digest', 'owner:secret');
  expect(await client.whoAmI()).toContainEqual({ authScheme: 'digest', user: 'owner' });
  const path = `${at}/private`;
  await client.create(path, 'x', { acl: [{ perms: Perms.all, scheme: 'auth', id: '' }] });
  const { acl } = await client.getAcl(path);
  expect(acl).toMatchObject([{ scheme: 'digest', perms: Perms.all }]);
  const { client: other } = await fixture();
  await other.sync(path);
  await expect(other.getData(path)).rejects.toBeInstanceOf(NoAuthError);
  const everybody = [{ perms: Perms.read, scheme: 'world', id: 'anyone' }];
  expect((await client.setAcl(path, everybody, { version: 0 })).aversion).toBe(1);
  await other.sync(path);
  expect(String((await other.getData(path)).data)).toBe('x');
});

it('commits a transaction as a whole or not at all', async () => {
  const { client, at } = await fixture();
  const results = await client
    .transaction()
    .check(at, { version: 0 })
    .create(`${at}/a`, 'a')
    .create(`${at}/s-`, '', { mode: 'ephemeralSequential' })
    .setData(`${at}/a`, 'b', { version: 0 })
    .delete(`${at}/s-0000000001`)
    .commit();
  expect(results.map(({ kind }) => kind)).toEqual([
    ...['check', 'create', 'create', 'setData', 'delete'],
  ]);
  const failed = client.multi([
    { kind: 'create', path: `${at}/never` },
    { kind: 'check', path: at, version: 7 },
    { kind: 'delete', path: `${at}/a` },
  ]);
  const error: unknown = await failed.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TransactionError);
  expect(error).toMatchObject({ failedIndex: 1, error: { name: 'BadVersionError' } });
  expect((await client.getChildren(at)).children).toEqual(['a']);
  expect(await client.multi([])).toEqual([]);
});

it('reads several znodes at once, each with its own error', async () => {
  const { client, at } = await fixture();
  await client.create(`${at}/a`, 'data');
  const [data, children, none] = await client.multiRead([
    { kind: 'getData', path: `${at}/a` },
    { kind: 'getChildren', path: at },
    { kind: 'getData', path: `${at}/none` },
  ]);
  expect(data).toMatchObject({ kind: 'getData', data: Buffer.from('data') });
  expect(children).toEqual({ kind: 'getChildren', children: ['a'] });
  expect(none).toMatchObject({ kind: 'error', error: { name: 'NoNodeError' } });
});

it('reads the configuration and is refused a reconfiguration that is disabled', async () => {
  const { client } = await fixture();
  expect(String((await client.getConfig()).data)).toMatch(/^server\.1=/);
  const error: unknown = await client.reconfig({ leaving: '3' }).catch((reason) => reason);
  const isRefused = error instanceof ReconfigDisabledError || error instanceof NoAuthError;
  expect(isRefused, String(error)).toBe(true);
});

it('asks the server about watches and takes them away', async () => {
  const { client, at } = await fixture();
  const told: string[] = [];
  await client.getData(at, { watcher: ({ type }) => told.push(type) });
  await client.checkWatches(at, WatcherType.data);
  await client.removeWatches(at, WatcherType.data);
  expect(told).toEqual(['removed']);
  await expect(client.checkWatches(at, WatcherType.data)).rejects.toMatchObject({ code: -121 });
  expect(client.watchCount).toBe(0);
});

it('sees the tree through a chroot as if it were all', async () => {
  const { at } = await fixture();
  const hosts = ensemble().ports.map((port) => `127.0.0.1:${port}`);
  const client = await connect(`${hosts.join(',')}${at}`, { sessionTimeoutMs: 10_000 });
  onTestFinished(() => client.close());
  expect((await client.create('/inside')).path).toBe('/inside');
  expect((await client.getChildren('/')).children).toEqual(['inside']);
  expect(client.prefix).toBe(at);
});

it('tells every operation on a diagnostics channel', async () => {
  const { client, at } = await fixture();
  const messages: OperationMessage[] = [];
  const onMessage = (message: unknown) => messages.push(message as OperationMessage);
  subscribe('rookery:client:operation', onMessage);
  await client.setData(at, 'x');
  await client.getData(`${at}/none`).catch(() => undefined);
  unsubscribe('rookery:client:operation', onMessage);
  const { server } = client;
  expect(messages).toMatchObject([
    { client: 'default', op: 'setData', path: at, server, error: null },
    { op: 'getData', path: `${at}/none`, server, error: { name: 'NoNodeError' } },
  ]);
  expect(messages[0]?.zxid).toBe(client.lastZxidSeen);
  expect(messages[0]?.latencyMs).toBeGreaterThan(0);
});

it('resumes the session of a client that went away without closing it', async () => {
  const { at } = await fixture();
  const [member] = ensemble().members;
  if (member === undefined) throw new Error('an ensemble without members');
  const gone = await connectTo(member, { timeoutMs: 10_000 });
  const { id, password } = gone.session;
  await createByWire(gone, `${at}/e`, '', CreateFlag.ephemeral);
  await gone.drop();
  const hosts = ensemble().ports.map((port) => `127.0.0.1:${port}`);
  const resume = { sessionId: BigInt(id), password };
  const client = await connect(hosts.join(','), { sessionTimeoutMs: 10_000, resume });
  onTestFinished(() => client.close());
  expect(client.session?.id).toBe(BigInt(id));
  expect(await client.getEphemerals(at)).toEqual([`${at}/e`]);
});

it('raises the number of the next sequential znode where that is offered', async () => {
  const { client, at } = await fixture();
  const named = client.namespace(at);
  const child = (path: string) => named.create(path, '', { mode: 'persistentSequential' });
  await expect(client.raiseSequence(at, -1)).rejects.toBeInstanceOf(BadArgumentsError);
  if (!ROOKERY) {
    const changes: string[] = [];
    client.onState(({ state }) => changes.push(state));
    expect(await client.raisesSequences()).toBe(false);
    await expect(client.raiseSequence(at, 7)).rejects.toBeInstanceOf(UnimplementedError);
    // Its connection was not closed, as it would be by an operation that ZooKeeper does not know.
    expect(changes).toEqual([]);
    expect((await child('/n-')).path).toBe('/n-0000000000');
    return;
  }
  const raising = await until('all members know the request', 60_000, async () => {
    // Each session asks once.
    const asking = await connected();
    if (await asking.raisesSequences()) return asking;
    await asking.close();
    return undefined;
  });
  expect(await raising.namespace(at).raiseSequence('/', 7)).toBe(7);
  const { lastZxidSeen } = raising;
  const numbers = Array.from({ length: 10 }, (_, index) => 10 + index);
  await Promise.all(numbers.map((number) => raising.raiseSequence(at, number)));
  // Its session asks once, so these are ten transactions, and few of others.
  expect(Number(raising.lastZxidSeen - lastZxidSeen)).toBeLessThan(20);
  expect((await child('/n-')).path).toBe('/n-0000000019');
  await expect(raising.raiseSequence(`${at}/none`, 1)).rejects.toBeInstanceOf(NoNodeError);
});
