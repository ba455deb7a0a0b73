/** Listing with pages, without, and when nobody can tell; over lost connections and sessions. */
import {
  ConnectionLossError,
  NoNodeError,
  OperationTimeoutError,
  UnimplementedError,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { ListOptions } from '../api/client.js';
import { OperationAbortedError, OptionError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { ChildLister, type PageRequest } from './list-children.js';
import type { ProbeAnswer } from './operation-probe.js';

const LARGE = 1_500;

function setUp(options: { readonly count?: number; readonly pages?: ProbeAnswer } = {}) {
  const { count = LARGE, pages = 'offered' } = options;
  const surroundings = new FakeSurroundings();
  const server = new FakeServer();
  const client = new FakeClient(server, { surroundings });
  const plant = (path: string) =>
    server.create({ path, data: null, mode: 'persistent', acl: undefined, session: 0n });
  plant('/d');
  const names = Array.from({ length: count }, (_, index) => `n${String(index).padStart(6, '0')}`);
  for (const name of names) plant(`/d/${name}`);
  const asked: PageRequest[] = [];
  const probes = { count: 0, answer: pages };
  const onPage = { fail: (_: PageRequest): Error | null => null };
  const lister = new ChildLister(client, {
    getPage: async (request, given) => {
      asked.push(request);
      await client.sync(request.path, given);
      const error = onPage.fail(request);
      if (error !== null) throw error;
      const rest = server.children(request.path).filter((name) => name > request.startAfter);
      const { limit } = request;
      return { children: rest.slice(0, limit), more: rest.length > limit };
    },
    probe: async () => {
      probes.count++;
      return probes.answer;
    },
  });
  const list = async (given?: ListOptions) => {
    const found: string[] = [];
    for await (const name of lister.list('/d', given)) found.push(name);
    return found;
  };
  return { surroundings, server, client, names, asked, probes, onPage, lister, list, plant };
}

describe('a large directory', () => {
  it('is listed in pages, in order, each name once, and asked about once', async () => {
    const { list, names, asked, probes, client } = setUp();
    expect(await list({ pageSize: 400 })).toEqual(names);
    expect(asked.map(({ startAfter }) => startAfter)).toEqual([
      '',
      'n000399',
      'n000799',
      'n001199',
    ]);
    expect(await list()).toEqual(names);
    expect([probes.count, client.sentCount('getChildren')]).toEqual([1, 0]);
  });

  it('gives each name that stays while others come and go', async () => {
    const { lister, names, plant, server } = setUp();
    const found: string[] = [];
    for await (const name of lister.list('/d', { pageSize: 100 })) {
      found.push(name);
      if (found.length % 100 === 50) {
        plant(`/d/${name}-new`);
        plant(`/d/${name.replace('n', 'm')}`);
      }
      if (found.length === 120) server.delete('/d/n000700');
    }
    const seen = new Set(found);
    expect(found).toHaveLength(seen.size);
    expect(names.filter((name) => !seen.has(name))).toEqual(['n000700']);
  });

  it('is listed at once where there are no pages', async () => {
    const { list, names, asked, probes } = setUp({ pages: 'refused' });
    expect(await list()).toEqual(names);
    expect(await list()).toEqual(names);
    expect([asked.length, probes.count]).toEqual([0, 1]);
  });

  it('is listed at once when nobody can tell, who is asked again the next time', async () => {
    const { list, names, probes } = setUp({ pages: 'unknown' });
    expect(await list()).toEqual(names);
    probes.answer = 'offered';
    expect(await list()).toEqual(names);
    expect(probes.count).toBe(4);
  });

  it('goes on where it was after a lost connection', async () => {
    const { list, names, onPage, surroundings } = setUp();
    let losses = 0;
    onPage.fail = ({ startAfter }) =>
      startAfter === 'n000499' && losses++ < 3 ? new ConnectionLossError('/d') : null;
    const listed = list({ pageSize: 500 });
    await surroundings.settle();
    expect(await listed).toEqual(names);
    expect(losses).toBe(4);
  });

  it('waits for a silent server once, and not again and again', async () => {
    const { list, client, asked, onPage } = setUp();
    client.failNext('exists', new OperationTimeoutError('/d'), 1);
    await expect(list()).rejects.toThrow(OperationTimeoutError);
    expect(asked).toEqual([]);
    onPage.fail = () => new OperationTimeoutError('/d');
    await expect(list()).rejects.toThrow(OperationTimeoutError);
    expect(asked).toHaveLength(1);
  });

  it('goes on without pages when the next server has none, giving no name twice', async () => {
    const { list, names, onPage, asked, client, probes } = setUp();
    onPage.fail = ({ startAfter }) => (startAfter === '' ? null : new UnimplementedError('/d'));
    expect(await list({ pageSize: 500 })).toEqual(names);
    expect(asked).toHaveLength(2);
    client.expire();
    await client.connected();
    onPage.fail = () => null;
    expect(await list()).toEqual(names);
    expect(probes.count).toBe(2);
  });

  it('is asked about anew in another session', async () => {
    const { lister, names, client, probes } = setUp();
    const found: string[] = [];
    for await (const name of lister.list('/d', { pageSize: 500 })) {
      found.push(name);
      if (found.length === 300) client.expire();
    }
    expect(found).toEqual(names);
    expect(probes.count).toBe(2);
  });

  it('stops with its signal, and with the session that it was given', async () => {
    const { lister, client } = setUp();
    const controller = new AbortController();
    const { signal } = controller;
    const session = client.session?.id ?? 0n;
    const listing = async (options: ListOptions, onFirst: () => void) => {
      for await (const name of lister.list('/d', { pageSize: 500, ...options })) {
        if (name === 'n000000') onFirst();
      }
    };
    const aborted = listing({ signal }, () => controller.abort());
    await expect(aborted).rejects.toThrow(OperationAbortedError);
    const expired = listing({ session }, () => client.expire());
    await expect(expired).rejects.toMatchObject({ name: 'SessionExpiredError' });
    const begun = lister.list('/d', { signal })[Symbol.asyncIterator]().next();
    await expect(begun).rejects.toThrow(OperationAbortedError);
  });
});

describe('a small directory', () => {
  it('is listed at once, and no server is asked what it knows', async () => {
    const { list, names, asked, probes } = setUp({ count: 999 });
    expect(await list()).toEqual(names);
    expect([asked.length, probes.count]).toEqual([0, 0]);
  });

  it('has fewer names than a page, and fewer than 1,000', async () => {
    const requestsFor = async (count: number, given: ListOptions) => {
      const { list, names, asked } = setUp({ count });
      expect(await list(given)).toEqual(names);
      return asked.length;
    };
    expect(await requestsFor(1_000, {})).toBe(1);
    expect(await requestsFor(100, { pageSize: 101 })).toBe(0);
    expect(await requestsFor(101, { pageSize: 101 })).toBe(1);
    expect(await requestsFor(1, { pageSize: 1 })).toBe(1);
    expect(await requestsFor(0, { pageSize: 1 })).toBe(0);
  });

  it('must exist', async () => {
    const { lister } = setUp({ count: 0 });
    await expect(lister.list('/none').next()).rejects.toThrow(NoNodeError);
  });
});

it('a page has a size that a server takes', async () => {
  const { lister } = setUp({ count: 0 });
  for (const pageSize of [0, 100_001, 1.5]) {
    await expect(lister.list('/d', { pageSize }).next()).rejects.toThrow(OptionError);
  }
  for (const pageSize of [1, 100_000]) {
    expect(await lister.list('/d', { pageSize }).next()).toMatchObject({ done: true });
  }
});
