/**
 * Node and Python on the same paths: our lock, counters and locking queue against those of kazoo,
 * as Debian ships it.
 *
 * A lock is shared with kazoo by kazoo's names, which is our option, or by Curator's, which is an
 * option of kazoo's. Who must wait is in line before anything else happens. Sessions of either side
 * are ended behind its back. kazoo is driven line by line, see foreign/kazoo/mixed_driver.py.
 */
import {
  AtomicLong,
  type Client,
  CorruptDataError,
  LeaseLostError,
  Lock,
  LockingQueue,
  type LockOptions,
  LockTimeoutError,
  ReadWriteLock,
} from '@rookery/client';
import { describe, expect, test } from 'vitest';
import { mayLackKazoo, PYTHON } from '../../harness/foreign.js';
import { LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import {
  countUp,
  endSession,
  entering,
  foreignEntering,
  inOrder,
  overOf,
  sessionOf,
  sharedDriver,
} from '../mixed.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const PROGRAM = new URL('../../foreign/kazoo/mixed_driver.py', import.meta.url).pathname;
/** How long somebody tries who cannot be let in, however long it takes. */
const REFUSED_MS = 100;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });
const driver = sharedDriver(ensemble, async () => ({ file: PYTHON, args: ['-B', PROGRAM] }));

const node = () => useDirectClient(ensemble());
const python = () => driver().actor();

interface Naming {
  readonly name: string;
  readonly options: LockOptions;
  /** What kazoo is to look for besides its own names. */
  readonly pattern: string;
}

const NAMINGS: readonly Naming[] = [
  { name: "kazoo's", options: { naming: 'kazoo' }, pattern: '' },
  { name: "Curator's", options: {}, pattern: 'lock-' },
];

