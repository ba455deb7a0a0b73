/**
 * LockingQueue and IdempotentQueue against real members: crawlers that die, enqueues that are
 * repeated after their replies or sessions were lost.
 */
import { IdempotentQueue, LeaseLostError, LockingQueue } from '@rookery/client';
import { OpCode } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { useReplyLosingClient } from '../reply-losing-client.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 2_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

test('every page is crawled though crawlers and a member die', async () => {
  const path = '/crawler';
  const control = await useDirectClient(ensemble());
  const pages = Array.from({ length: 60 }, (_, index) => `page-${index}`);
  await control.create('/crawled');
  await new LockingQueue(control, path).putAll(pages);
  const crawlers = await Promise.all(
    Array.from({ length: 3 }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
  const stop = new AbortController();
  let crawled = 0;
  // The one that is cut off sits on a page until its lease is lost.
  let onStuck = () => {};
  const stuck = new Promise<void>((resolve) => {
    onStuck = resolve;
  });
  const working = crawlers.map(async ({ client }, index) => {
    const queue = new LockingQueue(client, path, { onSessionLost: 'rejoin' });
    let isFirst = index === 0;
    await queue.consume(
      async (entry) => {
        if (isFirst) {
          isFirst = false;
          onStuck();
          await new Promise((resolve) => entry.signal.addEventListener('abort', resolve));
          expect(await entry.holdsLock()).toBe(false);
          await expect(entry.done()).rejects.toThrow(LeaseLostError);
          return;
        }
        try {
          await entry.done([{ kind: 'create', path: `/crawled/${entry.data}` }]);
          crawled++;
        } catch (error) {
          if (!(error instanceof LeaseLostError)) throw error;
        }
      },
      { signal: stop.signal, onError: 'stop' },
    );
  });
  await stuck;
  const [first] = crawlers;
  await first?.cut();
  await until('half is crawled', DEADLINE_MS, () => crawled >= 30 || undefined);
  const leader = await ensemble().leader();
  await leader.kill();
  await untilNames(control, `${path}/entries`, 0);
  await first?.heal();
  stop.abort();
  await Promise.all(working);
  ensemble().start([leader.id]);
  await ensemble().serving();
  expect(new Set(await namesIn(control, '/crawled'))).toEqual(new Set(pages));
  await untilNames(control, `${path}/taken`, 0);
  expect(crawlers.map(({ client }) => client.watchCount)).toEqual([0, 0, 0]);
});

test('an id that is enqueued again, after a lost reply or a lost session, is done once', async () => {
  const path = '/orders';
  const control = await useDirectClient(ensemble());
  const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
  const queue = new IdempotentQueue(client, path);
  await queue.enqueue('first', '1');
  const lost = loseReplyTo(OpCode.multi);
  await queue.enqueue('second', '2');
  await lost;
  await queue.enqueue('second', 'again');

  const cut = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const fromCut = new IdempotentQueue(cut.client, path);
  cut.holdReplies();
  const failed = expect(fromCut.enqueue('third', '3')).rejects.toMatchObject({ ambiguous: true });
  await untilNames(control, `${path}/items`, 3);
  await cut.cut();
  await losingSession(cut.client);
  await failed;
  await cut.heal();
  await fromCut.enqueue('third', '3 again');

  const done: string[] = [];
  for (let entry = await queue.poll(); entry !== null; entry = await queue.poll()) {
    done.push(`${entry.id}=${entry.data}`);
    await entry.done();
  }
  expect(done).toEqual(['first=1', 'second=2', 'third=3']);
  await fromCut.enqueue('third', 'after it was done');
  expect([await queue.stateOf('third'), await queue.poll()]).toEqual(['done', null]);
  await untilNames(control, `${path}/locks`, 0);
});
