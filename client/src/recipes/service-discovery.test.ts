import { NoAuthError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OptionError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import type { FakeServer } from '../testing/fake-server.js';
import { newWorld, until } from '../testing/lock-world.js';
import { ServiceDiscovery } from './service-discovery.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';
import { randomly, roundRobin, sticky } from './shared/provider-strategy.js';
import { decodeInstance, encodeInstance } from './shared/service-instance.js';
import { CorruptDataError } from './shared/value-errors.js';

const BASE = '/services';

function setUp() {
  const world = newWorld();
  const ofOne = new ServiceDiscovery(world.one, BASE);
  const ofOther = new ServiceDiscovery(world.other, BASE);
  return { ...world, ofOne, ofOther };
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

function idsOf(instances: readonly { readonly id: string }[]): string[] {
  return instances.map(({ id }) => id);
}

function put(server: FakeServer, path: string, data: string): void {
  server.create({ path, data, mode: 'persistent', acl: undefined, session: 0n });
}

/** As Curator's JsonInstanceSerializer writes it. */
const CURATORS =
  '{"name":"web","id":"i1","address":"10.0.0.1","port":80,"sslPort":null,' +
  '"payload":{"@class":"com.acme.Details","zone":"a"},"registrationTimeUTC":1700000000123,' +
  '"serviceType":"DYNAMIC","uriSpec":{"parts":[{"value":"scheme","variable":true},' +
  '{"value":"://","variable":false}]},"enabled":true}';

describe('the format of an instance', () => {
  it("is Curator's, byte by byte", () => {
    const instance = decodeInstance('/x', Buffer.from(CURATORS));
    expect(instance).toMatchObject({ name: 'web', id: 'i1', port: 80, sslPort: null });
    expect(instance.payload).toEqual({ '@class': 'com.acme.Details', zone: 'a' });
    expect(encodeInstance(instance).toString()).toBe(CURATORS);
  });

  it('tolerates what it does not know, and what older versions leave out', () => {
    const data = '{"name":"web","id":"i1","new":{"a":1},"serviceType":"LATER"}';
    expect(decodeInstance('/x', Buffer.from(data))).toEqual({
      name: 'web',
      id: 'i1',
      address: null,
      port: null,
      sslPort: null,
      payload: null,
      registrationTimeUTC: 0,
      serviceType: 'DYNAMIC',
      uriSpec: null,
      enabled: true,
    });
  });

  it.each(['', '[]', 'null', '{"name":"web"}', '{"name":"web","id":1}', '{"name":"a","id":"b"'])(
    'is not %j',
    (text) => {
      expect(() => decodeInstance('/x', Buffer.from(text))).toThrow(CorruptDataError);
    },
  );
});

describe('an instance', () => {
  it.each([
    { id: 'a/b' },
    { id: '' },
    { id: '..' },
    { id: 'a', name: 'w/eb' },
    { id: 'a', name: '' },
  ])('is refused where its znode would be another: %j', async (init) => {
    const { server, ofOne } = setUp();
    const registered = ofOne.register({ name: 'web', ...init });
    await expect(registered).rejects.toThrow(OptionError);
    await expect(registered).rejects.toThrow(/option (id|name) is ".*", which cannot be a name/);
    expect(server.paths()).toEqual([]);
  });

  it('is found beside a znode that is none, which is logged', async () => {
    const { server, surroundings, ofOne } = setUp();
    const warnings: string[] = [];
    const ignore = () => undefined;
    const warn = (message: unknown) => warnings.push(JSON.stringify(message));
    const logger = { debug: ignore, info: ignore, error: ignore, warn };
    const reader = new FakeClient(server, { surroundings, logger });
    await ofOne.register({ name: 'web', id: 'a' });
    put(server, `${BASE}/web/broken`, '{');
    put(server, `${BASE}/web/empty`, '');
    const seen = await new ServiceDiscovery(reader, BASE).instances('web');
    expect(idsOf(seen)).toEqual(['a']);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain(`${BASE}/web/broken`);
    // One that is asked for by its id is not hidden, but reported to the caller.
    await expect(ofOne.instance('web', 'broken')).rejects.toThrow(CorruptDataError);
  });

  it('is found while it is registered', async () => {
    const { server, one, ofOne, ofOther } = setUp();
    const instance = await ofOne.register({ name: 'web', id: 'a', address: 'h', port: 80 });
    expect(server.stat(`${BASE}/web/a`)?.ephemeralOwner).toBe(one.session?.id);
    expect(await ofOther.instances('web')).toEqual([instance]);
    expect(await ofOther.instance('web', 'a')).toEqual(instance);
    expect([await ofOther.names(), await ofOther.instance('web', 'b')]).toEqual([['web'], null]);
    await expect(ofOne.register({ name: 'web', id: 'a' })).rejects.toThrow(RecipeStateError);
    await ofOne.update({ ...instance, enabled: false });
    expect((await ofOther.instance('web', 'a'))?.enabled).toBe(false);
    await ofOne.unregister(instance);
    await ofOne.unregister(instance);
    expect([await ofOther.instances('web'), await ofOther.instances('x')]).toEqual([[], []]);
    await expect(ofOne.update(instance)).rejects.toThrow(RecipeStateError);
    expectNothingLeft(one);
  });

  it('that the server has refused may be registered again', async () => {
    const { one, ofOne } = setUp();
    one.failNext('create', new NoAuthError(BASE));
    await expect(ofOne.register({ name: 'web', id: 'a' })).rejects.toThrow(NoAuthError);
    await ofOne.register({ name: 'web', id: 'a' });
    expect(idsOf(await ofOne.instances('web'))).toEqual(['a']);
    await ofOne.close();
  });

  it('is not registered later when its registration has rejected', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    one.comesBack = false;
    one.loseConnection();
    for (const id of ['a', 'b', 'c']) {
      const failed = ofOne.register({ name: 'web', id }, { timeoutMs: 100 });
      surroundings.advance(100);
      await expect(failed).rejects.toThrow(WaitTimeoutError);
    }
    one.comesBack = true;
    one.comeBack();
    await surroundings.settle();
    await ofOne.register({ name: 'web', id: 'a' });
    await surroundings.settle();
    expect(server.children(`${BASE}/web`)).toEqual(['a']);
    await ofOne.close();
    expectNothingLeft(one);
  });

  it('whose creation was not answered in time is deleted', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    one.comesBack = false;
    one.failNext('create', 'reply-lost');
    const failed = ofOne.register({ name: 'web', id: 'a' }, { timeoutMs: 100 });
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    surroundings.advance(100);
    await expect(failed).rejects.toThrow(WaitTimeoutError);
    one.comesBack = true;
    one.comeBack();
    await ofOne.close();
    await surroundings.settle();
    expect(server.stat(`${BASE}/web/a`)).toBeNull();
    expectNothingLeft(one);
  });

  it('is registered anew in the next session', async () => {
    const { server, one, ofOne } = setUp();
    await ofOne.register({ name: 'web', id: 'a' });
    one.expire();
    expect(server.stat(`${BASE}/web/a`)).toBeNull();
    await until(() => server.stat(`${BASE}/web/a`)?.ephemeralOwner === one.session?.id);
    await ofOne.close();
    await ofOne.close();
    expect(server.children(`${BASE}/web`)).toEqual([]);
    await expect(ofOne.register({ name: 'web', id: 'b' })).rejects.toThrow(RecipeStateError);
    expectNothingLeft(one);
  });

  it('of each type goes when its type says so', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    const types = ['DYNAMIC', 'DYNAMIC_SEQUENTIAL', 'STATIC', 'PERMANENT'] as const;
    for (const serviceType of types)
      await ofOne.register({ name: 'web', id: serviceType, serviceType });
    const ids = idsOf(await ofOne.instances('web'));
    expect(ids).toEqual([...types].sort());
    await ofOne.close();
    expect(server.children(`${BASE}/web`)).toEqual(['PERMANENT']);
    const next = new ServiceDiscovery(one, BASE);
    const again = await next.register({ name: 'web', id: 'PERMANENT', serviceType: 'PERMANENT' });
    expect((await next.instance('web', 'PERMANENT'))?.registrationTimeUTC).toBe(
      again.registrationTimeUTC,
    );
    await next.unregister(again);
    await surroundings.settle();
    expect(server.children(`${BASE}/web`)).toEqual([]);
    expectNothingLeft(one);
  });
});

