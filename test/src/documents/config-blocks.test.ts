/**
 * The pieces of config files that the documents show are right: each has no problem once it is part
 * of a whole file.
 */
import { checkSettings } from '@rookery/server';
import { expect, it } from 'vitest';
import { blocksOf, pages } from './pages.js';

const SERVER = { id: 1, host: '127.0.0.1', clientPort: 2181, peerPort: 2881 };

const blocks = pages()
  .filter(({ path }) => path.startsWith('docs/'))
  .flatMap(({ path, text }) =>
    blocksOf(text)
      .filter(({ language }) => language === 'json')
      .map(({ code }) => ({ path, code })),
  );

it('every piece of a config file in docs/ is right', () => {
  expect(blocks.length).toBeGreaterThan(8);
  const problems = blocks.flatMap(({ path, code }) =>
    problemsOf(code).map((problem) => `${path}: ${problem} in ${code}`),
  );
  expect(problems).toEqual([]);
});

it('a wrong piece is found', () => {
  expect(problemsOf('{ "backupEvery": 5 }')).toEqual(['backupEvery: unknown key']);
  expect(problemsOf('{ "id": 1, "host": "a" }')).toHaveLength(2);
});

/** A piece is an entry of `servers`, or some settings. */
function problemsOf(code: string): readonly string[] {
  const piece: Readonly<Record<string, unknown>> = JSON.parse(code);
  const settings = 'host' in piece ? { servers: [piece] } : piece;
  const file = { dataDir: 'data', servers: [SERVER], ...settings };
  // The pages say elsewhere that members off loopback authenticate each other.
  const peerAuth = 'peerAuth' in file ? {} : { peerAuth: 'none' };
  return checkSettings({ ...file, ...peerAuth }).problems;
}
