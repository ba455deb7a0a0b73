/**
 * Goal: a member waits for its own name and says so, and says when the name leads nowhere.
 * Method: a resolver that the test answers, and time that passes when the test says so.
 */
import { describe, expect, it } from 'vitest';
import type { Config, ServerAddress } from '../config/config.js';
import { keptLog } from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { isName, OwnNames } from './own-names.js';

const entry = (id: number, host: string, more: Partial<ServerAddress> = {}): ServerAddress => ({
  id,
  host,
  clientPort: 2181,
  peerPort: 2881,
  ...more,
});

type Book = Record<string, readonly string[] | 'hangs'>;

/** `book` may change; a name that is not in it is unknown. */
function start(servers: readonly ServerAddress[], book: Book, signal?: AbortSignal) {
  const { logger, lines } = keptLog();
  const timers = new ManualTimers();
  const asked: string[] = [];
  const resolve = (name: string): Promise<readonly string[]> => {
    asked.push(name);
    const addresses = book[name];
    if (addresses === 'hangs') return new Promise(() => undefined);
    return addresses === undefined
      ? Promise.reject(new Error(`getaddrinfo ENOTFOUND ${name}`))
      : Promise.resolve(addresses);
  };
  let isReady = false;
  const [self] = servers;
  if (self === undefined) throw new Error('no servers');
  // Nothing else of the config is looked at.
  const config = { servers } as Config;
  const names = new OwnNames(config, self, resolve, timers, logger);
  const ready = names.untilResolved(signal).then(() => {
    isReady = true;
    return names.warnOfLoopback();
  });
  const events = () => lines.map(({ msg }) => String(msg).split(':')[0]);
  return { ready, isReady: () => isReady, asked, events, lines, timers };
}

describe('the own names of a member', () => {
  it('are not asked for where addresses or every address are bound', async () => {
    const servers = [
      entry(1, 'a.test', { listen: '*', peerListen: ['10.0.0.1', 'localhost'] }),
      entry(2, 'b.test'),
    ];
    const { ready, asked } = start(servers, {});
    await ready;
    expect(asked).toEqual([]);
    expect(['*', '::', '10.0.0.1', 'localhost', 'a.test'].map(isName)).toEqual([
      ...[false, false, false, false],
      true,
    ]);
  });

  it('are waited for, with a line at once and one each ten seconds, and one when it is over', async () => {
    const book: Book = {};
    const { isReady, events, timers, ready } = start([entry(1, 'a.test')], book);
    await timers.advance(9_500);
    expect([isReady(), events()]).toEqual([false, ['server.name_unknown']]);
    await timers.advance(2_000);
    expect(events()).toEqual(['server.name_unknown', 'server.name_unknown']);
    book['a.test'] = ['10.0.0.1'];
    await timers.advance(1_000);
    await ready;
    expect(events().at(-1)).toBe('server.name_resolved');
  });

  it('are said to be waited for also while the name server does not answer', async () => {
    const { isReady, lines, timers } = start([entry(1, 'a.test')], { 'a.test': 'hangs' });
    await timers.advance(1_000);
    expect(isReady()).toBe(false);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ name: 'a.test', reason: 'the name server does not answer' });
  });

  it.each(['unknown', 'hangs'] as const)(
    'are not waited for any longer than until a stop (%s)',
    async (kind) => {
      const stop = new AbortController();
      const book: Book = kind === 'hangs' ? { 'a.test': 'hangs' } : {};
      const { ready, timers } = start([entry(1, 'a.test')], book, stop.signal);
      await timers.advance(300);
      stop.abort('SIGTERM');
      await expect(ready).rejects.toBe('SIGTERM');
    },
  );

  it('that are loopback addresses are an error if another member has another address', async () => {
    const book: Book = { 'a.test': ['127.0.1.1'], 'b.test': ['10.0.0.2'] };
    const { ready, events } = start([entry(1, 'a.test'), entry(2, 'b.test')], book);
    await ready;
    expect(events()).toEqual(['server.name_is_loopback']);
  });

  it('that are loopback addresses are none if so are all others, or nobody knows', async () => {
    const book: Book = { 'a.test': ['127.0.1.1'], 'b.test': ['127.0.0.2'] };
    const servers = [entry(1, 'a.test'), entry(2, 'b.test'), entry(3, 'c.test')];
    const { ready, events } = start(servers, book);
    await ready;
    expect(events()).toEqual([]);
  });
});
