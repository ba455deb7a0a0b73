/** Pages of children: how often servers are asked for names, and how many listings stay open. */
import type { Client } from '@rookery/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { OpenListings } from './open-listings.js';

const NAMES = Array.from({ length: 10 }, (_, i) => `n${i}`);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A client whose servers have no pages: each listing is all names behind one. */
function useClient() {
  const asked: string[] = [];
  const ended: string[] = [];
  const part: Partial<Client> = {
    async *listChildren(path, { startAfter = '' } = {}) {
      asked.push(`${path} ${startAfter}`);
      try {
        yield* NAMES.filter((name) => name > startAfter);
      } finally {
        ended.push(path);
      }
    },
  };
  return { client: part as Client, asked, ended };
}

it('asks for the names once for all pages that follow each other', async () => {
  const { client, asked } = useClient();
  const listings = new OpenListings();
  const listed: string[] = [];
  let after = '';
  for (let hasMore = true; hasMore; ) {
    const page = await listings.page(client, '/d', { after, limit: 3 });
    listed.push(...page.names);
    after = page.names.at(-1) ?? '';
    hasMore = page.hasMore;
  }
  expect([listed, asked]).toEqual([NAMES, ['/d ']]);
});

it('begins anew for a page that follows none, and ends where the names end', async () => {
  const { client, asked } = useClient();
  const listings = new OpenListings();
  await listings.page(client, '/d', { after: '', limit: 3 });
  const page = await listings.page(client, '/d', { after: 'n6', limit: 3 });
  expect(page).toEqual({ names: ['n7', 'n8', 'n9'], hasMore: false });
  expect(await listings.page(client, '/d', { after: 'n9', limit: 3 })).toEqual({
    names: [],
    hasMore: false,
  });
  // Another client may see other names there.
  const other = useClient();
  await listings.page(other.client, '/d', { after: 'n2', limit: 3 });
  expect([asked, other.asked]).toEqual([['/d ', '/d n6', '/d n9'], ['/d n2']]);
});

it('ends what is not continued in time, and the oldest of too many', async () => {
  const { client, asked, ended } = useClient();
  const listings = new OpenListings();
  for (let i = 0; i < 9; i++) await listings.page(client, `/${i}`, { after: '', limit: 3 });
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).toEqual(['/0']);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(ended).toHaveLength(9);
  await listings.page(client, '/8', { after: 'n2', limit: 3 });
  expect(asked.at(-1)).toBe('/8 n2');
});
