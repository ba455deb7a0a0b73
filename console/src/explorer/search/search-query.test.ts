import { expect, it } from 'vitest';
import { marksIn, parsedSearch } from './search-query.js';

const queryOf = (typed: string) => {
  const parsed = parsedSearch(typed);
  return parsed.kind === 'query' ? parsed.query : parsed;
};

it('makes parameters of what is typed', () => {
  expect(parsedSearch('  ')).toEqual({ kind: 'empty' });
  expect(queryOf('conf')).toEqual({ path: '/', limit: 10_000, match: 'conf' });
  expect(queryOf('/app/*/conf?')).toMatchObject({ glob: '/app/*/conf?' });
  expect(queryOf('a mode:ephemeral owner:1f bytes:>10 in:/x/')).toEqual({
    path: '/x',
    limit: 10_000,
    match: 'a',
    mode: 'ephemeral',
    session: '0x1f',
    minBytes: 10,
  });
  expect(queryOf('mode:ephemeral')).toMatchObject({ mode: 'ephemeral' });
});

it('says what is wrong', () => {
  for (const typed of ['mode:x', 'owner:zz', 'bytes:many', 'in:a']) {
    expect(parsedSearch(typed).kind, typed).toBe('wrong');
  }
});

it('marks every place of the text, whatever its case', () => {
  expect(marksIn('Config-config', 'CONF')).toEqual([
    [0, 4],
    [7, 11],
  ]);
  expect([marksIn('a', ''), marksIn('abc', 'a*'), marksIn('İab', 'ab')]).toEqual([[], [], []]);
});