describe('a service cache', () => {
  it('follows the instances and leaves out what is none', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    await ofOne.register({ name: 'web', id: 'b' });
    put(server, `${BASE}/web/x`, 'no JSON');
    const cache = ofOther.cache('web');
    await cache.ready();
    expect(idsOf(cache.instances)).toEqual(['b']);
    const heard: string[][] = [];
    cache.listen((instances) => heard.push(idsOf(instances)));
    const first = await ofOne.register({ name: 'web', id: 'a' });
    await until(() => heard.length === 1);
    await ofOne.unregister(first);
    await until(() => heard.length === 2);
    expect(heard).toEqual([['a', 'b'], ['b']]);
    one.expire();
    await until(() => heard.length === 4);
    expect(heard.slice(2)).toEqual([[], ['b']]);
    await cache.close();
    await ofOne.close();
    expectNothingLeft(one, other);
  });
});

describe('what listens to a service cache', () => {
  it('is told once of all that stood there at the beginning', async () => {
    const { other, ofOne, ofOther } = setUp();
    for (const id of ['a', 'b', 'c']) await ofOne.register({ name: 'web', id });
    const cache = ofOther.cache('web');
    const heard: string[][] = [];
    cache.listen((instances) => heard.push(idsOf(instances)));
    await cache.ready();
    expect(heard).toEqual([['a', 'b', 'c']]);
    await cache.close();
    expectNothingLeft(other);
  });
});

