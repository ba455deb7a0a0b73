/**
 * The order of replies and events on one connection, as real clients rely on it.
 *
 * Requests are sent in one write, so the member reads them from one segment and cannot have
 * answered one before it knew the next. The tests run against the leader and against a follower,
 * because these process requests differently.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Ensemble, SERVING_DEADLINE_MS } from '../../harness/ensemble.js';
import {
  create,
  getData,
  readOf,
  sendGetData,
  sendSetData,
  sendSync,
  setData,
  sync,
} from '../../harness/operations.js';
import { WireClient } from '../../harness/wire-client.js';

const EVENT_DEADLINE_MS = 10_000;
const ROUNDS = 200;
const RACE_ROUNDS = 300;

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await Ensemble.create();
  ensemble.start();
  await ensemble.serving();
}, SERVING_DEADLINE_MS * 2);

afterAll(async () => {
  await ensemble.close();
});

describe.each(['leader', 'follower'])('through a %s', (role) => {
  it('each read sees the write before it and not the one after it', async () => {
    const client = await useClientOf(role);
    const path = await create(client, `/pipelined-${role}`, 'start');
    for (let round = 0; round < ROUNDS; round++) {
      const replies = client.pipeline(() => [
        sendSetData(client, path, `${round} first`),
        sendGetData(client, path),
        sendSetData(client, path, `${round} second`),
        sendGetData(client, path),
      ]);
      const [write1, read1, write2, read2] = await Promise.all(replies);
      if (!write1 || !read1 || !write2 || !read2) throw new Error('four requests, four replies');
      expect(readOf(read1).data).toBe(`${round} first`);
      expect(readOf(read2).data).toBe(`${round} second`);
      const zxids = [write1, read1, write2, read2].map((reply) => reply.zxid);
      expect(zxids, 'zxids never fall').toEqual([...zxids].sort((a, b) => Number(a) - Number(b)));
    }
    const xids = client.arrivals.map((a) => (a.kind === 'reply' ? a.xid : undefined));
    expect(xids, 'replies come in the order of the requests').toEqual(xids.map((_, i) => i + 1));
  });

  it('a read after a sync shows what another session wrote before it', async () => {
    const reader = await useClientOf(role);
    const writer = await useClientOf(role === 'leader' ? 'follower' : 'leader');
    const path = await create(writer, `/synced-${role}`, 'start');
    for (let round = 0; round < ROUNDS; round++) {
      await setData(writer, path, `${round}`);
      const [, read] = await Promise.all(
        reader.pipeline(() => [sendSync(reader, path), sendGetData(reader, path)]),
      );
      if (read === undefined) throw new Error('two requests, two replies');
      expect(readOf(read).data).toBe(`${round}`);
    }
  });

  /**
   * The reply to the read that set a watch comes before the event of the change, and shows the old
   * data; the client would have no watcher for an event that came first. After the event, a read
   * shows the change: every reply that shows the old data was written before the event.
   */
  it('an event arrives between the reads that show the old data and those that show the new data', async () => {
    const reader = await useClientOf(role);
    const writer = await useClientOf(role === 'leader' ? 'follower' : 'leader');
    const path = await create(writer, `/raced-${role}`, '0');
    await sync(reader);
    for (let round = 1; round <= RACE_ROUNDS; round++) {
      const from = reader.arrivals.length;
      // Both are sent at once; where the change falls among the reads depends on the machine.
      const change = setData(writer, path, `${round}`);
      const reads = reader.pipeline(() => [
        sendGetData(reader, path, true),
        ...Array.from({ length: 4 }, () => sendGetData(reader, path)),
      ]);
      await Promise.all([change, ...reads]);
      const first = readOf(await (reads[0] ?? Promise.reject(new Error('no read'))));
      if (first.data === `${round}`) {
        // The watch was set after the change; it is used up so that every round begins alike.
        await setData(writer, path, `${round}`);
      }
      const seen = new Set(reader.arrivals.slice(0, from));
      await reader.event(`of round ${round}`, EVENT_DEADLINE_MS, (event) => !seen.has(event));
      const after = await getData(reader, path);
      expect(after.data).toBe(`${round}`);
      const order = reader.arrivals.slice(from).map((arrival) => {
        return arrival.kind === 'event' ? 'event' : readOf(arrival).data;
      });
      expectKeptOrder(order, first.data, `${round}`);
      reader.arrivals.length = 0;
    }
  });
});

function expectKeptOrder(order: readonly string[], first: string, last: string): void {
  const eventAt = order.indexOf('event');
  expect(order.lastIndexOf('event'), `one event in ${order}`).toBe(eventAt);
  expect(eventAt, `the event follows the reply that set the watch: ${order}`).toBeGreaterThan(0);
  if (first === last) return;
  expect(new Set(order.slice(0, eventAt)), `old data comes before the event: ${order}`).toEqual(
    new Set([first]),
  );
  expect(new Set(order.slice(eventAt + 1)), `new data comes after the event: ${order}`).toEqual(
    new Set([last]),
  );
}

async function useClientOf(role: string): Promise<WireClient> {
  const [follower] = await ensemble.followers();
  const member = role === 'leader' ? await ensemble.leader() : follower;
  if (member === undefined) throw new Error('there is no follower');
  const client = await WireClient.connect({ port: member.clientPort });
  onTestFinished(() => client.close());
  return client;
}
