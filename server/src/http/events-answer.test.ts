/** One user cannot take all the streams of events of a member, and a stream that ends frees one. */
import { expect, it } from 'vitest';
import { EventRing } from '../measures/event-ring.js';
import type { ApiCall } from './api/api-call.js';
import { othersFor } from './api/other-members.js';
import { EventAnswers } from './events-answer.js';
import { HttpError } from './http-port.js';

const STREAMS = [
  { members: 'all', ofOne: 3, ofOthers: 1 },
  { members: 'own', ofOne: 12, ofOthers: 4 },
];

it.each(STREAMS)('leaves others streams with members=$members', async (bounds) => {
  const ring = new EventRing(() => 0);
  const answers = new EventAnswers(
    { id: 1, ring },
    othersFor([2], async () => null),
  );
  const { signal } = new AbortController();
  const open = async (user: string) => {
    const call = {
      query: new URLSearchParams({ members: bounds.members }),
      request: { headers: { accept: 'text/event-stream' }, signal },
      caller: { user, remoteAddress: '127.0.0.1' },
    };
    return await answers.answer(call as unknown as ApiCall);
  };
  const refusal = (user: string): Promise<string> =>
    open(user).then(
      () => expect.unreachable('a stream more'),
      (error: unknown) => (error instanceof HttpError ? error.message : String(error)),
    );
  const opened = await Promise.all(Array.from({ length: bounds.ofOne }, () => open('ann')));
  expect(await refusal('ann')).toContain(`${bounds.ofOne} times here already`);
  for (let count = 0; count < bounds.ofOthers; count += 1) await open('bob');
  expect(await refusal('cid')).toContain(`${bounds.ofOne + bounds.ofOthers} readers`);
  await opened[0]?.close?.();
  await open('cid');
});
