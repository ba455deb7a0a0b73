/**
 * Contenders by themselves: whose znode is adopted after a lost reply, what becomes of the rest.
 * The same plan is carried out twice here, as no recipe does, so that names do meet.
 */
import { describe, expect, it } from 'vitest';
import type { FakeClient } from '../../testing/fake-client.js';
import { namesIn, newWorld, until } from '../../testing/lock-world.js';
import { type ContenderPlan, createContender, deleteContender } from './contender.js';

const PLAN: ContenderPlan = { parent: '/line', prefix: '_c_guid-lock-', data: null };

function within(client: FakeClient) {
  const { session } = client;
  if (session === null) throw new Error('there is no session');
  return { session, signal: new AbortController().signal };
}

async function newLine() {
  const world = newWorld();
  await world.other.create(PLAN.parent);
  return world;
}

describe('a create whose reply is lost', () => {
  it('is found by its GUID', async () => {
    const { server, one } = await newLine();
    one.failNext('create', 'reply-lost');
    const contender = await createContender(one, PLAN, within(one));
    expect(namesIn(server, PLAN.parent)).toEqual([contender.name]);
    expect(server.stat(contender.path)?.czxid).toBe(contender.czxid);
  });

  it('CURATOR-498: is not found in the znode of another session', async () => {
    const { server, one, other } = await newLine();
    const foreign = await createContender(other, PLAN, within(other));
    one.failNext('create', 'request-lost');
    const contender = await createContender(one, PLAN, within(one));
    expect(contender.path).not.toBe(foreign.path);
    expect(server.stat(contender.path)?.ephemeralOwner).toBe(one.session?.id);
    expect(namesIn(server, PLAN.parent)).toHaveLength(2);
  });

  it('leaves one znode where it has made several', async () => {
    const { server, one } = await newLine();
    const first = await createContender(one, PLAN, within(one));
    one.failNext('create', 'reply-lost');
    const contender = await createContender(one, PLAN, within(one));
    expect(contender.path).toBe(first.path);
    await until(() => namesIn(server, PLAN.parent).length === 1);
    expect(server.stat(contender.path)?.czxid).toBe(first.czxid);
  });

  it('asks the leader before it says that there is none', async () => {
    const { one } = await newLine();
    one.failNext('create', 'request-lost');
    await createContender(one, PLAN, within(one));
    const ops = one.sent.map(({ op }) => op).filter((op) => op !== 'connected');
    expect(ops).toEqual(['create', 'sync', 'getChildren', 'create']);
  });
});

describe('a znode with a name that others use', () => {
  const plan: ContenderPlan = {
    parent: '/line',
    prefix: 'lock',
    mode: 'ephemeral',
    token: 'guid-1',
    data: 'guid-1 mine',
  };

  it('is found by the GUID in its data, and not in names that only begin like it', async () => {
    const { one, other } = await newLine();
    await other.create('/line/locksmith', 'guid-1', { mode: 'ephemeral' });
    one.failNext('create', 'reply-lost');
    const contender = await createContender(one, plan, within(one));
    expect(contender.name).toBe('lock');
  });

  it('is deleted only if it is still the same', async () => {
    const { server, one, other } = await newLine();
    const contender = await createContender(one, plan, within(one));
    server.delete(contender.path);
    const next = await other.create(contender.path, 'guid-2', { mode: 'ephemeral' });
    await deleteContender(one, contender);
    expect(server.stat(contender.path)?.czxid).toBe(next.stat.czxid);
  });
});