describe('a provider', () => {
  async function withInstances(...ids: string[]) {
    const world = setUp();
    for (const id of ids) await world.ofOne.register({ name: 'web', id, enabled: id !== 'off' });
    return world;
  }

  it('gives the enabled instances round-robin, and null when there is none', async () => {
    const { other, ofOne, ofOther } = await withInstances('a', 'b', 'off');
    const provider = ofOther.provider('web');
    expect(provider.next()).toBeNull();
    await provider.ready();
    expect([1, 2, 3].map(() => provider.next()?.id)).toEqual(['a', 'b', 'a']);
    await ofOne.close();
    await until(() => provider.instances.length === 0);
    expect(provider.next()).toBeNull();
    await provider.close();
    expectNothingLeft(other);
  });

  it('leaves an instance out for a while after two errors', async () => {
    const { surroundings, ofOther } = await withInstances('a', 'b');
    const filter = ({ id }: { id: string }) => id !== 'b';
    const provider = ofOther.provider('web', { filter, strategy: randomly(() => 0.99) });
    await provider.ready();
    const [instance] = provider.instances;
    if (instance === undefined) throw new Error('there is an instance');
    provider.noteError(instance);
    expect(provider.next()?.id).toBe('a');
    provider.noteError(instance);
    expect(provider.next()).toBeNull();
    surroundings.advance(29_999);
    expect(provider.next()).toBeNull();
    surroundings.advance(1);
    expect(provider.next()?.id).toBe('a');
  });

  it('sticks to one as long as it is there', async () => {
    const { ofOne, ofOther } = await withInstances('a', 'b');
    const provider = ofOther.provider('web', { strategy: sticky(roundRobin()) });
    await provider.ready();
    expect([1, 2].map(() => provider.next()?.id)).toEqual(['a', 'a']);
    await ofOne.unregister({ name: 'web', id: 'a' });
    await until(() => provider.instances.length === 1);
    expect([1, 2].map(() => provider.next()?.id)).toEqual(['b', 'b']);
  });
});
