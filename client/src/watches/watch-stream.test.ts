/**
 * The stream over a client that the test plays: which events come out, in which order, what
 * overflow leaves of them, and that the watch is removed however the stream ends.
 */
import { AddWatchMode, NoWatcherError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, test } from 'vitest';
import type { AddWatchOptions, WatchHandle, WatchStreamOptions } from '../api/client.js';
import { ClientClosedError, OptionError } from '../api/errors.js';
import type { WatchEvent, Watcher } from '../api/values.js';
import { watchStream } from './watch-stream.js';

class PlayedClient {
  watcher: Watcher | undefined;
  options: AddWatchOptions | undefined;
  removals = 0;
  stand: () => void = () => undefined;
  refuse: (error: Error) => void = () => undefined;

  addWatch(path: string, watcher: Watcher, options?: AddWatchOptions): Promise<WatchHandle> {
    this.options = options;
    return new Promise((resolve, reject) => {
      this.stand = () => {
        this.watcher = watcher;
        const remove = async () => {
          this.removals += 1;
        };
        resolve({ path, mode: AddWatchMode.persistent, remove });
      };
      this.refuse = reject;
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
    });
  }

  tell(event: WatchEvent): void {
    if (this.watcher === undefined) throw new Error('nobody watches');
    this.watcher(event);
  }
}

function changed(zxid: number): WatchEvent {
  return { type: 'dataChanged', path: '/a', zxid: BigInt(zxid) };
}

async function standing(options: WatchStreamOptions = {}) {
  const client = new PlayedClient();
  const stream = watchStream(client, '/a', options);
  client.stand();
  await Promise.resolve();
  return { client, stream };
}

const DONE = { done: true, value: undefined };
const OVERFLOW = { done: false, value: { type: 'resync', path: '/a', reason: 'overflow' } };

describe('a watch stream', () => {
  test('asks for the watch before it is iterated, with the options but for its own', () => {
    const client = new PlayedClient();
    watchStream(client, '/a', { recursive: true, capacity: 3, timeoutMs: 7, session: 5n });
    expect(client.options).toMatchObject({ recursive: true, timeoutMs: 7, session: 5n });
    expect(client.options).not.toHaveProperty('capacity');
  });

  test('gives events in order, those that waited and those that were waited for', async () => {
    const { client, stream } = await standing();
    client.tell(changed(1));
    client.tell(changed(2));
    const events = [stream.next(), stream.next(), stream.next(), stream.next()];
    client.tell(changed(3));
    client.tell(changed(4));
    const values = await Promise.all(events);
    expect(values.map(({ value }) => value)).toEqual([1, 2, 3, 4].map(changed));
  });

  test('of capacity n holds n events and makes one resync of n + 1', async () => {
    for (const waiting of [3, 4]) {
      const { client, stream } = await standing({ capacity: 3 });
      for (let zxid = 1; zxid <= waiting; zxid++) client.tell(changed(zxid));
      const first = await stream.next();
      if (waiting === 3) expect(first.value).toEqual(changed(1));
      else expect(first).toEqual(OVERFLOW);
      client.tell(changed(9));
      if (waiting === 4) expect((await stream.next()).value).toEqual(changed(9));
    }
  });

  test('after a resync fills again, and overflows again into one', async () => {
    const { client, stream } = await standing({ capacity: 2 });
    for (let zxid = 1; zxid <= 9; zxid++) client.tell(changed(zxid));
    // The 3rd, 5th, 7th and 9th each found two waiting.
    expect(await stream.next()).toEqual(OVERFLOW);
    const next = stream.next();
    client.tell(changed(10));
    expect((await next).value).toEqual(changed(10));
  });

  test('of capacity 1 never loses the last event: it is there or a resync is', async () => {
    const { client, stream } = await standing({ capacity: 1 });
    client.tell(changed(1));
    client.tell(changed(2));
    client.tell(changed(3));
    expect(await stream.next()).toEqual(OVERFLOW);
  });

  test('keeps order through ten thousand events taken at odd moments', async () => {
    const { client, stream } = await standing({ capacity: 20_000 });
    const seen: unknown[] = [];
    for (let zxid = 0; zxid < 10_000; zxid++) {
      client.tell(changed(zxid));
      if (zxid % 3 === 0) seen.push((await stream.next()).value);
    }
    while (seen.length < 10_000) seen.push((await stream.next()).value);
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, zxid) => changed(zxid)));
  });

  test('refuses a capacity that is no positive whole number', () => {
    for (const capacity of [0, -1, 1.5, Number.NaN]) {
      expect(() => watchStream(new PlayedClient(), '/a', { capacity })).toThrow(OptionError);
    }
  });
});

