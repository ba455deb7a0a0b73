/**
 * Whoever consumes a queue is stopped neither by an entry that is poison nor by the loss of a
 * session: an entry is tried again with pauses, put aside in the end, also when its consumers die
 * of it; workers and loops go on in the next session.
 */
import { NoAuthError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { Client } from '../../api/client.js';
import { OptionError } from '../../api/errors.js';
import * as library from '../../index.js';
import type { FakeClient } from '../../testing/fake-client.js';
import { namesIn, newClient, newWorld, turns, until } from '../../testing/lock-world.js';

const PATH = '/q';
const DEAD = '/dead/q';
const LOCKED = { lockPath: '/q-locks' } as const;

interface Entry {
  readonly data: Buffer | null;
  readonly lease: library.Lease | null;
}

interface AnyQueue {
  consume(handle: (entry: Entry) => unknown, options?: library.ConsumeOptions): Promise<void>;
  entries(options?: { signal?: AbortSignal }): AsyncGenerator<Entry, void>;
  poll(): Promise<Entry | null>;
}

interface Row {
  readonly isLocked: boolean;
  readonly directory: string;
  at(client: Client, path: string): AnyQueue & { add(text: string): Promise<void> };
}

const withAdd = <Q extends AnyQueue>(queue: Q, add: (text: string) => Promise<void>) =>
  Object.assign(queue, { add });

const ROWS: Record<string, Row> = {
  'a Queue without locks': {
    isLocked: false,
    directory: PATH,
    at: (client, path) => {
      const queue = new library.Queue(client, path);
      return withAdd(queue, (text) => queue.put(text));
    },
  },
  'a Queue': {
    isLocked: true,
    directory: PATH,
    at: (client, path) => {
      const queue = new library.Queue(client, path, LOCKED);
      return withAdd(queue, (text) => queue.put(text));
    },
  },
  'a PriorityQueue': {
    isLocked: true,
    directory: PATH,
    at: (client, path) => {
      const queue = new library.PriorityQueue(client, path, LOCKED);
      return withAdd(queue, (text) => queue.put(text, { priority: 3 }));
    },
  },
  'a LockingQueue': {
    isLocked: true,
    directory: `${PATH}/entries`,
    at: (client, path) => {
      const queue = new library.LockingQueue(client, path);
      return withAdd(queue, (text) => queue.put(text));
    },
  },
  'an IdempotentQueue': {
    isLocked: true,
    directory: `${PATH}/items`,
    at: (client, path) => {
      const queue = new library.IdempotentQueue(client, path);
      return withAdd(queue, (text) => queue.enqueue(text, text));
    },
  },
};
const LOCKED_ROWS = Object.entries(ROWS).filter(([, { isLocked }]) => isLocked);

/** Curator's queues frame their items. */
const isOf = ({ data }: Entry, text: string) => data?.includes(text) === true;
const attempts = { deadLetterPath: DEAD, max: 3, backoff: () => 1_000 } as const;

function consuming(queue: AnyQueue, handle: (entry: Entry) => unknown, options = {}) {
  const stop = new AbortController();
  const ended = queue.consume(handle, { ...options, signal: stop.signal });
  ended.catch(() => {});
  const end = () => {
    stop.abort();
    return ended;
  };
  return { end, ended };
}

async function expectDead(row: Row, client: Client, text: string): Promise<void> {
  const dead = await row.at(client, DEAD).poll();
  expect(dead === null ? null : isOf(dead, text)).toBe(true);
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
}

describe.each(Object.entries(ROWS))('poison in %s', (_, row) => {
  it('is tried so often, with pauses, and is then moved out of the way', async () => {
    const { server, surroundings, one } = newWorld();
    const queue = row.at(one, PATH);
    await queue.add('poison');
    await queue.add('good');
    const seen: string[] = [];
    const { end } = consuming(
      queue,
      (entry) => {
        const isPoison = isOf(entry, 'poison');
        seen.push(isPoison ? 'poison' : 'good');
        if (isPoison) throw new Error('no');
      },
      { attempts },
    );
    for (let attempt = 1; attempt < 3; attempt++) {
      await until(() => seen.length === attempt);
      await turns(20);
      surroundings.advance(999);
      await turns(20);
      expect(seen).toHaveLength(attempt);
      surroundings.advance(1);
    }
    await until(() => seen.includes('good'));
    await turns(10);
    expect(seen).toEqual(['poison', 'poison', 'poison', 'good']);
    expect(namesIn(server, row.directory)).toEqual([]);
    await end();
    await expectDead(row, one, 'poison');
  });
});

describe.each(LOCKED_ROWS)('poison in %s', (_, row) => {
  it('that its consumers die of is moved out of the way all the same', async () => {
    const { server, surroundings, one } = newWorld();
    await row.at(one, PATH).add('poison');
    let calls = 0;
    for (let life = 1; life <= 3; life++) {
      const client = newClient(server, surroundings);
      const { ended } = consuming(
        row.at(client, PATH),
        () => {
          calls += 1;
          return new Promise(() => {});
        },
        { attempts },
      );
      await until(() => calls === life);
      void ended;
      await client.close();
    }
    const handle = () => {
      calls += 1;
    };
    const { end } = consuming(row.at(one, PATH), handle, { attempts });
    await until(() => namesIn(server, row.directory).length === 0);
    await end();
    expect(calls).toBe(3);
    await expectDead(row, one, 'poison');
  });

  it('is given back at once when consuming ends during the pause', async () => {
    const { server, surroundings, one, other } = newWorld();
    await row.at(one, PATH).add('poison');
    let calls = 0;
    const failing = () => {
      calls += 1;
      throw new Error('no');
    };
    const { end } = consuming(row.at(one, PATH), failing, { attempts });
    await until(() => calls === 1);
    await turns(10);
    await end();
    expect(surroundings.timerCount).toBe(0);
    expectNothingLeft(one);
    expect(await row.at(other, PATH).poll()).not.toBeNull();
    expect(namesIn(server, row.directory)).toHaveLength(1);
  });

  it('counts an attempt once although the reply was lost, and one with new data', async () => {
    const { surroundings, server, one, other } = newWorld();
    await row.at(one, PATH).add('old');
    let calls = 0;
    const seen: string[] = [];
    const { end } = consuming(
      row.at(one, PATH),
      (entry) => {
        seen.push(String(entry.data));
        calls += 1;
        throw new Error('no');
      },
      { attempts: { ...attempts, max: 4 } },
    );
    await until(() => calls === 1);
    await turns(10);
    one.failNext('multi', 'reply-lost');
    surroundings.advance(1_000);
    await until(() => calls === 2);
    const [name] = namesIn(server, row.directory);
    expect(server.stat(`${row.directory}/${name}`)?.version).toBe(2);
    await turns(10);
    await other.setData(`${row.directory}/${name}`, 'new');
    surroundings.advance(1_000);
    await until(() => calls === 3);
    expect(seen.at(-1)).toBe('new');
    await end();
  });
});

describe.each(LOCKED_ROWS)('a lost session of a consumer of %s', (_, row) => {
  it('ends neither the consuming nor a loop', async () => {
    const { server, one, other } = newWorld();
    const queue = row.at(one, PATH);
    const seen: boolean[] = [];
    const { end } = consuming(queue, (entry) => seen.push(isOf(entry, 'a')));
    await until(() => one.watchCount > 0);
    one.expire();
    await row.at(other, PATH).add('a');
    await until(() => seen.length === 1);
    await end();
    const stop = new AbortController();
    const loop = row.at(one, PATH).entries({ signal: stop.signal });
    const next = loop.next();
    await turns(20);
    one.expire();
    await row.at(other, PATH).add('b');
    expect((await next).done).toBe(false);
    await loop.return();
    expect(namesIn(server, row.directory)).toHaveLength(1);
    expectNothingLeft(one);
  });

  it('gives what the function had to somebody else, whatever the function makes of it', async () => {
    const { one } = newWorld();
    const queue = row.at(one, PATH);
    await queue.add('a');
    let calls = 0;
    const { end } = consuming(queue, async ({ lease }) => {
      calls += 1;
      if (calls > 1) return;
      one.expire();
      lease?.signal.throwIfAborted();
    });
    await until(() => calls === 2);
    await end();
    expect(await queue.poll()).toBeNull();
  });
});

it('ends with the session where that is asked for', async () => {
  const { one } = newWorld();
  const queue = new library.Queue(one, PATH, { ...LOCKED, onSessionLost: 'fail' });
  const { ended } = consuming(queue, () => {});
  await until(() => one.watchCount > 0);
  one.expire();
  await expect(ended).rejects.toThrow(SessionExpiredError);
});

it('gives an entry back that it may not remove', async () => {
  const { server, one } = newWorld();
  const queue = new library.Queue(one, PATH, LOCKED);
  await queue.put('x');
  const { ended } = consuming(queue, () => one.failNext('multi', new NoAuthError(PATH)));
  await expect(ended).rejects.toThrow(NoAuthError);
  expect(namesIn(server, LOCKED.lockPath)).toEqual([]);
  expectNothingLeft(one);
});

it.each([
  { attempts: {} },
  { attempts: { ...attempts, max: 0 } },
  { attempts: { ...attempts, maxAttempts: 3 } },
  { attempts, onError: 'drop' },
  { onErr: 'drop' },
  { timeout: 5 },
])('refuses %j', async (options) => {
  const consumed = new library.Queue(newWorld().one, PATH).consume(() => {}, options as object);
  await expect(consumed).rejects.toThrow(OptionError);
});
