/** What waits for a reader of changes has a bound; beyond it the reader is told to look itself. */
import { expect, it } from 'vitest';
import type { ApiCall } from './api-call.js';
import { type Hearing, WatchStreams } from './watch-route.js';

/** A stream of which nothing was read yet, and what its watch hears. */
async function useStream() {
  let heard: Hearing | null = null;
  const streams = new WatchStreams(async (_asked, hearing) => {
    heard = hearing;
    return () => undefined;
  });
  const { signal } = new AbortController();
  const caller = { user: 'ann', remoteAddress: '127.0.0.1' };
  const call = { query: new URLSearchParams('path=/a'), request: { signal }, caller };
  const { body } = await streams.answer(call as unknown as ApiCall);
  if (typeof body === 'string' || !(Symbol.asyncIterator in body)) throw new Error('a stream');
  const parts = body[Symbol.asyncIterator]();
  /** The events that the reader gets by now, without what they say. */
  const taken = async (): Promise<readonly string[]> => {
    const { value } = await parts.next();
    return [...String(Buffer.from(value)).matchAll(/^event: (\w+)$/gm)].map(
      ([, name]) => name ?? '',
    );
  };
  await parts.next();
  const change = (path: string): void => {
    heard?.onChange({ kind: 'dataChanged', path, zxid: '0x1' });
  };
  return { taken, change };
}

it('keeps a thousand changes for a reader, and says that some are lost beyond that', async () => {
  const { taken, change } = await useStream();
  for (let count = 0; count < 999; count++) change('/a');
  expect((await taken()).length).toBe(1_000);
  for (let count = 0; count < 1_001; count++) change('/a');
  expect(await taken()).toEqual(['lost', 'change']);
});

it('keeps a million characters of paths, and any one path', async () => {
  const { taken, change } = await useStream();
  const long = `/${'x'.repeat(400_000)}`;
  change(long);
  change(long);
  expect(await taken()).toEqual(['watching', 'change', 'change']);
  for (let count = 0; count < 3; count++) change(long);
  expect(await taken()).toEqual(['lost', 'change']);
  change(`/${'x'.repeat(2_000_000)}`);
  expect(await taken()).toEqual(['change']);
});