describe('a watch stream ends', () => {
  test('when the loop is left, by break and by an exception', async () => {
    const fault = new Error('of the loop');
    for (const leave of ['break', 'throw'] as const) {
      const { client, stream } = await standing();
      client.tell(changed(1));
      const looped = (async () => {
        for await (const event of stream) {
          expect(event).toEqual(changed(1));
          if (leave === 'break') break;
          throw fault;
        }
      })();
      if (leave === 'break') await looped;
      else await expect(looped).rejects.toBe(fault);
      expect(client.removals).toBe(1);
      client.tell(changed(2));
      expect(await stream.next()).toEqual(DONE);
    }
  });

  test('when its signal is aborted: waiting events are forgotten, who waits is let go', async () => {
    const controller = new AbortController();
    const { client, stream } = await standing({ signal: controller.signal });
    const waiting = [stream.next(), stream.next()];
    controller.abort();
    expect(await Promise.all(waiting)).toEqual([DONE, DONE]);
    expect(client.removals).toBe(1);

    const again = new AbortController();
    const other = await standing({ signal: again.signal });
    other.client.tell(changed(1));
    again.abort();
    expect(await other.stream.next()).toEqual(DONE);
  });

  test('before it begins when the signal was aborted already: nothing is asked for', async () => {
    const client = new PlayedClient();
    const stream = watchStream(client, '/a', { signal: AbortSignal.abort() });
    expect(client.options).toBeUndefined();
    expect(await stream.next()).toEqual(DONE);
  });

  test('while its addWatch is under way: that is aborted, and removed if it came through', async () => {
    const client = new PlayedClient();
    const stream = watchStream(client, '/a');
    await stream.return?.();
    expect(client.options?.signal?.aborted).toBe(true);
    expect(await stream.next()).toEqual(DONE);

    const late = new PlayedClient();
    const left = watchStream(late, '/a');
    late.stand();
    await left.return?.();
    await Promise.resolve();
    expect(late.removals).toBe(1);
  });

  test('with the error of its addWatch, once', async () => {
    const client = new PlayedClient();
    const stream = watchStream(client, '/a');
    const waiting = stream.next();
    client.refuse(new Error('refused'));
    await expect(waiting).rejects.toThrow('refused');
    expect(await stream.next()).toEqual(DONE);
  });

  test('with an unhandled rejection never, though nobody asks for the error', async () => {
    const client = new PlayedClient();
    watchStream(client, '/a');
    client.refuse(new Error('refused'));
    await new Promise((resolve) => setImmediate(resolve));
  });

  test.for([
    ['closed', ClientClosedError],
    ['lost', SessionExpiredError],
    ['removed', NoWatcherError],
  ] as const)('after %s: with what waits, then the error, then no more', async ([type, kind]) => {
    const { client, stream } = await standing();
    client.tell(changed(1));
    client.tell({ type, path: '/a' });
    expect((await stream.next()).value).toEqual(changed(1));
    await expect(stream.next()).rejects.toBeInstanceOf(kind);
    expect(await stream.next()).toEqual(DONE);
  });

  test('and leaves no listener at the signal', async () => {
    const controller = new AbortController();
    const added: string[] = [];
    const { signal } = controller;
    const listen = signal.addEventListener.bind(signal);
    const unlisten = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: () => void) => {
      added.push(type);
      listen(type, listener);
    };
    signal.removeEventListener = (type: string, listener: () => void) => {
      added.pop();
      unlisten(type, listener);
    };
    const { stream } = await standing({ signal });
    expect(added).toEqual(['abort']);
    await stream.return?.();
    expect(added).toEqual([]);
  });
});
