/**
 * `/api/v1` of a real member with much in its tree: a hundred thousand children in pages, a search
 * through all of them while clients are answered, and changes of znodes as they happen.
 */
import { expect, it, onTestFinished } from 'vitest';
import { askApi, linesOf } from '../../harness/api.js';
import { bulk } from '../../harness/bulk.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { create, remove, sendCreate, setData } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 180_000;
const COUNT = 100_000;
const PAGE_CHARACTERS_MAX = 600_000;

async function useMember(): Promise<Member> {
  const [member] = (await useServingEnsemble({ size: 1, operated: true })).members;
  if (member === undefined) throw new Error('there is a member');
  return member;
}

it(
  'lists 100,000 children with their Stats in bounded pages, and searches them while others ask',
  async () => {
    const member = await useMember();
    const client = await useClient(member, { recording: false });
    await create(client, '/big');
    const nameOf = (index: number) => `n${String(index).padStart(6, '0')}`;
    await bulk(COUNT, client, (index) => sendCreate(client, `/big/${nameOf(index)}`));
    let listed = 0;
    let longestMs = 0;
    let last = '';
    for (;;) {
      const begun = performance.now();
      const page = await askApi(member, `GET /children?path=/big&limit=1000&stat=1&after=${last}`);
      longestMs = Math.max(longestMs, performance.now() - begun);
      expect(page.text.length).toBeLessThan(PAGE_CHARACTERS_MAX);
      listed += (page.json['children'] as unknown[]).length;
      if (page.json['next'] === null) break;
      last = String(page.json['next']);
    }
    expect(listed).toBe(COUNT);
    const searching = askApi(member, 'GET /search?path=/big&glob=*99999');
    let answered = 0;
    let isOver = false;
    void searching.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await setData(client, '/big', String(answered));
      answered += 1;
    }
    const found = linesOf(await searching);
    expect(found.map(({ path }) => path)).toEqual(['/big/n099999', undefined]);
    expect(found.at(-1)).toMatchObject({ done: true, cut: null });
    console.info(`longest page ${longestMs.toFixed(0)} ms, ${answered} writes during the search`);
    expect(answered).toBeGreaterThan(0);
  },
  TEST_DEADLINE_MS,
);

it(
  'sends the changes below a path as they happen, and not those of what may not be read',
  async () => {
    const member = await useMember();
    const client = await useClient(member);
    await create(client, '/app');
    const secret = { as: 'anna:secret', match: '*' };
    await askApi(member, 'POST /node?path=/app/hidden&acl=auth::cdrwa', secret);
    const end = new AbortController();
    onTestFinished(() => end.abort());
    const url = `http://127.0.0.1:${member.adminPort}/api/v1/watch?path=/app&recursive=1`;
    const live = await fetch(url, { signal: end.signal });
    expect(live.headers.get('content-type')).toBe('text/event-stream');
    const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const part = await reader?.read();
        if (part?.done !== false) throw new Error(`ended with ${text}`);
        text += part.value;
      }
    };
    await readUntil('event: watching\n');
    await askApi(member, 'PUT /node/data?path=/app/hidden', { ...secret, body: 'x' });
    await create(client, '/app/one');
    await setData(client, '/app/one', 'x');
    await remove(client, '/app/one');
    await readUntil('{"kind":"deleted","path":"/app/one"');
    const told = [...text.matchAll(/"kind":"(\w+)","path":"([^"]+)"/g)].map(([, kind, path]) => [
      ...[kind, path],
    ]);
    expect(told).toEqual([
      ['created', '/app/one'],
      ['dataChanged', '/app/one'],
      ['deleted', '/app/one'],
    ]);
    expect((await askApi(member, 'GET /watch?path=/none')).status).toBe(404);
    expect((await askApi(member, 'GET /watch?path=/app/hidden')).status).toBe(403);
  },
  TEST_DEADLINE_MS,
);
