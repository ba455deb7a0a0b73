/**
 * What stands on the operations, against real members: namespaces and chroot, writes whose reply
 * is lost, deletion and listing of large trees that others change, deletions over lost connections
 * and leaders, fenced transactions, waits. Each property is looked at from a second client.
 */
import {
  type Client,
  createRecursive,
  deleteRecursive,
  ensurePath,
  exponentialBackoff,
  idempotentCreate,
  idempotentDelete,
  idempotentSet,
  KeeperError,
  type Lease,
  LeaseLostError,
  NodeExistsError,
  NoNodeError,
  retry,
  TransactionError,
  upsert,
  waitForData,
  waitForDeletion,
  waitForExistence,
} from '@rookery/client';
import { OpCode } from '@rookery/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { productUnderTest } from '../harness/product.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from './cuttable-client.js';
import { useReplyLosingClient } from './reply-losing-client.js';
import { sharedEnsemble } from './shared-ensemble.js';

const ROOKERY = productUnderTest().name === 'rookery';
const CREATES_PER_MULTI = 250;
/** A loaded machine is no dead leader: its heartbeats may be late here. */
const TICK_TIME_MS = 2_000;
const LARGE_TEST_DEADLINE_MS = 240_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS, tickTimeMs: TICK_TIME_MS });

describe('a namespace', () => {
  test('by the connect string, made by its own client, holds everything that client does', async () => {
    const all = await useDirectClient(ensemble());
    const client = await useDirectClient(ensemble(), { chroot: '/apps/one' });
    expect(await client.exists('/')).toBeNull();
    await expect(client.create('/a')).rejects.toMatchObject({ name: 'NoNodeError', path: '/a' });
    await createRecursive(client, '/a/b', 'x', { parents: 'container' });
    await upsert(client, '/', 'root');
    await client.sync('/');
    await all.sync('/');
    expect((await all.getData('/apps/one')).data?.toString()).toBe('root');
    expect((await all.getData('/apps/one/a/b')).data?.toString()).toBe('x');

    const inner = client.namespace('/a');
    expect((await inner.getChildren('/')).children).toEqual(['b']);
    const created = await inner.create('/e-', null, { mode: 'ephemeralSequential' });
    expect(created.path).toMatch(/^\/e-\d{10}$/);
    expect(await inner.getEphemerals()).toEqual([created.path]);
    expect(await client.getEphemerals()).toEqual([`/a${created.path}`]);
    const coming = waitForExistence(inner, '/late');
    await all.create('/apps/one/a/late');
    await coming;
    const failed = inner.transaction().check('/late').create('/b').commit();
    await expect(failed).rejects.toThrow(TransactionError);
    await expect(failed).rejects.toMatchObject({ failedIndex: 1, error: { path: '/b' } });
    expect((await inner.getConfig()).stat.czxid).toBe((await all.getConfig()).stat.czxid);
    await deleteRecursive(client, '/');
    await all.sync('/');
    expect((await all.getChildren('/apps')).children).toEqual([]);
  });
});

