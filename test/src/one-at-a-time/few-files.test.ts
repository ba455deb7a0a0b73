/**
 * Members may have 256 files open, and strangers want more than that at both ports.
 *
 * What a member needs for writes comes first: it still opens log segments, talks to the others and
 * answers its clients, however many connections are refused meanwhile.
 */
import { setMaxListeners } from 'node:events';
import net from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { create, getData, setData } from '../harness/operations.js';
import { type Product, productUnderTest } from '../harness/product.js';
import { until } from '../harness/wait.js';
import { WireClient } from '../harness/wire-client.js';

const TEST_DEADLINE_MS = 120_000;
const OPEN_FILES_MAX = 256;
const STRANGERS = 300;
const WRITES = 60;
/** A new log segment begins every few writes. */
const ENVIRONMENT = { ROOKERY_LOG_SEGMENT_BYTES: '20000', ROOKERY_LOG_KEEP_BYTES: '20000' };

/** Node raises the soft limit to the hard one, so both are set. */
function withFewFiles(product: Product): Product {
  return {
    ...product,
    prepare: (layout) => {
      const { file, args, environment } = product.prepare(layout);
      const limit = `--nofile=${OPEN_FILES_MAX}:${OPEN_FILES_MAX}`;
      return { file: 'prlimit', args: [limit, file, ...args], environment };
    },
  };
}

/** A connection that sends nothing and is opened again when it is closed, until the test ends. */
function stranger(port: number, signal: AbortSignal): void {
  if (signal.aborted) return;
  const socket = net.connect({ host: '127.0.0.1', port });
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    signal.removeEventListener('abort', onAbort);
    setTimeout(() => stranger(port, signal), 100);
  });
}

it(
  'strangers that use up all files of both ports are refused, and every write is acknowledged',
  async () => {
    const product = withFewFiles(productUnderTest());
    const ensemble = await useServingEnsemble({ product, environment: ENVIRONMENT });
    const member = ensemble.member(1);
    const client = await WireClient.connect({ port: member.clientPort });
    await create(client, '/written', 'x');
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    onTestFinished(() => over.abort());
    for (let count = 0; count < STRANGERS; count++) {
      stranger(member.clientPort, over.signal);
      stranger(member.peerPort, over.signal);
    }
    // Strangers have half of the places at most, where they push each other out. Sessions use up
    // the others, but for those that are kept for further addresses.
    await member.waitForLog(/client\.sessionless_evicted/, TEST_DEADLINE_MS);
    const sessions: WireClient[] = [];
    await until('no place is left for this address', TEST_DEADLINE_MS, async () => {
      const added = await WireClient.connect({ port: member.clientPort }).catch(() => undefined);
      if (added !== undefined) sessions.push(added);
      return member.log().includes('"client.refused"') ? true : undefined;
    });
    for (let count = 0; count < WRITES; count++) await setData(client, '/written', 'x'.repeat(500));
    expect((await getData(client, '/written')).stat.version).toBe(WRITES);
    expect(ensemble.members.map(({ running }) => running)).toEqual([true, true, true]);
    over.abort();
    await Promise.all(sessions.map((one) => one.drop()));
    const later = await until('a client is accepted again', TEST_DEADLINE_MS, () =>
      WireClient.connect({ port: member.clientPort }).catch(() => undefined),
    );
    await later.close();
    expect(member.log()).not.toContain('EMFILE');
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);
