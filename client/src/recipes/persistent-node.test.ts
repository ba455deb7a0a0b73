import { NoAuthError, OperationTimeoutError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import { PersistentNode, type PersistentNodeOptions } from './persistent-node.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';

const PATH = '/nodes/a';

function setUp(options: PersistentNodeOptions = {}) {
  const world = newWorld();
  return { ...world, node: new PersistentNode(world.one, PATH, { data: 'x', ...options }) };
}

function expectNothingLeft(client: FakeClient): void {
  expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
}

function newLog() {
  const lines: object[] = [];
  const ignore = () => undefined;
  const warn = (fields: object, message: string) => lines.push({ ...fields, message });
  return { lines, logger: { debug: ignore, info: ignore, error: ignore, warn } };
}

describe('a persistent node', () => {
  it.each(['ephemeral', 'persistent', 'container'] as const)(
    '%s stands until closed',
    async (mode) => {
      const { server, one, node } = setUp({ mode });
      expect(await node.whenStanding()).toBe(PATH);
      expect(node.isStanding).toBe(true);
      expect(server.read(PATH).data?.toString()).toBe('x');
      const owner = mode === 'ephemeral' ? one.session?.id : 0n;
      expect(server.stat(PATH)?.ephemeralOwner).toBe(owner);
      await node.close();
      await node.close();
      expect(server.stat(PATH)).toBeNull();
      await expect(node.whenStanding()).rejects.toThrow(RecipeStateError);
      expectNothingLeft(one);
    },
  );

  it('in a sequential mode keeps the name that it was given first', async () => {
    const { server, one, node } = setUp({ mode: 'ephemeralSequential' });
    one.failNext('create', 'reply-lost');
    const path = await node.whenStanding();
    expect(path).toMatch(/^\/nodes\/_c_[0-9a-f-]{36}-a\d{10}$/);
    server.delete(path);
    await until(() => server.stat(path) !== null);
    one.expire();
    expect(await node.whenStanding()).toBe(path);
    expect(server.stat(path)?.ephemeralOwner).toBe(one.session?.id);
    expect(namesIn(server, '/nodes')).toHaveLength(1);
    await node.close();
    expect(namesIn(server, '/nodes')).toEqual([]);
    expectNothingLeft(one);
  });

  it('does not stand in the very moment in which its session is told lost', async () => {
    const { one, node } = setUp();
    await node.whenStanding();
    const told: boolean[] = [];
    const stop = one.onState(({ state }) => {
      if (state === 'lost') told.push(node.isStanding);
    });
    one.loseSession();
    expect([told, node.isStanding]).toEqual([[false], false]);
    stop();
    await node.close();
    expectNothingLeft(one);
  });

  it('is made anew when it, or its parent, is deleted, and when the session is lost', async () => {
    const { server, one, node } = setUp();
    await node.whenStanding();
    server.delete(PATH);
    await until(() => !node.isStanding);
    await node.whenStanding();
    server.delete(PATH);
    server.delete('/nodes');
    await until(() => server.stat(PATH) !== null);
    one.expire();
    expect(node.isStanding).toBe(false);
    await node.whenStanding();
    expect(server.stat(PATH)?.ephemeralOwner).toBe(one.session?.id);
    await node.close();
    expectNothingLeft(one);
  });

  it('is made anew when it was deleted while the connection was away', async () => {
    const { server, one, node } = setUp();
    await node.whenStanding();
    one.comesBack = false;
    one.loseConnection();
    server.delete(PATH);
    one.comeBack();
    await until(() => server.stat(PATH) !== null);
    await node.close();
  });

  it('gets the data that was set last, also while it was away', async () => {
    const { server, one, node } = setUp();
    await node.whenStanding();
    await node.setData('y');
    expect(server.read(PATH).data?.toString()).toBe('y');
    one.comesBack = false;
    one.loseConnection();
    const set = [node.setData('z'), node.setData('zz')];
    await turns(5);
    server.delete(PATH);
    one.comeBack();
    await Promise.all(set);
    expect(server.read(PATH).data?.toString()).toBe('zz');
    server.setData(PATH, 'by another');
    await turns(20);
    expect(server.read(PATH).data?.toString()).toBe('by another');
    server.delete(PATH);
    await until(() => server.stat(PATH) !== null);
    expect(server.read(PATH).data?.toString()).toBe('zz');
  });

  it('of another session is left alone; ours is made when that is gone', async () => {
    const { server, one, other, node } = setUp();
    await other.create('/nodes');
    await other.create(PATH, 'theirs', { mode: 'ephemeral' });
    const standing = node.whenStanding();
    await turns(30);
    expect(node.isStanding).toBe(false);
    await node.setData('y', { timeoutMs: 1, signal: AbortSignal.abort() }).catch(() => {});
    expect(server.read(PATH).data?.toString()).toBe('theirs');
    other.expire();
    await standing;
    expect(server.read(PATH).data?.toString()).toBe('y');
    const earlier = one.session?.id ?? 0n;
    one.loseSession();
    await turns(50);
    expect(server.stat(PATH)?.ephemeralOwner).toBe(earlier);
    server.endSession(earlier);
    await node.whenStanding();
    expect(server.stat(PATH)?.ephemeralOwner).toBe(one.session?.id);
  });

  it('logs once for each znode that keeps it away, unless it knows it as its own', async () => {
    const { lines, logger } = newLog();
    const { server, surroundings, other } = newWorld();
    const one = new FakeClient(server, { surroundings, logger });
    await other.create('/nodes');
    await other.create(PATH, 'theirs', { mode: 'ephemeral' });
    const node = new PersistentNode(one, PATH);
    node.start();
    await until(() => lines.length > 0);
    server.setData(PATH, 'changed');
    await turns(50);
    const owner = `0x${other.session?.id.toString(16)}`;
    const text = `belongs to session ${owner}; this client's znode waits until it is gone`;
    const event = 'node.occupied';
    expect(lines).toEqual([
      expect.objectContaining({
        event,
        path: PATH,
        owner,
        message: `the znode at ${PATH} ${text}`,
      }),
    ]);
    other.expire();
    await node.whenStanding();
    const mine = one.session?.id ?? 0n;
    one.loseSession();
    await turns(50);
    expect(server.stat(PATH)?.ephemeralOwner).toBe(mine);
    expect(lines).toHaveLength(1);
    server.endSession(mine);
    await node.whenStanding();
    await node.close();
  });

  it('logs of a container that keeps it away that it is not ephemeral', async () => {
    const { lines, logger } = newLog();
    const { server, surroundings, other } = newWorld();
    const one = new FakeClient(server, { surroundings, logger });
    await other.create('/nodes');
    await other.create(PATH, 'theirs', { mode: 'container' });
    const node = new PersistentNode(one, PATH);
    node.start();
    await until(() => lines.length > 0);
    const text = "is not ephemeral; this client's znode waits until it is gone";
    expect(lines).toEqual([
      expect.objectContaining({ path: PATH, message: `the znode at ${PATH} ${text}` }),
    ]);
    expect(lines[0]).not.toHaveProperty('owner');
    await node.close();
  });

  it('a persistent one that stands already gets our data', async () => {
    const { server, other, node } = setUp({ mode: 'persistent' });
    await other.create('/nodes');
    await other.create(PATH, 'old');
    await node.whenStanding();
    expect(server.read(PATH).data?.toString()).toBe('x');
  });

  it('is over when the server refuses it, and says so to all', async () => {
    const { one, node } = setUp();
    one.failNext('create', new NoAuthError(PATH));
    await expect(node.whenStanding()).rejects.toThrow(NoAuthError);
    expect(node.failure).toBeInstanceOf(NoAuthError);
    await expect(node.setData('y')).rejects.toThrow(NoAuthError);
    await node.close();
    expectNothingLeft(one);
  });

  it('goes on when a wait for it ends', async () => {
    const { surroundings, one, node } = setUp();
    one.comesBack = false;
    one.loseConnection();
    const late = node.whenStanding({ timeoutMs: 100 });
    const controller = new AbortController();
    const aborted = node.whenStanding({ signal: controller.signal });
    surroundings.advance(100);
    await expect(late).rejects.toThrow(WaitTimeoutError);
    controller.abort();
    await expect(aborted).rejects.toThrow(OperationAbortedError);
    one.comeBack();
    await node.whenStanding();
  });

  it('closed at any moment leaves nothing', async () => {
    for (const mode of ['ephemeral', 'ephemeralSequential', 'persistent'] as const) {
      for (const fault of [null, 'reply-lost', 'request-lost'] as const) {
        for (let pauseTurns = 0; pauseTurns < 12; pauseTurns++) {
          const { server, surroundings, one, node } = setUp({ mode });
          if (fault !== null) one.failNext('create', fault, 2);
          node.start();
          await turns(pauseTurns);
          await node.close();
          await surroundings.settle();
          expect(namesIn(server, '/nodes')).toEqual([]);
          expectNothingLeft(one);
        }
      }
    }
  });

  it('closed without a connection is deleted when there is one again', async () => {
    const { server, surroundings, one, node } = setUp({ mode: 'persistent' });
    await node.whenStanding();
    one.comesBack = false;
    one.loseConnection();
    await node.close();
    expect(server.stat(PATH)).not.toBeNull();
    one.comeBack();
    await surroundings.settle();
    expect(server.stat(PATH)).toBeNull();
    expectNothingLeft(one);
  });

  it('ends with its client', async () => {
    const { one, node } = setUp();
    await node.whenStanding();
    const set = node.setData('y');
    await one.close();
    await expect(set).rejects.toThrow(ClientClosedError);
    await node.close();
    expectNothingLeft(one);
  });

  it('waits out an operation that timed out', async () => {
    const { surroundings, one, node } = setUp();
    one.failNext('create', new OperationTimeoutError(PATH));
    const standing = node.whenStanding();
    await surroundings.settle();
    await standing;
  });
});

describe('a persistent node under random faults', () => {
  it.each(seeds(20))('stands in the end, with what was set last (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const mode = random() < 0.7 ? 'ephemeral' : 'persistent';
    const { server, surroundings, one, node } = setUp({ mode });
    let isDone = false;
    const writer = async () => {
      for (let round = 0; round < 20; round++) {
        await node.setData(String(round));
        await turns(Math.floor(random() * 10));
      }
      isDone = true;
    };
    await runToEnd([writer()], {
      surroundings,
      random,
      faultySteps: 400,
      check: () => {},
      fault: () => {
        if (random() < 0.2 && server.stat(PATH) !== null) server.delete(PATH);
        else strike({ server, client: one, random });
      },
    });
    await surroundings.settle();
    expect([isDone, node.isStanding]).toEqual([true, true]);
    expect(server.read(PATH).data?.toString()).toBe('19');
    // Faults that were planned and have not struck yet strike the close.
    await node.close();
    await surroundings.settle();
    expect(namesIn(server, '/nodes')).toEqual([]);
    expectNothingLeft(one);
    expect(surroundings.timerCount).toBe(0);
  });
});