describe('a write whose reply is lost', () => {
  test.each(['persistent', 'ephemeral'] as const)(
    'a %s create is found again, and is made once',
    async (mode) => {
      const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
      const path = `/idempotent-${mode}`;
      const dropped = loseReplyTo(OpCode.create2);
      const created = await idempotentCreate(client, path, 'x', { mode });
      expect(await dropped).toMatchObject({ error: 0 });
      const stat = await client.exists(path);
      expect(created).toEqual({ path, stat });
      expect(stat?.ephemeralOwner).toBe(mode === 'ephemeral' ? client.session?.id : 0n);
      await expect(client.create(path, 'x')).rejects.toThrow(NodeExistsError);
    },
  );

  test('the plain operations say that they may have been done', async () => {
    const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
    const dropped = loseReplyTo(OpCode.create2);
    const lost = client.create('/plain');
    await expect(lost).rejects.toMatchObject({ name: 'ConnectionLossError', ambiguous: true });
    await dropped;
    await client.sync('/plain');
    expect(await client.exists('/plain')).not.toBeNull();
  });

  test('a set is seen to be done, and a delete to be ours', async () => {
    const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
    await client.create('/set', '0');
    for (const [index, version] of [0, -1].entries()) {
      const dropped = loseReplyTo(OpCode.setData);
      const stat = await idempotentSet(client, '/set', 'x', { version });
      await dropped;
      expect(stat.version).toBe(index + 1);
    }
    const dropped = loseReplyTo(OpCode.delete);
    expect(await idempotentDelete(client, '/set')).toBe(true);
    await dropped;
    expect(await idempotentDelete(client, '/set')).toBe(false);
  });

  test('a guaranteed deletion is done once, by whichever attempt', async () => {
    const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
    await client.create('/guaranteed');
    const dropped = loseReplyTo(OpCode.delete);
    await client.deleteGuaranteed('/guaranteed');
    await dropped;
    await client.sync('/guaranteed');
    expect(await client.exists('/guaranteed')).toBeNull();
  });
});

test(
  '20,000 znodes are deleted while others create among them',
  async () => {
    const client = await useDirectClient(ensemble());
    const others = [await useDirectClient(ensemble()), await useDirectClient(ensemble())];
    const branches = Array.from({ length: 100 }, (_, index) => `/tree/branch-${index}`);
    await ensurePath(client, '/tree/flat');
    await plant(client, branches);
    await plant(client, numbered('/tree/flat/n-', 10_000));
    await plant(
      client,
      branches.flatMap((branch) => numbered(`${branch}/n-`, 99)),
    );
    const creators = others.map((other, index) => createAmong(other, index, branches));
    expect(await deleteRecursive(client, '/tree')).toBe(true);
    const made = await Promise.all(creators);
    expect(made.every((count) => count > 0)).toBe(true);
    await Promise.all(others.map((other) => other.sync('/')));
    for (const other of others) expect(await other.exists('/tree')).toBeNull();
  },
  LARGE_TEST_DEADLINE_MS,
);

test(
  ROOKERY
    ? '100,000 names, more than fit in a frame, are listed in pages'
    : '20,000 names are listed at once, and the session keeps its connection',
  async () => {
    const count = ROOKERY ? 100_000 : 20_000;
    const client = await useDirectClient(ensemble());
    const states: string[] = [];
    onTestFinished(client.onState(({ state }) => states.push(state)));
    await client.create('/names');
    const paths = numbered('/names/name-', count);
    await plant(client, paths);
    const found: string[] = [];
    for await (const name of client.listChildren('/names')) found.push(`/names/${name}`);
    expect(found.length).toBe(count);
    expect(found.findIndex((path, index) => path !== paths[index])).toBe(-1);
    expect(states).toEqual([]);
    await deleteRecursive(client, '/names');
  },
  LARGE_TEST_DEADLINE_MS,
);

test(
  'guaranteed deletions are done over a lost connection and the death of the leader',
  async () => {
    const own = await useServingEnsemble({ settings: LONG_SESSIONS });
    const { client, ...cuttable } = await cuttableClient(own);
    const paths = numbered('/n-', 300);
    await plant(client, paths);
    const leader = await own.leader();
    const first = paths.slice(0, 100).map((path) => client.deleteGuaranteed(path));
    await cuttable.cut();
    const second = paths.slice(100, 200).map((path) => client.deleteGuaranteed(path));
    await cuttable.heal();
    const third = paths.slice(200).map((path) => client.deleteGuaranteed(path));
    await leader.kill();
    await Promise.all([...first, ...second, ...third]);
    await client.sync('/');
    const { children } = await client.getChildren('/');
    expect(children.filter((name) => name.startsWith('n-'))).toEqual([]);
  },
  LARGE_TEST_DEADLINE_MS,
);

