/** What completion asks of a server, and what it makes of the answer. */
import type { Client, ListOptions } from '@rookery/client';
import { expect, it } from 'vitest';
import { COMMANDS } from '../table.js';
import { completed, prepareCompletion } from './completion.js';

/** A directory of a million znodes, which counts the names that are taken of it. */
function million() {
  let taken = 0;
  const asked: { readonly path: string; readonly options: ListOptions | undefined }[] = [];
  async function* listChildren(path: string, options?: ListOptions) {
    asked.push({ path, options });
    for (let index = 0; index < 1_000_000; index++) {
      const name = `n${String(index).padStart(7, '0')}`;
      if (name <= (options?.startAfter ?? '')) continue;
      taken += 1;
      yield name;
    }
  }
  const exists = async () => null;
  // A test needs no more of a client than completion uses.
  const client = { state: 'connected', listChildren, exists } as unknown as Client;
  const complete = (line: string) =>
    completed(line, { specs: COMMANDS, builtIns: ['cd '], directory: '/', client });
  return { client, complete, asked, taken: () => taken };
}

it('asks for one short page of a large directory, from the typed prefix on', async () => {
  const { complete, asked, taken } = million();
  const [names, replaced] = await complete('stat /big/n05');
  expect(replaced).toBe('/big/n05');
  expect([names.length, names[0], names.at(-1)]).toEqual([101, '/big/n0500000', '(and more)']);
  expect(taken()).toBeLessThanOrEqual(102);
  expect(asked).toEqual([
    {
      path: '/big',
      options: { startAfter: 'n04\uffff', pageSize: 101, timeoutMs: 2000 },
    },
  ]);
});

it('inserts the one name that has the prefix', async () => {
  const { complete, taken } = million();
  expect(await complete('stat /big/n0123456')).toEqual([['/big/n0123456 '], '/big/n0123456']);
  expect(taken()).toBe(2);
});

it('asks for a page of a small directory before somebody waits', async () => {
  const { client, asked, taken } = million();
  await prepareCompletion(client);
  expect(taken()).toBe(1);
  expect(asked).toEqual([{ path: '/zookeeper', options: { pageSize: 1, timeoutMs: 2000 } }]);
});

it('completes the commands of a group, and their options', async () => {
  const { complete } = million();
  expect((await complete('sessions '))[0]).toEqual(['end ', 'get ', 'ls ']);
  expect((await complete('sessions end --u'))[0]).toEqual(['--url ']);
});
