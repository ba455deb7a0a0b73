/** An answer shows so many watches of a session, and says whether there are more. */
import { expect, it } from 'vitest';
import { WATCHED_MAX, watchedBy } from './member-answers.js';

function shownOf(paths: readonly string[]) {
  const watches = { pathsOf: (mode: string) => (mode === 'child' ? paths : []) };
  const member = { watches, watcherOf: () => 7 } as unknown as Parameters<typeof watchedBy>[0];
  const { watched, watchedTruncated } = watchedBy(member, 1);
  return [watched.length, watchedTruncated];
}

it('shows a thousand watches and 60,000 characters of their paths, and says if it is not all', () => {
  const paths = Array.from({ length: WATCHED_MAX + 1 }, (_, index) => `/w-${index}`);
  expect(shownOf(paths.slice(1))).toEqual([WATCHED_MAX, false]);
  expect(shownOf(paths)).toEqual([WATCHED_MAX, true]);
  const long = `/${'x'.repeat(29_999)}`;
  expect(shownOf([long, long])).toEqual([2, false]);
  expect(shownOf([long, long, '/a'])).toEqual([2, true]);
});

it('shows nothing of a session without a watcher', () => {
  const member = { watcherOf: () => undefined } as unknown as Parameters<typeof watchedBy>[0];
  expect(watchedBy(member, 1)).toEqual({ watched: [], watchedTruncated: false });
});
