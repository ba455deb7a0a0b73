import { UnimplementedError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { TtlNode } from './ttl-node.js';

const PATH = '/nodes/ttl';
const TOUCH = `${PATH}/touch`;

function setUp() {
  const world = newWorld();
  const options = { ttlMs: 1_000, data: 'x' };
  return {
    ...world,
    ofOne: new TtlNode(world.one, PATH, options),
    ofOther: new TtlNode(world.other, PATH, options),
  };
}

describe('a TTL node', () => {
  it('is touched every half of its time, and no more once it is closed', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    expect(await ofOne.whenStanding()).toBe(PATH);
    expect(server.read(PATH).data?.toString()).toBe('x');
    const created = one.sent.filter(({ op, path }) => op === 'create' && path === TOUCH);
    expect(created.length).toBeGreaterThan(0);
    for (let version = 1; version < 5; version++) {
      surroundings.advance(499);
      await turns(5);
      expect(server.stat(TOUCH)?.version).toBe(version - 1);
      surroundings.advance(1);
      await until(() => server.stat(TOUCH)?.version === version);
      await turns(5);
    }
    await ofOne.close();
    await ofOne.close();
    expect(surroundings.timerCount).toBe(0);
    expect(namesIn(server, PATH)).toEqual(['touch']);
    expect([one.watchCount, one.listenerCount]).toEqual([0, 0]);
  });

  it('is made anew, child and all, when its time was up while the connection was away', async () => {
    const { server, surroundings, one, ofOne } = setUp();
    await ofOne.whenStanding();
    one.comesBack = false;
    one.loseConnection();
    server.delete(TOUCH);
    server.delete(PATH);
    one.comeBack();
    await until(() => server.stat(PATH) !== null);
    surroundings.advance(500);
    await until(() => server.stat(TOUCH) !== null);
    await turns(5);
    // A new session touches it at once.
    one.comesBack = true;
    one.expire();
    await until(() => server.stat(TOUCH)?.version === 1);
    await ofOne.close();
  });

  it('may be kept by several', async () => {
    const { server, surroundings, ofOne, ofOther } = setUp();
    await Promise.all([ofOne.whenStanding(), ofOther.whenStanding()]);
    const version = server.stat(TOUCH)?.version ?? 0;
    await ofOne.close();
    surroundings.advance(500);
    await until(() => server.stat(TOUCH)?.version === version + 1);
    await ofOther.delete();
    expect(server.stat(PATH)).toBeNull();
  });

  it('says when the server knows no TTL', async () => {
    const { server, one, ofOne } = setUp();
    server.create({ path: '/nodes', data: null, mode: 'persistent', acl: undefined, session: 0n });
    server.create({ path: PATH, data: null, mode: 'persistent', acl: undefined, session: 0n });
    one.failNext('create', new UnimplementedError(TOUCH));
    await expect(ofOne.whenStanding()).rejects.toThrow(UnimplementedError);
    expect(ofOne.failure).toBeInstanceOf(UnimplementedError);
    await ofOne.close();
    expect([one.watchCount, one.listenerCount]).toEqual([0, 0]);
  });
});