describe.skipIf(await mayLackKazoo())('Node and kazoo', () => {
  describe.each(NAMINGS)('with $name names for our locks', ({ name, options, pattern }) => {
    const base = `/mixed/lock-${name.toLowerCase().replace("'s", '')}`;
    const lockOf = (client: Client, path: string) => new Lock(client, path, options);

    test('lock: one of either language at a time, in the order of asking', async () => {
      const path = `${base}/order`;
      const control = await node();
      await inOrder(control, path, {
        python: foreignEntering(python(), 'lock', path, pattern),
        node: entering(() => lockOf(control, path).acquire()),
        'python again': foreignEntering(python(), 'lock', path, pattern),
        'node again': entering(() => lockOf(control, path).acquire()),
      });
    });

    test('lock: who only tries is refused while the other holds, and leaves the line', async () => {
      const path = `${base}/refused`;
      const client = await node();
      const lock = new Lock(client, path, { ...options, data: 'node' });
      const actor = python();
      const lease = await lock.acquire();
      expect(await actor.call('lock.acquire', path, pattern, REFUSED_MS)).toEqual(['false']);
      expect(await actor.call('lock.try', path, pattern)).toEqual(['false']);
      expect(await actor.call('lock.contenders', path, pattern)).toEqual(['node']);
      await untilNames(client, path, 1);
      await lease.release();
      expect(await actor.call('lock.try', path, pattern)).toEqual(['true']);
      expect(await lock.tryAcquire()).toBeNull();
      await expect(lock.acquire({ timeoutMs: REFUSED_MS })).rejects.toThrow(LockTimeoutError);
      // What was on its way to the server when the time was up is deleted in the background.
      await untilNames(client, path, 1);
      expect(await lock.contestants()).toHaveLength(1);
      await actor.call('lock.release', path);
    });

    test('lock: nothing is lost of what both count under it in three steps', async () => {
      const [path, counter] = [`${base}/count`, `${base}-counted`];
      const rounds = 15;
      const clients = await Promise.all([node(), node()]);
      await clients[0].create(counter, '0');
      const counting = clients.map(async (client) => {
        const lock = lockOf(client, path);
        for (let i = 0; i < rounds; i++) await lock.run(() => countUp(client, counter));
      });
      const actors = [python(), python()];
      const all = [
        ...counting,
        ...actors.map((actor) => actor.call('count', path, pattern, counter, rounds)),
      ];
      await Promise.all(all);
      await clients[0].sync(counter);
      const { data } = await clients[0].getData(counter);
      expect(Number(data?.toString())).toBe(rounds * all.length);
    });

    test('lock: the session of a holder ends and the other language gets in', async () => {
      const path = `${base}/ended`;
      const control = await node();
      const doomed = await node();
      const [first, second] = [python(), python()];
      await first.call('lock.acquire', path, pattern);
      const waiting = lockOf(doomed, path).acquire();
      await untilNames(control, path, 2);
      await endSession(ensemble(), await sessionOf(first));
      const lease = await waiting;
      const next = second.call('lock.acquire', path, pattern);
      await untilNames(control, path, 2);
      await endSession(ensemble(), await doomed.connected());
      await next;
      await overOf(lease);
      expect(await namesIn(control, path)).toHaveLength(1);
      await second.call('lock.release', path);
    });
  });

  test('read/write lock: readers of both share, a writer of either keeps all others out', async () => {
    const path = '/mixed/rw-kazoo';
    const client = await node();
    const lock = new ReadWriteLock(client, path, { naming: 'kazoo' });
    const [reader, writer] = [python(), python()];
    const read = await lock.read.acquire();
    await reader.call('read.acquire', path);
    expect(await writer.call('write.acquire', path, '', REFUSED_MS)).toEqual(['false']);
    await expect(lock.write.acquire({ timeoutMs: REFUSED_MS })).rejects.toThrow(LockTimeoutError);
    await Promise.all([read.release(), reader.call('read.release', path)]);
    await untilNames(client, path, 0);
    await inOrder(client, path, {
      python: foreignEntering(writer, 'write', path),
      'node reads': entering(() => lock.read.acquire()),
    });
    await inOrder(client, path, {
      node: entering(() => lock.write.acquire()),
      'python reads': foreignEntering(reader, 'read', path),
    });
  });

  const forms = [
    { form: 'text', format: 'text', bytes: Buffer.from('-3') },
    { form: 'curator', format: 'int32', bytes: Buffer.from([0xff, 0xff, 0xff, 0xfd]) },
  ] as const;
  describe.each(forms)('counter as $form', ({ form, format, bytes }) => {
    test('each reads and changes what the other has written', async () => {
      const path = `/mixed/counter-${form}/format`;
      const client = await node();
      const number = new AtomicLong(client, path, { format });
      const actor = python();
      expect(await actor.call('counter.value', path, form)).toEqual(['0']);
      expect(await number.get()).toBe(0n);
      expect(await number.add(5n)).toMatchObject({ succeeded: true, pre: 0n, post: 5n });
      expect(await actor.call('counter.add', path, form, -8, 1)).toEqual(['5', '-3']);
      await client.sync(path);
      expect((await client.getData(path)).data).toEqual(bytes);
      expect(await number.add(-(2n ** 31n) + 3n)).toMatchObject({ pre: -3n, post: -(2n ** 31n) });
      expect(await actor.call('counter.value', path, form)).toEqual([`${-(2 ** 31)}`]);
    });

    test('what both add at the same time is all there', async () => {
      const path = `/mixed/counter-${form}/sum`;
      const rounds = 20;
      const clients = await Promise.all([node(), node()]);
      const adding = clients.map(async (client) => {
        const number = new AtomicLong(client, path, { format });
        for (let done = 0; done < rounds; ) if ((await number.increment()).succeeded) done++;
      });
      const actors = [python(), python()];
      const all = [
        ...adding,
        ...actors.map((actor) => actor.call('counter.add', path, form, 1, rounds)),
      ];
      await Promise.all(all);
      const sum = BigInt(rounds * all.length);
      expect(await new AtomicLong(clients[0], path, { format }).get()).toBe(sum);
      expect(await actors[0]?.call('counter.value', path, form)).toEqual([`${sum}`]);
    });
  });

  test('counter: a number of kazoo that is no whole one is refused, and stays', async () => {
    const path = '/mixed/counter-float';
    const number = new AtomicLong(await node(), path, { format: 'text' });
    const actor = python();
    expect(await actor.call('counter.add', path, 'float', '1.5', 1)).toEqual(['0.0', '1.5']);
    await expect(number.get()).rejects.toThrow(CorruptDataError);
    await expect(number.increment()).rejects.toThrow(CorruptDataError);
    expect(await actor.call('counter.value', path, 'float')).toEqual(['1.5']);
  });

  test('locking queue: what Node puts Python is given by priority, and the other way', async () => {
    const path = '/mixed/crawl/order';
    const client = await node();
    const queue = new LockingQueue(client, path);
    const actor = python();
    const getting = actor.call('queue.get', path);
    await queue.put('first');
    expect(await getting).toEqual(['first']);
    expect(await actor.call('queue.consume', path)).toEqual(['true']);
    await queue.putAll(['two', 'three, ünïcode']);
    await queue.put('urgent', { priority: 7 });
    await queue.put('', { priority: 999 });
    for (const expected of ['urgent', 'two', 'three, ünïcode', '']) {
      expect(await actor.call('queue.get', path)).toEqual([expected]);
      expect(await actor.call('queue.consume', path)).toEqual(['true']);
    }
    await actor.call('queue.put', path, 100, 'one');
    await actor.call('queue.putAll', path, 100, 'two', 'three, ünïcode');
    await actor.call('queue.put', path, 0, 'urgent');
    for (const expected of ['urgent', 'one', 'two', 'three, ünïcode']) {
      const entry = await queue.take();
      expect(entry.data?.toString()).toBe(expected);
      await entry.done();
    }
    expect(await queue.poll()).toBeNull();
    await untilNames(client, `${path}/entries`, 0);
    await untilNames(client, `${path}/taken`, 0);
  });

  test('locking queue: what one has the other is not given, and is when it is given back', async () => {
    const path = '/mixed/crawl/release';
    const queue = new LockingQueue(await node(), path);
    const actor = python();
    await queue.put('page');
    expect(await actor.call('queue.get', path)).toEqual(['page']);
    expect(await queue.poll()).toBeNull();
    expect(await actor.call('queue.holds', path)).toEqual(['true']);
    const taking = queue.take();
    expect(await actor.call('queue.release', path)).toEqual(['true']);
    const entry = await taking;
    expect(await actor.call('queue.get', path, REFUSED_MS)).toEqual([]);
    const getting = actor.call('queue.get', path);
    await entry.release();
    expect(await getting).toEqual(['page']);
    expect(await actor.call('queue.consume', path)).toEqual(['true']);
    expect(await queue.poll()).toBeNull();
  });

  test('locking queue: the session of who has an entry ends, and the other language is given it', async () => {
    const path = '/mixed/crawl/ended';
    const control = await node();
    const doomed = await node();
    const [first, second] = [python(), python()];
    await new LockingQueue(control, path).put('page');
    expect(await first.call('queue.get', path)).toEqual(['page']);
    const taking = new LockingQueue(doomed, path).take();
    await endSession(ensemble(), await sessionOf(first));
    const entry = await taking;
    const getting = second.call('queue.get', path);
    await endSession(ensemble(), await doomed.connected());
    expect(await getting).toEqual(['page']);
    await overOf(entry.lease);
    await expect(entry.done()).rejects.toThrow(LeaseLostError);
    expect(await second.call('queue.holds', path)).toEqual(['true']);
    expect(await second.call('queue.consume', path)).toEqual(['true']);
    await untilNames(control, `${path}/entries`, 0);
    await untilNames(control, `${path}/taken`, 0);
  });

  test('locking queue: consumers and producers of both, and each entry is done once', async () => {
    const path = '/mixed/crawl/shared';
    const queue = new LockingQueue(await node(), path);
    const producer = python();
    const pages = (of: string) => Array.from({ length: 20 }, (_, index) => `${of} ${index}`);
    const done: string[] = [];
    const isAll = () => done.length >= 40;
    const stop = new AbortController();
    const consuming = queue.consume(
      ({ data }) => {
        done.push(String(data));
        if (isAll()) stop.abort();
      },
      { signal: stop.signal },
    );
    const getting = [python(), python()].map(async (actor) => {
      while (!isAll()) {
        const [page] = await actor.call('queue.get', path, REFUSED_MS);
        if (page === undefined) continue;
        expect(await actor.call('queue.consume', path)).toEqual(['true']);
        done.push(page);
      }
      stop.abort();
    });
    const putting = pages('node').map((page) => queue.put(page));
    await Promise.all([...putting, producer.call('queue.put', path, 100, ...pages('python'))]);
    await Promise.all([consuming, ...getting]);
    expect(done.toSorted()).toEqual([...pages('node'), ...pages('python')].toSorted());
  });
});
