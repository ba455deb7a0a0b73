import { BadArgumentsError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { newWorld } from '../testing/lock-world.js';
import { NameService } from './name-service.js';

const BASE = '/names';

function setUp() {
  const world = newWorld();
  const ofOne = new NameService(world.one, BASE);
  const ofOther = new NameService(world.other, BASE);
  return { ...world, ofOne, ofOther };
}

describe('a name', () => {
  it('leads to its address until it is unregistered, whoever has gone', async () => {
    const { server, one, other, ofOne, ofOther } = setUp();
    await ofOne.register('db/orders/primary', '10.0.0.1:5432');
    await one.close();
    expect((await ofOther.lookup('db/orders/primary'))?.toString()).toBe('10.0.0.1:5432');
    await ofOther.register('db/orders/primary', '10.0.0.2:5432');
    expect((await ofOther.lookup('db/orders/primary'))?.toString()).toBe('10.0.0.2:5432');
    await ofOther.unregister('db/orders/primary');
    await ofOther.unregister('db/orders/primary');
    expect(await ofOther.lookup('db/orders/primary')).toBeNull();
    expect(server.paths()).toEqual(['/names', '/names/db', '/names/db/orders']);
    expect(other.listenerCount).toBe(0);
  });

  it('may have names below it, which outlive its address', async () => {
    const { ofOne } = setUp();
    await ofOne.register('db', 'one');
    await ofOne.register('db/b', 'two');
    await ofOne.register('db/a', 'three');
    await ofOne.unregister('db');
    expect([await ofOne.lookup('db'), await ofOne.list('db')]).toEqual([null, ['a', 'b']]);
    expect([await ofOne.list(), await ofOne.list('none')]).toEqual([['db'], []]);
  });

  it.each(['', '/', 'a//b', 'a/../b', '/a', 'a/'])('is not %j', async (name) => {
    const { ofOne } = setUp();
    await expect(ofOne.lookup(name)).rejects.toThrow(BadArgumentsError);
  });

  it.each(['reply-lost', 'request-lost'] as const)('is registered though a %s', async (fault) => {
    const { one, surroundings, ofOne } = setUp();
    one.failNext('create', fault);
    one.failNext('setData', fault);
    const registered = ofOne.register('a/b', 'one');
    await surroundings.settle();
    await registered;
    expect((await ofOne.lookup('a/b'))?.toString()).toBe('one');
  });

  it('can be followed, over sessions, each address once', async () => {
    const { one, ofOne, ofOther } = setUp();
    const addresses = ofOne.follow('a');
    const next = async () => (await addresses.next()).value?.toString();
    expect(await next()).toBeUndefined();
    await ofOther.register('a', 'one');
    expect(await next()).toBe('one');
    one.expire();
    await ofOther.register('a', 'two');
    expect(await next()).toBe('two');
    await ofOther.unregister('a');
    expect(await next()).toBeUndefined();
    await addresses.return();
    expect([one.watchCount, one.listenerCount]).toEqual([0, 0]);
  });
});