test('a fenced transaction is refused once the lease is deleted, although its holder knows nothing', async () => {
  const client = await useDirectClient(ensemble());
  const other = await useDirectClient(ensemble());
  await ensurePath(client, '/fence/locks');
  const view = client.namespace('/fence');
  const lease = await takeLease(view, `/locks/${client.surroundings.uuid()}-`);
  const results = await view.fenced(lease, [{ kind: 'create', path: '/first' }]);
  expect(results).toMatchObject([{ kind: 'create', path: '/first' }]);
  const failed = view.fenced(lease, [
    { kind: 'create', path: '/second' },
    { kind: 'delete', path: '/none' },
  ]);
  await expect(failed).rejects.toMatchObject({ failedIndex: 1, error: { path: '/none' } });
  await other.delete(`/fence${lease.path}`);
  const refused = view.fenced(lease, [{ kind: 'create', path: '/second' }]);
  await expect(refused).rejects.toThrow(LeaseLostError);
  await expect(refused).rejects.toMatchObject({ lossCause: 'deleted' });
  await other.sync('/fence');
  expect(new Set((await other.getChildren('/fence')).children)).toEqual(
    new Set(['first', 'locks']),
  );
});

test('waits go on over a lost connection, and leave no watch', async () => {
  const { client, cut, heal } = await cuttableClient(ensemble());
  const other = await useDirectClient(ensemble());
  await client.create('/there', '0');
  const waits = [
    waitForExistence(client, '/comes'),
    waitForDeletion(client, '/there'),
    waitForData(client, '/comes', (node) => node?.data?.toString() === 'x'),
  ];
  await client.sync('/');
  await cut();
  await other.create('/comes');
  await other.setData('/comes', 'x');
  await other.delete('/there');
  await heal();
  await Promise.all(waits);
  expect(client.watchCount).toBe(0);
});

async function cuttableClient(of: Parameters<typeof CuttableClient.use>[0]) {
  const cuttable = await CuttableClient.use(of);
  return {
    client: cuttable.client,
    cut: () => cuttable.cut(),
    heal: () => cuttable.heal(),
  };
}

function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(8, '0')}`);
}

/** Over lost connections: a part that is there already was made by the lost attempt. */
async function plant(client: Client, paths: readonly string[]): Promise<void> {
  const policy = exponentialBackoff({ baseMs: 50, maxMs: 1_000, attemptsMax: 20 });
  for (let start = 0; start < paths.length; start += CREATES_PER_MULTI) {
    const part = paths.slice(start, start + CREATES_PER_MULTI);
    const ops = part.map((path) => ({ kind: 'create', path }) as const);
    await retry(
      client,
      policy,
      async (attempt) => {
        try {
          await client.multi(ops);
        } catch (error) {
          const isMade =
            error instanceof TransactionError && error.error instanceof NodeExistsError;
          if (attempt === 0 || !isMade) throw error;
        }
      },
      { idempotent: true },
    );
  }
}

/** Goes on until there is nothing left to create in; gives how many were created. */
async function createAmong(
  client: Client,
  index: number,
  branches: readonly string[],
): Promise<number> {
  let created = 0;
  let missing = 0;
  for (let round = 0; round < 400 && missing < 50; round++) {
    const parent = round % 2 === 0 ? '/tree/flat' : branches[(round * 7) % branches.length];
    try {
      await client.create(`${parent}/by-${index}-${round}`);
      created++;
    } catch (error) {
      if (error instanceof NoNodeError) missing++;
      else if (!(error instanceof KeeperError) || !error.retryable) throw error;
    }
  }
  return created;
}

/** A lease that hears of nothing: only the server can say that it is over. */
async function takeLease(client: Client, prefix: string): Promise<Lease> {
  const created = await client.create(prefix, null, { mode: 'ephemeralSequential' });
  const release = () => client.delete(created.path);
  return {
    path: created.path,
    sessionId: client.session?.id ?? 0n,
    fencingToken: created.stat.czxid,
    signal: new AbortController().signal,
    held: true,
    release,
    [Symbol.asyncDispose]: release,
  };
}
