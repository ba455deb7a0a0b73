/**
 * The feed alone: who of one process gets what, and that nobody sleeps while there is something.
 */
import { describe, expect, it } from 'vitest';
import { newWorld, turns, until } from '../../testing/lock-world.js';
import { EntryFeed } from './entry-feed.js';
import { PlainLayout } from './entry-names.js';
import type { Entry, EntrySource } from './entry-source.js';

function setUp(names: readonly string[]) {
  const { one } = newWorld();
  const session = one.session;
  if (session === null) throw new Error('there is a session');
  const entries = names.map((name): Entry => {
    const parsed = PlainLayout.parse(name);
    if (parsed === null) throw new Error(`no entry: ${name}`);
    return { ...parsed, path: `/q/${name}`, lockPath: null };
  });
  let looks = 0;
  // Its watch never fires: whoever waits can only be woken from within.
  const source: EntrySource = {
    look: async () => {
      looks++;
      return { entries, changed: new Promise(() => {}), forget: () => {} };
    },
    list: async () => entries,
  };
  const feed = new EntryFeed(one, source);
  const within = { session, signal: new AbortController().signal };
  return { feed, within, looks: () => looks };
}

describe('a feed', () => {
  it.each(['gives up', 'fails'])(
    'offers an entry again when the attempt of another %s',
    async (end) => {
      const { feed, within, looks } = setUp(['queue-0000000000']);
      let settle = () => {};
      let attempts = 0;
      const first = feed.next(within, async () => {
        attempts++;
        if (attempts > 1) return new Promise<string>(() => {});
        await new Promise<void>((resolve) => {
          settle = resolve;
        });
        if (end === 'fails') throw new Error('no');
        return null;
      });
      first.catch(() => {});
      await until(() => attempts === 1);
      const second = feed.next(within, async ({ name }) => name);
      await until(() => looks() === 2);
      await turns(5);
      settle();
      // Whoever is faster gets it; when the first has failed that is the second.
      if (end === 'fails') expect(await second).toBe('queue-0000000000');
      else await Promise.race([second, until(() => attempts === 2)]);
    },
  );

  it('gives each entry to one, in order, however many ask', async () => {
    const names = Array.from({ length: 5 }, (_, index) => `queue-000000000${index}`);
    const { feed, within, looks } = setUp(names);
    const given = names.map(() =>
      feed.next(within, async ({ name }) => {
        await turns(3);
        return name;
      }),
    );
    expect(await Promise.all(given)).toEqual(names);
    expect(looks()).toBe(1);
  });
});
